package stepped

import (
	"fmt"
	"slices"

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
			why = s.contradicts(row, kept)
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

// contradicts describes the error of a row at a step, or returns "".
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
