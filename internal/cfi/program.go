package cfi

import (
	"math"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/wire"
)

// A program is call frame instructions while they are read [DWARF5 6.4.2]. They are
// not executed; but they must be such that they can be.
type program struct {
	cie   *jitcode.FrameCIE
	size  uint64 // of the code; 0 in a CIE, where nothing may advance
	at    uint64
	depth int  // of remembered states
	cfa   bool // do they say where the CFA is?
}

// maxRegister is beyond every register that any machine has.
const maxRegister = 1 << 14

// run reads instructions up to the end of the cursor, and returns them without the
// padding behind them.
func (p *program) run(c *wire.Cursor) []byte {
	copied := *c
	all, start, end := copied.Rest(), c.Pos(), c.Pos()
	for c.Err() == nil && c.Len() > 0 {
		if op := c.U8("instruction"); op != 0 {
			p.instruction(c, op)
			end = c.Pos()
		}
	}
	if c.Err() != nil {
		return nil
	}
	return all[: end-start : end-start]
}

// instruction reads the operands of one instruction.
func (p *program) instruction(c *wire.Cursor, op uint8) {
	switch op >> 6 {
	case 1:
		p.advance(c, uint64(op&0x3f))
		return
	case 2:
		uleb(c, "offset")
		return
	case 3:
		return
	}
	switch op {
	case 0x01:
		c.Bad("instruction", "DW_CFA_set_loc, whose address depends on where it stands")
	case 0x02:
		p.advance(c, uint64(c.U8("delta")))
	case 0x03:
		p.advance(c, uint64(c.U16("delta")))
	case 0x04:
		p.advance(c, uint64(c.U32("delta")))
	case 0x05, 0x14: // offset_extended, val_offset
		p.register(c)
		uleb(c, "offset")
	case 0x06, 0x07, 0x08: // restore_extended, undefined, same_value
		p.register(c)
	case 0x09: // register
		p.register(c)
		p.register(c)
	case 0x0a:
		if p.depth++; p.depth > math.MaxUint8 {
			c.Bad("instruction", "%d states are remembered", p.depth)
		}
	case 0x0b:
		if p.depth--; p.depth < 0 {
			c.Bad("instruction", "DW_CFA_restore_state, but no state is remembered")
		}
	case 0x0c: // def_cfa
		p.register(c)
		uleb(c, "offset")
		p.cfa = true
	case 0x0d: // def_cfa_register
		p.needCFA(c)
		p.register(c)
	case 0x0e: // def_cfa_offset
		p.needCFA(c)
		uleb(c, "offset")
	case 0x0f: // def_cfa_expression
		p.block(c)
		p.cfa = true
	case 0x10, 0x16: // expression, val_expression
		p.register(c)
		p.block(c)
	case 0x11, 0x15: // offset_extended_sf, val_offset_sf
		p.register(c)
		sleb(c, "offset")
	case 0x12: // def_cfa_sf
		p.register(c)
		sleb(c, "offset")
		p.cfa = true
	case 0x13: // def_cfa_offset_sf
		p.needCFA(c)
		sleb(c, "offset")
	case 0x2d: // GNU_window_save, or AARCH64_negate_ra_state
	case 0x2e: // GNU_args_size
		uleb(c, "size")
	case 0x2f: // GNU_negative_offset_extended
		p.register(c)
		uleb(c, "offset")
	default:
		c.Bad("instruction", "nobody knows %#x", op)
	}
}

func (p *program) register(c *wire.Cursor) {
	if r := uleb(c, "register"); r >= maxRegister {
		c.Bad("register", "%d", r)
	}
}

func (p *program) block(c *wire.Cursor) { c.Bytes("expression", uleb(c, "length of the expression")) }

func (p *program) needCFA(c *wire.Cursor) {
	if !p.cfa {
		c.Bad("instruction", "a part of the CFA changes, but there is none")
	}
}

func (p *program) advance(c *wire.Cursor, delta uint64) {
	p.at += delta * p.cie.CodeAlign
	if p.size == 0 && delta > 0 {
		c.Bad("instruction", "an advance in a CIE")
	} else if p.at > p.size {
		c.Bad("instruction", "advances to byte %d of %d", p.at, p.size)
	}
}
