package codebytes

import (
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/recording"
)

type zeroMemory struct{ jitcode.Memory }

func (zeroMemory) ReadCode(uint64, []byte) error { return nil }

// Data of a core is no code.
func TestMemory_DataIsNoCode(t *testing.T) {
	m := executableMemory{zeroMemory{}, recording.ExactRanges([]recording.FileMap{{Lo: 0x3000, Hi: 0x4000}, {Lo: 0x1000, Hi: 0x2000}, {Lo: 0x2000, Hi: 0x2800}, {Lo: 0x9000, Hi: 0x9000}}, func(*recording.FileMap) bool { return true })}
	if len(m.executable) != 2 {
		t.Errorf("got %#x; want 2 executable", m.executable)
	}
	for addr, want := range map[uint64]bool{0xfff: false, 0x1000: true, 0x1ffc: true, 0x27f8: true, 0x27f9: false, 0x2ff8: false, 0x2ffc: false, 0x3000: true, 0x9000: false} {
		if got := m.ReadCode(addr, make([]byte, 8)) == nil; got != want {
			t.Errorf("%#x: got %v; want %v", addr, got, want)
		}
	}
}
