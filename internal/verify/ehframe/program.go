package ehframe

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/wire"
)

// A CFA is the Canonical Frame Address of a row: a register plus an offset in bytes.
type CFA struct {
	Reg    uint64 // DWARF number
	Offset int64
}

// A cfaRow is the CFA from an offset in the code of an FDE on. known is false if it is an expression.
type cfaRow struct {
	from uint64
	CFA
	known bool
}

// CFA returns the CFA at an address of the code. ok is false if it is an expression.
func (f *Entry) CFA(addr uint64) (cfa CFA, ok bool) {
	for _, r := range f.rows {
		if r.from > addr-f.Low {
			break
		}
		cfa, ok = r.CFA, r.known
	}
	return cfa, ok
}

// A state has the rules of a row for the CFA and the return address: unwinders go on with these.
type state struct {
	cfa, computed bool // there is a CFA; it is an expression
	CFA
	ra   raRule
	raAt int64 // from the CFA, if raStored
}

// A raRule is the kind of rule of the return address.
type raRule int

const (
	raNone      raRule = iota
	raStored           // at an offset from the CFA
	raElsewhere        // in a register, computed, or undefined
)

// A program executes the call frame instructions of an entry [DWARF5 6.4.2].
type program struct {
	*entryReader
	cie      *commonEntry
	size, at uint64 // of the FDE's code, in bytes, and the current row's place; size is 0 in a CIE
	now      state
	saved    []state
	rows     []cfaRow
	err      error // the first violation
}

// instructions executes the rest of an entry.
func (e *entryReader) instructions(cie *commonEntry, size uint64) (p program, err error) {
	p = program{entryReader: e, cie: cie, size: size, now: cie.first, saved: slices.Clone(cie.saved)}
	for p.err == nil && e.c.Err() == nil && e.c.Len() > 0 {
		p.step(e.c.U8("instruction"))
	}
	if size > 0 {
		p.row()
	}
	if p.err == nil && e.c.Err() != nil {
		p.err = errors.New("its call frame instructions end inside one, or have a number of more than 64 bits")
	}
	return p, p.err
}

func (p *program) fail(format string, args ...any) {
	if p.err == nil && p.c.Err() == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// step executes an instruction.
func (p *program) step(op byte) {
	c, low := &p.c, uint64(op&0x3f)
	switch op >> 6 {
	case 1:
		p.advance(low)
		return
	case 2:
		p.store(low, int64(c.Uleb("offset"))*p.cie.dataAlign)
		return
	case 3:
		p.restore(low)
		return
	}
	switch op {
	case 0x00, 0x2d: // nop; window_save, AARCH64_negate_ra_state
	case 0x01:
		p.fail("DW_CFA_set_loc has an address, which is wrong when the table is put elsewhere")
	case 0x02:
		p.advance(uint64(c.U8("delta")))
	case 0x03:
		p.advance(uint64(c.U16("delta")))
	case 0x04:
		p.advance(uint64(c.U32("delta")))
	case 0x05: // offset_extended
		r := p.register()
		p.store(r, int64(c.Uleb("offset"))*p.cie.dataAlign)
	case 0x11: // offset_extended_sf
		r := p.register()
		p.store(r, c.Sleb("offset")*p.cie.dataAlign)
	case 0x2f: // GNU_negative_offset_extended
		r := p.register()
		p.store(r, -int64(c.Uleb("offset"))*p.cie.dataAlign)
	case 0x06: // restore_extended
		p.restore(p.register())
	case 0x07: // undefined: stacks end here
		p.elsewhere()
	case 0x08: // same_value
		if p.register() == p.cie.returns {
			p.now.ra = raNone
		}
	case 0x09: // register
		p.elsewhere()
		p.register()
	case 0x0a: // remember_state
		if p.saved = append(p.saved, p.now); len(p.saved) > 255 {
			p.fail("more than 255 DW_CFA_remember_state without DW_CFA_restore_state")
		}
	case 0x0b: // restore_state
		last := len(p.saved) - 1
		if last < 0 {
			p.fail("DW_CFA_restore_state without a state that was remembered")
			return
		}
		p.now, p.saved = p.saved[last], p.saved[:last]
	case 0x0c: // def_cfa
		p.base()
		p.setCFA(int64(c.Uleb("offset")))
	case 0x12: // def_cfa_sf
		p.base()
		p.setCFA(c.Sleb("offset") * p.cie.dataAlign)
	case 0x0d: // def_cfa_register
		p.needCFA()
		p.base()
	case 0x0e: // def_cfa_offset
		p.needCFA()
		p.setCFA(int64(c.Uleb("offset")))
	case 0x13: // def_cfa_offset_sf
		p.needCFA()
		p.setCFA(c.Sleb("offset") * p.cie.dataAlign)
	case 0x0f: // def_cfa_expression
		p.expression()
		p.now.cfa, p.now.computed = true, true
	case 0x10, 0x16: // expression, val_expression
		p.elsewhere()
		p.expression()
	case 0x14: // val_offset
		p.elsewhere()
		c.Uleb("offset")
	case 0x15: // val_offset_sf
		p.elsewhere()
		c.Sleb("offset")
	case 0x2e: // GNU_args_size
		c.Uleb("size")
	default:
		p.fail("no call frame instruction has number %#x", op)
	}
}

// advance begins another row.
func (p *program) advance(delta uint64) {
	if delta > 0 {
		if p.size == 0 {
			p.fail("an instruction of a CIE advances")
			return
		}
		p.row()
	}
	if p.at += delta * p.cie.codeAlign; p.at > p.size {
		p.fail("its instructions advance to byte %d of %d", p.at, p.size)
	}
}

// row adds a row, and checks that unwinders can use it.
func (p *program) row() {
	p.rows = append(p.rows, cfaRow{p.at, p.now.CFA, p.now.cfa && !p.now.computed})
	switch now := &p.now; {
	case !now.cfa:
		p.fail("it has no rule for the CFA at byte %d", p.at)
	case now.ra == raNone && (p.Machine == elf.EM_X86_64 || p.Machine == elf.EM_386):
		p.fail("it has no rule for the return address at byte %d", p.at)
	case !now.computed && now.Offset == 0 && now.ra == raStored && now.raAt == 0:
		p.fail("the return address is where the CFA is at byte %d: the frame has no size", p.at)
	}
}

func (p *program) setCFA(offset int64) { p.now.cfa, p.now.computed, p.now.Offset = true, false, offset }

func (p *program) needCFA() {
	if !p.now.cfa {
		p.fail("a part of the CFA changes, and it has no rule")
	}
}

// base reads the register of the CFA.
func (p *program) base() {
	known := map[elf.Machine]uint64{elf.EM_X86_64: 16, elf.EM_386: 8, elf.EM_AARCH64: 32}[p.Machine]
	if known == 0 {
		known = 128
	}
	if p.now.Reg = p.c.Uleb("register"); p.now.Reg >= known {
		p.fail("the CFA is relative to register %d, of %d", p.now.Reg, known)
	}
}

func (p *program) register() uint64 {
	r := p.c.Uleb("register")
	if r >= 1<<14 {
		p.fail("register %d", r)
	}
	return r
}

func (p *program) store(r uint64, at int64) {
	if r == p.cie.returns {
		p.now.ra, p.now.raAt = raStored, at
	}
}

func (p *program) elsewhere() {
	if p.register() == p.cie.returns {
		p.now.ra = raElsewhere
	}
}

func (p *program) restore(r uint64) {
	if r == p.cie.returns {
		p.now.ra, p.now.raAt = p.cie.first.ra, p.cie.first.raAt
	}
}

// expression walks an expression [DWARF5 2.5]. Jumps may never end.
func (p *program) expression() {
	b := p.c.Bytes("expression", p.c.Uleb("length"))
	c := wire.NewCursor(".eh_frame", "", b, p.Order, 0)
	for c.Err() == nil && c.Len() > 0 {
		switch op := c.U8("operation"); {
		case op == 0x28, op == 0x2f: // bra, skip
			p.fail("an expression jumps")
			return
		case op == 0x03: // addr
			c.Bytes("operand", uint64(p.AddrSize))
		case op >= 0x08 && op <= 0x0f: // const1u to const8s
			c.Bytes("operand", 1<<((op-8)/2))
		case op == 0x15, op == 0x94: // pick, deref_size
			c.U8("operand")
		case op == 0x10, op == 0x23, op == 0x90: // constu, plus_uconst, regx
			c.Uleb("operand")
		case op == 0x11, op >= 0x70 && op <= 0x8f: // consts, breg0 to breg31
			c.Sleb("operand")
		case op == 0x92: // bregx
			c.Uleb("operand")
			c.Sleb("operand")
		case op == 0x06, op >= 0x12 && op <= 0x6f, op == 0x96: // without operands
		default:
			p.fail("no operation of expressions has number %#x, or it has no use here", op)
			return
		}
	}
	if c.Err() != nil {
		p.fail("an expression ends inside an operation")
	}
}
