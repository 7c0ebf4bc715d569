package stepped

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/frame"
)

// A count has the numbers of right, missing and wrong rows.
type count struct{ right, missing, wrong int }

func (c *count) all() int { return c.right + c.missing + c.wrong }

func (c count) String() string {
	return fmt.Sprintf("%d right, %d missing, %d wrong", c.right, c.missing, c.wrong)
}

// A verdict is the outcome of a comparison of rows with the truth.
type verdict struct {
	count
	sent      count // of them, rows of the producer
	elsewhere int   // steps in jitted code that is not in the dump
	functions map[string]*tally
}

// A tally is the result for one function.
type tally struct {
	count
	first string // the first wrong row
}

func newVerdict() *verdict { return &verdict{functions: make(map[string]*tally)} }

func (v *verdict) String() string {
	return fmt.Sprintf("%d instructions of %d functions: rows %v; of these sent by the producer: %v; %d instructions in no function of the dump", v.all(), len(v.functions), v.count, v.sent, v.elsewhere)
}

// add records the result at an offset in a function: missing means that it has no row
// there; why describes the error of the row, or is "".
func (v *verdict) add(f *function, off uint64, missing bool, why string) {
	at := v.functions[f.name]
	if at == nil {
		at = new(tally)
		v.functions[f.name] = at
	}
	counts := []*count{&v.count, &at.count}
	if f.sent {
		counts = append(counts, &v.sent)
	}
	for _, c := range counts {
		switch {
		case missing:
			c.missing++
		case why != "":
			c.wrong++
		default:
			c.right++
		}
	}
	if why != "" && at.first == "" {
		at.first = fmt.Sprintf("%s+%#x: %s", f.name, off, why)
	}
}

// atLeast has the minimum of a verdict: a test that compares nothing must fail.
type atLeast struct {
	right     int // rows
	functions int
	sent      int // right rows of the producer
	percent   int // of rows that are right, of all
}

// maxReported bounds the functions with wrong rows in the output.
const maxReported = 40

// report fails the test for wrong rows, and for too few right ones.
func (v *verdict) report(t *testing.T, want atLeast) {
	t.Helper()
	t.Log(v)
	names := slices.SortedFunc(maps.Keys(v.functions), func(a, b string) int {
		return cmp.Or(cmp.Compare(v.functions[b].missing, v.functions[a].missing), cmp.Compare(a, b))
	})
	for _, name := range names[:min(12, len(names))] {
		t.Logf("  %-60s %v", name, v.functions[name].count)
	}
	wrong := 0
	for _, name := range names {
		if f := v.functions[name]; f.wrong > 0 {
			if wrong++; wrong <= maxReported {
				t.Errorf("%s: %v; first: %s", name, f.count, f.first)
			}
		}
	}
	if v.wrong > 0 {
		t.Errorf("got %d wrong rows in %d functions, want none", v.wrong, wrong)
	}
	got := atLeast{v.right, len(v.functions), v.sent.right, 100 * v.right / max(v.all(), 1)}
	if got.right < want.right || got.functions < want.functions || got.sent < want.sent || got.percent < want.percent {
		t.Errorf("got %+v, want at least %+v", got, want)
	}
}

// rbp is the DWARF number of the frame pointer, rsp that of the stack pointer.
const rbp, rsp = 6, 7

// cfaOf computes the CFA of a row.
func cfaOf(row *frame.FrameContext, sp, fp uint64) (uint64, error) {
	base := sp
	switch {
	case row.CFA.Rule != frame.RuleCFA:
		return 0, fmt.Errorf("got CFA by rule %v, want a register and an offset", row.CFA.Rule)
	case row.CFA.Reg == rbp:
		base = fp
	case row.CFA.Reg != rsp:
		return 0, fmt.Errorf("got CFA by register %d, want %d or %d", row.CFA.Reg, rsp, rbp)
	}
	return base + uint64(row.CFA.Offset), nil
}

func cfaRule(row *frame.FrameContext) string {
	return fmt.Sprintf("%s%+d", map[uint64]string{rbp: "rbp", rsp: "rsp"}[row.CFA.Reg], row.CFA.Offset)
}

// endsWithCall reports whether 8 bytes of code may end with a call instruction [AMD64
// Architecture, volume 3, CALL]: e8 with an offset, or ff /2 with a register or memory.
func endsWithCall(before uint64) bool {
	code := binary.LittleEndian.AppendUint64(nil, before)
	n := len(code)
	if n >= 5 && code[n-5] == 0xe8 {
		return true
	}
	for length := 2; length <= min(7, n); length++ {
		insn := code[n-length:]
		if insn[0] != 0xff || insn[1]>>3&7 != 2 {
			continue
		}
		mod, rm, want := insn[1]>>6, insn[1]&7, 2
		if mod != 3 && rm == 4 {
			want++ // SIB
		}
		switch {
		case mod == 1:
			want++
		case mod == 2, mod == 0 && rm == 5, mod == 0 && rm == 4 && length > 2 && insn[2]&7 == 5:
			want += 4
		}
		if want == length {
			return true
		}
	}
	return false
}
