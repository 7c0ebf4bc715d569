package dwarfgen

import (
	"fmt"
	"math"
)

// Call frame instructions [7.24] that are written here.
const (
	cfaAdvanceLoc     = 0x40 // low six bits: delta
	cfaOffset         = 0x80 // low six bits: register
	cfaRestore        = 0xc0 // low six bits: register
	cfaAdvanceLoc1    = 0x02
	cfaAdvanceLoc2    = 0x03
	cfaAdvanceLoc4    = 0x04
	cfaOffsetExt      = 0x05
	cfaRestoreExt     = 0x06
	cfaUndefined      = 0x07
	cfaSameValue      = 0x08
	cfaDefCFA         = 0x0c
	cfaDefCFARegister = 0x0d
	cfaDefCFAOffset   = 0x0e
	cfaDefCFAExpr     = 0x0f
	cfaExpression     = 0x10
	cfaOffsetExtSF    = 0x11
	cfaDefCFASF       = 0x12
	cfaDefCFAOffsetSF = 0x13
)

// rules are the rules of an unwinder after the instructions so far.
type rules struct {
	set   bool // there is a CFA
	cfa   CFA
	saved []SavedReg
}

// reset sets r to a copy of to; nil means no rules.
func (r *rules) reset(to *rules) {
	if to == nil {
		to = &rules{}
	}
	r.set, r.cfa = to.set, to.cfa
	r.saved = append(r.saved[:0], to.saved...)
}

// find returns the rule for a register. ok is false if there is none.
func find(saved []SavedReg, reg uint64) (SavedReg, bool) {
	for _, s := range saved {
		if s.Reg == reg {
			return s, true
		}
	}
	return SavedReg{Reg: reg}, false
}

// row appends the instructions from state to a row, and sets state to that row. initial has the
// rules of the CIE, and is nil in the CIE itself.
func (f *Frames) row(cie *CIE, state, initial *rules, row *FrameRow) {
	f.defineCFA(cie, state, row.CFA)
	for _, s := range state.saved {
		if _, ok := find(row.Saved, s.Reg); !ok {
			f.rule(cie, initial, SavedReg{Reg: s.Reg}, false)
		}
	}
	for _, s := range row.Saved {
		if old, ok := find(state.saved, s.Reg); !ok || old != s {
			f.rule(cie, initial, s, true)
		}
	}
	state.set, state.cfa = true, row.CFA
	state.saved = append(state.saved[:0], row.Saved...)
}

// defineCFA writes the change of the CFA.
func (f *Frames) defineCFA(cie *CIE, state *rules, cfa CFA) {
	w := &f.w
	if state.set && state.cfa == cfa {
		return
	}
	if cfa.Stored != 0 {
		w.U8(cfaDefCFAExpr)
		f.storedCFA(cfa)
		return
	}
	if cfa.Marked.Offset != 0 {
		w.U8(cfaDefCFAExpr)
		f.markedCFA(cfa)
		return
	}
	// An expression replaces the whole CFA: nothing can be changed in part.
	plain := state.set && state.cfa.Stored == 0 && state.cfa.Marked.Offset == 0
	sameReg, sameOffset := plain && state.cfa.Reg == cfa.Reg, plain && state.cfa.Offset == cfa.Offset
	switch {
	case sameOffset:
		w.U8(cfaDefCFARegister)
		w.Uleb(cfa.Reg)
	case cfa.Offset < 0: // only the factored forms are signed
		if sameReg {
			w.U8(cfaDefCFAOffsetSF)
		} else {
			w.U8(cfaDefCFASF)
			w.Uleb(cfa.Reg)
		}
		w.Sleb(f.factored(cie, cfa.Offset))
	case sameReg:
		w.U8(cfaDefCFAOffset)
		w.Uleb(uint64(cfa.Offset))
	default:
		w.U8(cfaDefCFA)
		w.Uleb(cfa.Reg)
		w.Uleb(uint64(cfa.Offset))
	}
}

// rule writes the rule for one register. any is false if the register still has the caller's value.
func (f *Frames) rule(cie *CIE, initial *rules, s SavedReg, any bool) {
	w := &f.w
	if initial != nil {
		if was, ok := find(initial.saved, s.Reg); ok == any && was == s {
			f.withReg(cfaRestore, cfaRestoreExt, s.Reg)
			return
		}
	}
	switch {
	case !any:
		w.U8(cfaSameValue)
		w.Uleb(s.Reg)
	case s.Lost:
		w.U8(cfaUndefined)
		w.Uleb(s.Reg)
	case s.Direct:
		w.U8(cfaExpression)
		w.Uleb(s.Reg)
		f.expression(func() { f.breg(s.Base, s.Offset) })
	default:
		offset := f.factored(cie, s.Offset)
		if offset < 0 {
			w.U8(cfaOffsetExtSF)
			w.Uleb(s.Reg)
			w.Sleb(offset)
			return
		}
		f.withReg(cfaOffset, cfaOffsetExt, s.Reg)
		w.Uleb(uint64(offset))
	}
}

// withReg writes an instruction that has a short form for registers below 64.
func (f *Frames) withReg(short, long uint8, reg uint64) {
	if reg < 64 {
		f.w.U8(short | uint8(reg))
		return
	}
	f.w.U8(long)
	f.w.Uleb(reg)
}

// factored divides an offset by the CIE's data alignment factor.
func (f *Frames) factored(cie *CIE, offset int64) int64 {
	if cie.DataAlign == 0 || offset%cie.DataAlign != 0 {
		f.fail(fmt.Errorf("dwarf: offset %d is no multiple of the data alignment factor %d", offset, cie.DataAlign))
		return 0
	}
	return offset / cie.DataAlign
}

// advance moves to the start of the next row.
func (f *Frames) advance(cie *placedCIE, by uint64) {
	w := &f.w
	if cie.CodeAlign == 0 || by%cie.CodeAlign != 0 || by/cie.CodeAlign > math.MaxUint32 || by == 0 {
		f.fail(fmt.Errorf("dwarf: a row %d bytes behind another, with a code alignment factor of %d", int64(by), cie.CodeAlign))
		return
	}
	switch by /= cie.CodeAlign; {
	case by < 0x40:
		w.U8(cfaAdvanceLoc | uint8(by))
	case by <= math.MaxUint8:
		w.U8(cfaAdvanceLoc1)
		w.U8(uint8(by))
	case by <= math.MaxUint16:
		w.U8(cfaAdvanceLoc2)
		w.U16(uint16(by))
	default:
		w.U8(cfaAdvanceLoc4)
		w.U32(uint32(by))
	}
}
