package stepped

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/frame"
)

// judge compares the rows of a dump with the recorded steps: the CFA, the return address
// and the caller's registers with the numbers in kept. (Code of V8 keeps only the frame
// pointer.)
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
		case row != nil && row.CFA.Rule == frame.RuleExpression:
			why = s.contradictsStored(row, d)
		case row != nil:
			why = s.contradicts(row, kept, d.inside(&s.frame, addr, s.time))
		}
		if why == unknown {
			continue
		}
		if why != "" {
			why += "; called from " + d.name(s.frame.from, s.time)
		}
		v.add(f, addr-lo, row == nil && err == nil, why)
	}
	return v
}

// inside reports whether a function has called a place of its own other than its beginning,
// and is there: code that uses the function's frame. V8's regular expressions check for
// interrupts so (RegExpMacroAssembler::SafeCall).
func (d *dump) inside(f *shadowFrame, addr, time uint64) bool {
	_, lo := d.at(addr, time)
	_, from := d.at(f.from, time)
	_, to := d.at(f.to, time)
	return !f.pushed && lo != 0 && from == lo && to == lo && f.to != lo
}

// contradicts describes the error of a row at a step, or returns "". inside says that the
// code uses the frame of the function that called it: the row may be for either frame.
func (s *step) contradicts(row *frame.FrameContext, kept []uint8, inside bool) string {
	cfa, err := cfaOf(row, s.regs.Rsp, s.regs.Rbp)
	if err != nil {
		return err.Error()
	}
	truth := &s.frame.regs
	if inside && s.below.slot == 0 {
		return unknown
	}
	if (inside || s.frame.pushed) && cfa == s.below.slot+8 {
		truth = &s.below.regs
	} else if s.frame.moved {
		if got, ok := s.word(cfa - 8); !ok || got != s.frame.ra {
			return fmt.Sprintf("the return address has been moved; CFA %#x, by %s, has %#x there, want %#x", cfa, cfaRule(row), got, s.frame.ra)
		}
	} else if want := s.frame.slot + 8; cfa != want {
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

// Code that a function calls inside of itself uses the function's frame, also where it has
// changed its return address. For a recursive call, such a row is wrong.
func TestContradicts_CallInsideAFunction(t *testing.T) {
	const slot, fp = 0x7000, 0x7100
	row := &frame.FrameContext{CFA: frame.DWRule{Rule: frame.RuleCFA, Reg: rbp, Offset: 16}}
	s := step{frame: shadowFrame{slot: slot, ra: 0x1005}, below: shadowFrame{slot: fp + 8, ra: 0x2005}}
	s.regs.Rsp, s.regs.Rbp = slot, fp
	for _, c := range []struct {
		name          string
		inside, moved bool
		below         uint64
		want          string
	}{
		{"inside", true, false, fp + 8, ""},
		{"inside, its return address changed", true, true, fp + 8, ""},
		{"inside, the function's frame unknown", true, false, 0, unknown},
		{"a call", false, false, fp + 8, "got CFA 0x7110"},
		{"inside, another frame", true, false, fp + 24, "got CFA 0x7110"},
	} {
		s.frame.moved, s.below.slot = c.moved, c.below
		if got := s.contradicts(row, nil, c.inside); got != c.want && (c.want == "" || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: got %q; want %q", c.name, got, c.want)
		}
	}
}
