package stepped

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/frame"
)

// A count says how many rows were right, missing and wrong.
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

// A tally is the verdict on one function.
type tally struct {
	count
	first string // the first wrong row
}

func newVerdict() *verdict { return &verdict{functions: make(map[string]*tally)} }

func (v *verdict) String() string {
	return fmt.Sprintf("%d instructions of %d functions: rows %v; of these sent by the producer: %v; %d instructions in no function of the dump", v.all(), len(v.functions), v.count, v.sent, v.elsewhere)
}

// add records what was found at an offset in a function: missing says that it has no row
// there, why what is wrong with the row, if anything is.
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

// atLeast is what a test demands of a verdict: a test that compares nothing must fail.
type atLeast struct {
	right     int // rows
	functions int
	sent      int // right rows of the producer
	percent   int // of rows that are right, of all
}

// maxReported is how many functions with wrong rows are named.
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

// judge compares the rows of a dump with what was watched: the CFA, the return address and
// the caller's registers that kept are the numbers of. (Code of V8 keeps the frame pointer
// only.)
func judge(d *dump, w *watch, kept ...uint8) *verdict {
	v := newVerdict()
	for i := range w.steps {
		s := &w.steps[i]
		addr := s.regs.Rip
		f, lo := d.at(addr, s.time)
		if f == nil && s.home != 0 {
			addr = s.home
			f, lo = d.at(addr, s.time)
		}
		if f == nil {
			v.elsewhere++
			continue
		}
		row, err := f.row(addr - lo)
		why := ""
		switch {
		case err != nil:
			why = err.Error()
		case row != nil:
			why = s.contradicts(row, kept)
		}
		if why != "" {
			why += "; called from " + d.name(s.frame.from, s.time)
		}
		v.add(f, addr-lo, row == nil && err == nil, why)
	}
	return v
}

// contradicts says what is wrong with a row at a step, or returns "".
func (s *step) contradicts(row *frame.FrameContext, kept []uint8) string {
	cfa, err := cfaOf(row, s.regs.Rsp, s.regs.Rbp)
	if err != nil {
		return err.Error()
	}
	truth := &s.frame.regs
	if s.frame.moved {
		if got, ok := s.word(cfa - 8); !ok || got != s.frame.ra {
			return fmt.Sprintf("the return address has been moved; CFA %#x, by %s, has %#x there, want %#x", cfa, cfaRule(row), got, s.frame.ra)
		}
	} else if want := s.frame.slot + 8; s.frame.pushed && cfa == s.below.slot+8 {
		truth = &s.below.regs
	} else if cfa != want {
		return fmt.Sprintf("got CFA %#x, by %s, want %#x", cfa, cfaRule(row), want)
	}
	now := savedOf(&s.regs)
	for i, reg := range calleeSaved {
		if !slices.Contains(kept, reg) {
			continue
		}
		got, known := now[i], true
		if rule, ok := row.Regs[uint64(reg)]; ok {
			switch rule.Rule {
			case frame.RuleOffset:
				got, known = s.word(cfa + uint64(rule.Offset))
			case frame.RuleSameVal:
			default:
				known = false
			}
		}
		if known && got != truth[i] {
			return fmt.Sprintf("got register %d of the caller %#x, want %#x", reg, got, truth[i])
		}
	}
	return ""
}

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
