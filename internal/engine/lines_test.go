package engine_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/jitinject/jitinject/jitdump"
)

// lined adds a function with a table whose entries are right after subtracting skew: they
// are at starts of instructions. No instruction starts 0x40 before or after another.
func lined(at, index uint64, skew int64, name string) []timed {
	addr := 0x10000 * index
	unit := []byte{0x55, 0x31, 0xc0, 0x48, 0x89, 0xe5, 0x48, 0x8d, 0x05, 0, 0, 0, 0} // push, xor, mov, lea
	var entries []jitdump.DebugEntry
	for _, off := range []int64{0, 13, 14, 19, 26, 27, 32, 39, 40, 45} {
		entries = append(entries, jitdump.DebugEntry{Addr: addr + uint64(off+skew), Line: uint32(1 + off), Name: []byte("a.c")})
	}
	var code []byte
	for range 20 {
		code = append(code, unit...)
	}
	return []timed{{at, jitdump.NewDebugInfo(binary.LittleEndian, addr, entries)}, load(at, 1, index, addr, name, code)}
}

// The summary has the decision about the addresses of lines, and its evidence. If tables
// contradict each other, there are no lines, and a problem.
func TestLineAddresses_InTheSummary(t *testing.T) {
	for _, c := range []struct {
		skews    []int64
		decision string
		lines    int
		problem  string
	}{
		{[]int64{0x40, 0x40, 0x40}, "moved-back", 3, ""},
		{[]int64{0, 0, 0}, "as-written", 3, ""},
		{[]int64{0, 0x40, 0x40}, "contradictory", 0, "its source lines were left out, because their addresses contradict each other: of 3 tables, 1 fit the code as written, 2 if moved back by 64 bytes, 0 either way, 0 neither way"},
	} {
		t.Run(c.decision, func(t *testing.T) {
			w := newWorld(t)
			w.mark(1, 1000, "jit-1.dump")
			var recs []timed
			for i, skew := range c.skews {
				recs = append(recs, lined(uint64(2000+i), uint64(i+1), skew, fmt.Sprintf("func%d", i))...)
			}
			w.dump("jit-1.dump", x86(1), recs...)
			w.expect(1, 3000, 0x10008, "func0+0x8")
			sum, err := w.run()
			if err != nil {
				t.Fatal(err)
			}
			d := sum.Dumps[0]
			a := d.LineAddresses
			if a == nil || a.Decision != c.decision || a.Basis != "instructions" || a.Skew != 64 || a.Tables != 3 || a.Rows != 30 || a.AsWritten.Tables+a.MovedBack.Tables != 3 || d.WithLines != c.lines {
				t.Errorf("%d functions with lines, %+v", d.WithLines, a)
			}
			got := ""
			if len(sum.Problems) > 0 {
				got = sum.Problems[0].Text
			}
			if got != c.problem || len(sum.Problems) > 1 {
				t.Errorf("problems %v, want %q", sum.Problems, c.problem)
			}
		})
	}
	w := newWorld(t)
	w.mark(1, 1000, "jit-1.dump")
	w.dump("jit-1.dump", x86(1), load(2000, 1, 1, 0x10000, "func", code(64, 1)))
	w.expect(1, 3000, 0x10008, "func+0x8")
	if sum := w.check(); sum.Dumps[0].LineAddresses != nil {
		t.Errorf("of a dump without lines: %+v", sum.Dumps[0].LineAddresses)
	}
}
