package cfi

import (
	"fmt"
	"testing"
)

// A jump out of a function proves a call before it only if the stack is as at the entry,
// its target is known not to change that, and the function counts from no frame pointer
// that the call may have set.
func TestSynthesize_TailCallProvesCalls(t *testing.T) {
	const call, afterwards = 0x100, 0x200 // targets
	body := func(before []byte, after ...byte) []byte {
		at := len(before)
		return append(append(before, 0xe8, byte(call-at-5), 0, 0, 0), after...)
	}
	leave := func(at int) []byte {
		return []byte{0xe9, byte(afterwards - at - 5), byte((afterwards - at - 5) >> 8), 0, 0}
	}
	for _, c := range []struct {
		name   string
		code   []byte
		at     int // after the call
		target Callee
		want   string
	}{
		{"to code that leaves the stack alone", body([]byte{0x50}, append([]byte{0x58}, leave(7)...)...), 6, CalleeNeutral, "rsp+16"},
		{"to unknown code", body([]byte{0x50}, append([]byte{0x58}, leave(7)...)...), 6, CalleeUnknown, "-"},
		{"to code that removes a frame", body([]byte{0x50}, append([]byte{0x58}, leave(7)...)...), 6, CalleeOther, "-"},
		{"by a register", body([]byte{0x50}, 0x58, 0xff, 0xe1), 6, CalleeUnknown, "rsp+16"},
		{"by a register, deeper", body([]byte{0x50}, 0xff, 0xe1), 6, CalleeUnknown, "-"},
		{"by a register, with rbp as the call left it", body([]byte{0x50}, 0x48, 0x89, 0x45, 0xf0, 0x58, 0xff, 0xe1), 6, CalleeUnknown, "-"},
	} {
		s := Synthesizer{Strict: true, Callee: func(to int64) Callee {
			if to == afterwards {
				return c.target
			}
			return CalleeUnknown
		}}
		row := rowAt(s.Synthesize(amd64, c.code, nil).Rows, uint64(c.at))
		got := "-"
		if row.Known {
			got = fmt.Sprintf("%s%+d", map[uint8]string{6: "rbp", 7: "rsp"}[row.CFA.Reg], row.CFA.Offset)
		}
		if got != c.want {
			t.Errorf("%s: row %s after the call, want %s", c.name, got, c.want)
		}
	}
}
