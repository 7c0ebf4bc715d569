package cfi

import (
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// tellRow writes a row as "offset CFA registers", or "offset -" where nothing is known.
func tellRow(r jitcode.FrameRow) string {
	names := map[uint8]string{3: "rbx", 6: "rbp", 7: "rsp"}
	if !r.Known {
		return fmt.Sprintf("%d -", r.Offset)
	}
	s := fmt.Sprintf("%d %s%+d", r.Offset, names[r.CFA.Reg], r.CFA.Offset)
	if r.CFA.Stored != 0 {
		s += fmt.Sprintf(" or [%s%+d]", names[r.CFA.Reg], r.CFA.Stored)
	}
	for _, saved := range r.Saved {
		if saved.Reg != 16 {
			s += " " + names[saved.Reg]
		}
	}
	return s
}

// What is no code, and what does not return as it should, makes no row that is wrong:
// the frame pointer's, or none.
func TestSynthesize_NoCodeOrNoReturn(t *testing.T) {
	for _, c := range []struct {
		name, code string
		want       []string
	}{
		{"a table of jumps, and data in it that pushes", "534883ec20488d0d09000000486304814801c8ffe010000000140000001800000050505848ffd2eb06ffd7eb02ffd64883c4205bc3", []string{"0 rsp+8", "1 rsp+16 rbx", "5 rsp+48 rbx", "21 -", "45 rsp+48 rbx", "47 -"}},
		{"a table of addresses", "534883ec20ff24c5000000002050005d5d7f00005054005d5d7f000050c9005d5d7f0000ffd2eb06ffd7eb02ffd64883c4205bc3", []string{"0 rsp+8", "1 rsp+16 rbx", "5 rsp+48 rbx", "12 -"}},
		{"a table of addresses behind a frame pointer", "554889e54883ec20ff24c5000000002050005d5d7f00005054005d5d7f0000ffd2eb06ffd7eb02ffd6c9c3", []string{"0 rsp+8", "1 rsp+16 rbp", "4 rbp+16 rbp"}},
		{"a subroutine of a function with a frame pointer", "554889e54883ec20e807000000e802000000c9c34883ec18ffd04883c418c3", []string{"0 rsp+8", "1 rsp+16 rbp", "4 rbp+16 rbp", "19 rsp+8", "20 -"}},
		{"a subroutine of a function without one", "4883ec08e8050000004883c408c353ffd05bc3", []string{"0 rsp+8", "4 rsp+16", "13 rsp+8", "14 -"}},
		{"exits behind the end", "554889e54883ec10c9c341ffd541ffd5", []string{"0 rsp+8", "1 rsp+16 rbp", "4 rbp+16 rbp", "9 rsp+8", "10 rbp+16 rbp"}},
		{"a second entry", "53eb04905331c0ffd25bc3", []string{"0 rsp+8", "1 rsp+16 rbx", "3 -", "7 rsp+16 rbx", "10 rsp+8"}},
		{"where am I", "4883ec18e80000000058ffd04883c418c3", []string{"0 rsp+8", "4 rsp+32", "9 rsp+40", "10 rsp+32", "16 rsp+8"}},
		{"a callee that takes its arguments off", "6a016a02ffd053ffd05bc20800", []string{"0 rsp+8", "2 rsp+16", "4 rsp+24", "6 -"}},
		{"a return to what was pushed", "53" + "50c3", []string{"0 rsp+8", "1 rsp+16 rbx", "2 rsp+24 rbx"}},
		{"a call that is not filled in", "4883ec08" + "e800000000" + "4883c408c3", []string{"0 rsp+8", "4 rsp+16", "9 -"}},
		{"a call into the frame", "53" + "e801000000" + "90" + "ffd0" + "5bc3", []string{"0 rsp+8", "1 rsp+16 rbx", "7 -"}},
		{"a return with something above", "53" + "90" + "c3", nil},
	} {
		code, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		var s Synthesizer
		var got []string
		for _, row := range s.Synthesize(amd64, code, nil).Rows {
			got = append(got, tellRow(row))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
