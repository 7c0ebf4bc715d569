package ehframe

import (
	"math"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/wire"
)

// A program interprets call frame instructions [DWARF5 6.4.2]. It follows only the rules of the CFA
// and the return address: an unwinder needs these to go on.
type program struct {
	place   *Place
	cie     *jitcode.FrameCIE
	size    uint64 // of the code; 0 in a CIE, where no instruction may advance
	at      uint64
	now     rules
	initial rules   // rules of the CIE
	saved   []rules // remembered states
}

// rules are the rules of a row.
type rules struct {
	cfa         bool // there is a rule for the CFA
	computed    bool // the CFA is an expression
	cfaReg      uint64
	cfaOffset   int64
	ra          bool // there is a rule for the return address
	raInMemory  bool // at an offset from the CFA
	raCFAOffset int64
}

// maxRegister is above the register numbers of all machines.
const maxRegister = 1 << 14

// run interprets instructions up to the end of the cursor. It returns them without the padding
// after them.
func (p *program) run(c *wire.Cursor) []byte {
	copied := *c
	all, start, end := copied.Rest(), c.Pos(), c.Pos()
	for c.Err() == nil && c.Len() > 0 {
		if op := c.U8("instruction"); op != 0 {
			p.instruction(c, op)
			end = c.Pos()
		}
	}
	if p.size > 0 {
		p.row(c)
	}
	if c.Err() != nil {
		return nil
	}
	return all[: end-start : end-start]
}

// row checks the current rules against the needs of an unwinder.
func (p *program) row(c *wire.Cursor) {
	now := &p.now
	switch {
	case c.Err() != nil:
	case !now.cfa:
		c.Fail("instructions", "do not say where the CFA is")
	case !now.ra && p.place.pushes():
		c.Fail("instructions", "have no rule for the return address, from byte %d on", p.at)
	case !now.computed && now.cfaOffset == 0 && now.raInMemory && now.raCFAOffset == 0:
		c.Fail("instructions", "have the return address where the CFA is, and the frame has no size")
	}
}

// instruction interprets one instruction.
func (p *program) instruction(c *wire.Cursor, op uint8) {
	switch op >> 6 {
	case 1:
		p.advance(c, uint64(op&0x3f))
		return
	case 2:
		p.offset(uint64(op&0x3f), p.factored(c.Uleb("offset")))
		return
	case 3:
		p.restore(uint64(op & 0x3f))
		return
	}
	switch op {
	case 0x01:
		c.Bad("instruction", "DW_CFA_set_loc, which has a position-dependent address")
	case 0x02:
		p.advance(c, uint64(c.U8("delta")))
	case 0x03:
		p.advance(c, uint64(c.U16("delta")))
	case 0x04:
		p.advance(c, uint64(c.U32("delta")))
	case 0x05: // offset_extended
		r := p.register(c)
		p.offset(r, p.factored(c.Uleb("offset")))
	case 0x14: // val_offset
		p.elsewhere(p.register(c))
		c.Uleb("offset")
	case 0x06: // restore_extended
		p.restore(p.register(c))
	case 0x07: // undefined: stacks end here
		p.elsewhere(p.register(c))
	case 0x08: // same_value
		if p.register(c) == p.cie.ReturnReg {
			p.now.ra, p.now.raInMemory = false, false
		}
	case 0x09: // register
		p.elsewhere(p.register(c))
		p.register(c)
	case 0x0a:
		if p.saved = append(p.saved, p.now); len(p.saved) > math.MaxUint8 {
			c.Bad("instruction", "%d states are remembered", len(p.saved))
		}
	case 0x0b:
		last := len(p.saved) - 1
		if last < 0 {
			c.Bad("instruction", "DW_CFA_restore_state, but no state is remembered")
			return
		}
		p.now, p.saved = p.saved[last], p.saved[:last]
	case 0x0c: // def_cfa
		p.base(c)
		p.cfa(int64(c.Uleb("offset")))
	case 0x0d: // def_cfa_register
		p.needCFA(c)
		p.base(c)
	case 0x0e: // def_cfa_offset
		p.needCFA(c)
		p.cfa(int64(c.Uleb("offset")))
	case 0x0f: // def_cfa_expression
		p.expression(c)
		p.now.cfa, p.now.computed = true, true
	case 0x10, 0x16: // expression, val_expression
		p.elsewhere(p.register(c))
		p.expression(c)
	case 0x11: // offset_extended_sf
		r := p.register(c)
		p.offset(r, c.Sleb("offset")*p.cie.DataAlign)
	case 0x15: // val_offset_sf
		p.elsewhere(p.register(c))
		c.Sleb("offset")
	case 0x12: // def_cfa_sf
		p.base(c)
		p.cfa(c.Sleb("offset") * p.cie.DataAlign)
	case 0x13: // def_cfa_offset_sf
		p.needCFA(c)
		p.cfa(c.Sleb("offset") * p.cie.DataAlign)
	case 0x2d: // GNU_window_save, or AARCH64_negate_ra_state
	case 0x2e: // GNU_args_size
		c.Uleb("size")
	case 0x2f: // GNU_negative_offset_extended
		r := p.register(c)
		p.offset(r, -p.factored(c.Uleb("offset")))
	default:
		c.Bad("instruction", "%#x is unknown", op)
	}
}

func (p *program) factored(n uint64) int64 { return int64(n) * p.cie.DataAlign }

// cfa sets the CFA to an offset from a register.
func (p *program) cfa(offset int64) { p.now.cfa, p.now.computed, p.now.cfaOffset = true, false, offset }

// offset sets the rule of a register: saved at the CFA plus n.
func (p *program) offset(reg uint64, n int64) {
	if reg == p.cie.ReturnReg {
		p.now.ra, p.now.raInMemory, p.now.raCFAOffset = true, true, n
	}
}

// elsewhere records that a register has another kind of rule.
func (p *program) elsewhere(reg uint64) {
	if reg == p.cie.ReturnReg {
		p.now.ra, p.now.raInMemory = true, false
	}
}

// restore sets the rule of a register to that of the CIE.
func (p *program) restore(reg uint64) {
	if reg == p.cie.ReturnReg {
		p.now.ra, p.now.raInMemory, p.now.raCFAOffset = p.initial.ra, p.initial.raInMemory, p.initial.raCFAOffset
	}
}

func (p *program) register(c *wire.Cursor) uint64 {
	r := c.Uleb("register")
	if r >= maxRegister {
		c.Bad("register", "%d", r)
	}
	return r
}

// base reads the register that the CFA counts from.
func (p *program) base(c *wire.Cursor) {
	if p.now.cfaReg = c.Uleb("CFA register"); p.now.cfaReg >= p.place.registers() {
		c.Bad("CFA register", "%d, of %d", p.now.cfaReg, p.place.registers())
	}
}

// expression reads an expression [DWARF5 2.5]. It rejects jumps, which may never end.
func (p *program) expression(c *wire.Cursor) {
	b := c.Bytes("expression", c.Uleb("length of the expression"))
	if c.Err() != nil {
		return
	}
	e := wire.NewCursor(".eh_frame", "expression", b, p.place.Order, c.Offset()-int64(len(b)))
	for e.Err() == nil && e.Len() > 0 {
		switch op := e.U8("operation"); {
		case op == 0x28 || op == 0x2f:
			e.Bad("operation", "%#x, which jumps", op)
		case op == 0x03: // addr
			e.Bytes("operand", uint64(p.place.AddrSize))
		case op == 0x08 || op == 0x09 || op == 0x15 || op == 0x94: // const1u, const1s, pick, deref_size
			e.Bytes("operand", 1)
		case op == 0x0a || op == 0x0b:
			e.Bytes("operand", 2)
		case op == 0x0c || op == 0x0d:
			e.Bytes("operand", 4)
		case op == 0x0e || op == 0x0f:
			e.Bytes("operand", 8)
		case op == 0x10 || op == 0x23 || op == 0x90: // constu, plus_uconst, regx
			e.Uleb("operand")
		case op == 0x11 || op >= 0x70 && op <= 0x8f: // consts, breg0 to breg31
			e.Sleb("operand")
		case op == 0x92: // bregx
			e.Uleb("operand")
			e.Sleb("operand")
		case op == 0x06 || op >= 0x12 && op <= 0x6f || op == 0x96:
		default:
			e.Bad("operation", "%#x is unknown", op)
		}
	}
	if e.Err() != nil {
		*c = e
	}
}

func (p *program) needCFA(c *wire.Cursor) {
	if !p.now.cfa {
		c.Bad("instruction", "a part of the CFA changes, but there is none")
	}
}

func (p *program) advance(c *wire.Cursor, delta uint64) {
	if p.size > 0 && delta > 0 {
		p.row(c)
	}
	p.at += delta * p.cie.CodeAlign
	if p.size == 0 && delta > 0 {
		c.Bad("instruction", "an advance in a CIE")
	} else if p.at > p.size {
		c.Bad("instruction", "advances to byte %d of %d", p.at, p.size)
	}
}
