package callframe

import (
	"iter"

	"github.com/jitinject/jitinject/internal/wire"
)

// An Op is what an instruction does. Instructions that differ only in the form of their operands
// have one Op.
type Op uint8

const (
	Nop              Op = iota // also padding
	Inside                     // it matters only inside the process: GNU_args_size, AARCH64_negate_ra_state
	Advance                    // the next row is Delta bytes of code ahead
	SetRule                    // of Reg
	Restore                    // the rule of Reg is that of the CIE
	RememberState              // push the rules
	RestoreState               // pop them
	DefCFA                     // Reg plus Offset
	DefCFARegister             // Reg
	DefCFAOffset               // Offset
	DefCFAExpression           // the CFA is computed
)

// An Instruction is a call frame instruction [DWARF5 6.4.2], with factors applied.
type Instruction struct {
	Op     Op
	Reg    uint64 // DWARF number
	Offset int64  // in bytes
	Delta  uint64 // in bytes
	Rule   Rule
}

// maxRegister is above the register numbers of all machines.
const maxRegister = 1 << 14

// Instructions returns the instructions up to the end of the cursor. They end at the first failure,
// which the cursor keeps.
func (p *Place) Instructions(cie *CIE, c *wire.Cursor) iter.Seq[Instruction] {
	return func(yield func(Instruction) bool) {
		for c.Err() == nil && c.Len() > 0 {
			if i := p.instruction(cie, c); c.Err() != nil || !yield(i) {
				return
			}
		}
	}
}

// instruction reads an instruction.
func (p *Place) instruction(cie *CIE, c *wire.Cursor) (i Instruction) {
	op := c.U8("instruction")
	low := uint64(op & 0x3f)
	switch op >> 6 {
	case 1:
		return Instruction{Op: Advance, Delta: low * cie.CodeAlign}
	case 2:
		return stored(low, int64(c.Uleb("offset"))*cie.DataAlign)
	case 3:
		return Instruction{Op: Restore, Reg: low}
	}
	switch op {
	case 0x00:
	case 0x01:
		c.Bad("instruction", "DW_CFA_set_loc, which has a position-dependent address")
	case 0x02:
		i = Instruction{Op: Advance, Delta: uint64(c.U8("delta")) * cie.CodeAlign}
	case 0x03:
		i = Instruction{Op: Advance, Delta: uint64(c.U16("delta")) * cie.CodeAlign}
	case 0x04:
		i = Instruction{Op: Advance, Delta: uint64(c.U32("delta")) * cie.CodeAlign}
	case 0x05: // offset_extended
		i = stored(register(c), int64(c.Uleb("offset"))*cie.DataAlign)
	case 0x06: // restore_extended
		i = Instruction{Op: Restore, Reg: register(c)}
	case 0x07: // undefined: stacks end here
		i = Instruction{Op: SetRule, Reg: register(c), Rule: Rule{Kind: Undefined}}
	case 0x08:
		i = Instruction{Op: SetRule, Reg: register(c), Rule: Rule{Kind: SameValue}}
	case 0x09:
		i = Instruction{Op: SetRule, Reg: register(c), Rule: Rule{Kind: InRegister, Reg: register(c)}}
	case 0x0a:
		i.Op = RememberState
	case 0x0b:
		i.Op = RestoreState
	case 0x0c: // def_cfa
		i = Instruction{Op: DefCFA, Reg: p.base(c), Offset: int64(c.Uleb("offset"))}
	case 0x0d:
		i = Instruction{Op: DefCFARegister, Reg: p.base(c)}
	case 0x0e: // def_cfa_offset
		i = Instruction{Op: DefCFAOffset, Offset: int64(c.Uleb("offset"))}
	case 0x0f:
		p.expression(c)
		i.Op = DefCFAExpression
	case 0x10: // expression
		i = Instruction{Op: SetRule, Reg: register(c), Rule: Rule{Kind: AtExpression}}
		p.expression(c)
	case 0x11: // offset_extended_sf
		i = stored(register(c), c.Sleb("offset")*cie.DataAlign)
	case 0x12: // def_cfa_sf
		i = Instruction{Op: DefCFA, Reg: p.base(c), Offset: c.Sleb("offset") * cie.DataAlign}
	case 0x13: // def_cfa_offset_sf
		i = Instruction{Op: DefCFAOffset, Offset: c.Sleb("offset") * cie.DataAlign}
	case 0x14: // val_offset
		i = Instruction{Op: SetRule, Reg: register(c), Rule: Rule{Kind: IsCFA, Offset: int64(c.Uleb("offset")) * cie.DataAlign}}
	case 0x15: // val_offset_sf
		i = Instruction{Op: SetRule, Reg: register(c), Rule: Rule{Kind: IsCFA, Offset: c.Sleb("offset") * cie.DataAlign}}
	case 0x16: // val_expression
		i = Instruction{Op: SetRule, Reg: register(c), Rule: Rule{Kind: IsExpression}}
		p.expression(c)
	case 0x2d: // GNU_window_save, or AARCH64_negate_ra_state
		i.Op = Inside
	case 0x2e: // GNU_args_size
		c.Uleb("size")
		i.Op = Inside
	case 0x2f: // GNU_negative_offset_extended
		i = stored(register(c), -int64(c.Uleb("offset"))*cie.DataAlign)
	default:
		c.Bad("instruction", "%#x is unknown", op)
	}
	return i
}

// stored returns the instruction that a register is in memory, at the CFA plus offset.
func stored(reg uint64, offset int64) Instruction {
	return Instruction{Op: SetRule, Reg: reg, Rule: Rule{Kind: AtCFA, Offset: offset}}
}

func register(c *wire.Cursor) uint64 {
	r := c.Uleb("register")
	if r >= maxRegister {
		c.Bad("register", "%d", r)
	}
	return r
}

// base reads the register that the CFA counts from.
func (p *Place) base(c *wire.Cursor) uint64 {
	r := c.Uleb("CFA register")
	if n := p.Registers(); r >= n {
		c.Bad("CFA register", "%d, of %d", r, n)
	}
	return r
}

// expression reads an expression [DWARF5 2.5]. It rejects jumps, which may never end.
func (p *Place) expression(c *wire.Cursor) {
	b := c.Bytes("expression", c.Uleb("length of the expression"))
	if c.Err() != nil {
		return
	}
	e := wire.NewCursor(".eh_frame", "expression", b, p.Order, c.Offset()-int64(len(b)))
	for e.Err() == nil && e.Len() > 0 {
		switch op := e.U8("operation"); {
		case op == 0x28 || op == 0x2f: // bra, skip
			e.Bad("operation", "%#x, which jumps", op)
		case op == 0x03: // addr
			e.Bytes("operand", uint64(p.AddrSize))
		case op >= 0x08 && op <= 0x0f: // const1u to const8s
			e.Bytes("operand", 1<<((op-0x08)/2))
		case op == 0x15 || op == 0x94: // pick, deref_size
			e.Bytes("operand", 1)
		case op == 0x10 || op == 0x23 || op == 0x90: // constu, plus_uconst, regx
			e.Uleb("operand")
		case op == 0x11 || op >= 0x70 && op <= 0x8f: // consts, breg0 to breg31
			e.Sleb("operand")
		case op == 0x92: // bregx
			e.Uleb("operand")
			e.Sleb("operand")
		case op == 0x06 || op >= 0x12 && op <= 0x6f || op == 0x96: // without operands
		default:
			e.Bad("operation", "%#x is unknown", op)
		}
	}
	if e.Err() != nil {
		*c = e
	}
}
