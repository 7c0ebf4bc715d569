package registered

import (
	"testing"

	"github.com/jitinject/jitinject/internal/format/jitelf"
)

// An empty memory has zeros everywhere, without the cost of writing them.
type emptyMemory struct{ Memory }

func (emptyMemory) ReadCode(uint64, []byte) error { return nil }

// Copies of code are bounded, for a function and in all. A function that does not fit costs no other one
// its code.
func TestReadCode_Bounds(t *testing.T) {
	o := &Object{}
	add := func(size uint64) {
		o.Functions = append(o.Functions, jitelf.Symbol{Addr: 0x1000000 * uint64(len(o.Functions)+1), Size: size})
	}
	add(maxFunction + 1)
	for range maxCode/maxFunction - 1 {
		add(maxFunction)
	}
	add(maxFunction - 100)
	add(101)
	add(100)
	add(1)
	room, left := uint64(maxCode), 0
	if err := o.readCode(&Process{Memory: emptyMemory{}, Live: true}, &room, &left); err != nil || room != 0 || left != 3 {
		t.Errorf("got %d bytes of room, %d functions left out, %v; want 0 and 3", room, left, err)
	}
	copied := uint64(0)
	for _, p := range o.code {
		copied += uint64(len(p.bytes))
	}
	if want := maxCode/maxFunction + 1; copied != maxCode || len(o.code) != want {
		t.Errorf("got %d bytes of %d functions; want %d of %d", copied, len(o.code), maxCode, want)
	}
	for i, f := range o.Functions {
		fits := f.Size <= maxFunction && f.Size != 101 && f.Size != 1
		if err := o.ReadCode(&Process{Live: true}, f.Addr, make([]byte, 1)); (err == nil) != fits {
			t.Errorf("got %v for function %d of %d bytes; want its code: %v", err, i, f.Size, fits)
		}
	}
}
