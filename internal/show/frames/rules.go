package frames

import (
	"debug/elf"
	"fmt"
	"slices"
	"strconv"

	"github.com/jitinject/jitinject/internal/wire"
)

// frameRules say how the caller's registers are found: the CFA, and the others as
// offsets from that or in words.
type frameRules struct {
	cfaReg    uint64
	cfaOffset int64
	cfaText   string // an expression, or nothing
	saved     []savedRule
}

type savedRule struct {
	reg  uint64
	text string
}

// maxRules bounds the registers of a row, and maxRemembered the rows on the stack.
const (
	maxRules      = 256
	maxRemembered = 64
)

func (r *frameRules) clone() frameRules {
	c := *r
	c.saved = slices.Clone(r.saved)
	return c
}

func (r *frameRules) set(reg uint64, text string) {
	i := slices.IndexFunc(r.saved, func(s savedRule) bool { return s.reg >= reg })
	switch {
	case i >= 0 && r.saved[i].reg == reg:
		r.saved[i].text = text
	case len(r.saved) >= maxRules:
	case i < 0:
		r.saved = append(r.saved, savedRule{reg, text})
	default:
		r.saved = slices.Insert(r.saved, i, savedRule{reg, text})
	}
}

func (r *frameRules) unset(reg uint64) {
	r.saved = slices.DeleteFunc(r.saved, func(s savedRule) bool { return s.reg == reg })
}

// A frameProgram carries out call frame instructions [DWARF5 6.4.2].
type frameProgram struct {
	table *Table
	cie   *cieEntry
}

// run carries out instructions. With an address it shows a row whenever the address
// moves on, and at the end.
func (p *frameProgram) run(instructions []byte, r *frameRules, pc *uint64) {
	var stack []frameRules
	c := wire.NewCursor(".eh_frame", "instructions", instructions, p.table.Order, 0)
	advance := func(by uint64) {
		if pc != nil {
			p.row(*pc, r)
			*pc += by * p.cie.code
		}
	}
	offset := func(n int64) string { return cfaPlus(n * p.cie.data) }
	for c.Len() > 0 && c.Err() == nil {
		op := c.U8("instruction")
		low := uint64(op & 0x3f)
		switch op >> 6 {
		case 1:
			advance(low)
			continue
		case 2:
			r.set(low, offset(int64(c.Uleb("LEB128"))))
			continue
		case 3:
			p.restore(r, low)
			continue
		}
		switch op {
		case 0x00: // nop
		case 0x01: // set_loc
			at := uint64(p.table.pointer(&c, p.cie.encoding))
			if pc != nil {
				p.row(*pc, r)
				*pc = at
			}
		case 0x02:
			advance(uint64(c.U8("delta")))
		case 0x03:
			advance(uint64(c.U16("delta")))
		case 0x04:
			advance(uint64(c.U32("delta")))
		case 0x05: // offset_extended
			reg := c.Uleb("LEB128")
			r.set(reg, offset(int64(c.Uleb("LEB128"))))
		case 0x06:
			p.restore(r, c.Uleb("LEB128"))
		case 0x07:
			r.set(c.Uleb("LEB128"), "undefined")
		case 0x08:
			r.set(c.Uleb("LEB128"), "same")
		case 0x09:
			reg := c.Uleb("LEB128")
			r.set(reg, p.table.register(c.Uleb("LEB128")))
		case 0x0a:
			if len(stack) < maxRemembered {
				stack = append(stack, r.clone())
			}
		case 0x0b:
			if n := len(stack); n > 0 {
				*r, stack = stack[n-1], stack[:n-1]
			}
		case 0x0c:
			r.cfaReg, r.cfaText = c.Uleb("LEB128"), ""
			r.cfaOffset = int64(c.Uleb("LEB128"))
		case 0x0d:
			r.cfaReg, r.cfaText = c.Uleb("LEB128"), ""
		case 0x0e:
			r.cfaOffset = int64(c.Uleb("LEB128"))
		case 0x0f:
			r.cfaText = "expression"
			c.Bytes("expression", c.Uleb("LEB128"))
		case 0x10, 0x16: // expression, val_expression
			reg := c.Uleb("LEB128")
			r.set(reg, "expression")
			c.Bytes("expression", c.Uleb("LEB128"))
		case 0x11:
			reg := c.Uleb("LEB128")
			r.set(reg, offset(c.Sleb("LEB128")))
		case 0x12:
			r.cfaReg, r.cfaText = c.Uleb("LEB128"), ""
			r.cfaOffset = c.Sleb("LEB128") * p.cie.data
		case 0x13:
			r.cfaOffset = c.Sleb("LEB128") * p.cie.data
		case 0x14, 0x15: // val_offset, val_offset_sf
			reg := c.Uleb("LEB128")
			n := int64(0)
			if op == 0x14 {
				n = int64(c.Uleb("LEB128"))
			} else {
				n = c.Sleb("LEB128")
			}
			r.set(reg, "CFA"+signed(n*p.cie.data))
		case 0x2d: // GNU_window_save; on arm64, negate_ra_state
		case 0x2e: // GNU_args_size
			c.Uleb("LEB128")
		default:
			c.Bad("instruction", "%#x is unknown", op)
		}
	}
	if pc != nil {
		p.row(*pc, r)
	}
	if err := c.Err(); err != nil {
		p.table.failed(err)
	}
}

// restore makes a register's rule that of the CIE.
func (p *frameProgram) restore(r *frameRules, reg uint64) {
	for _, s := range p.cie.rules.saved {
		if s.reg == reg {
			r.set(reg, s.text)
			return
		}
	}
	r.unset(reg)
}

func (p *frameProgram) row(pc uint64, r *frameRules) {
	o := p.table.Out
	o.Row()
	o.At("pc", pc)
	cfa := r.cfaText
	if cfa == "" {
		cfa = p.table.register(r.cfaReg) + signed(r.cfaOffset)
	}
	o.Word("CFA", cfa)
	for _, s := range r.saved {
		o.Word(p.table.register(s.reg), s.text)
	}
}

func signed(n int64) string {
	if n < 0 {
		return strconv.FormatInt(n, 10)
	}
	return "+" + strconv.FormatInt(n, 10)
}

// cfaPlus is how a register is shown that is in memory at some distance from the CFA.
func cfaPlus(n int64) string { return "[CFA" + signed(n) + "]" }

var registerNames = map[elf.Machine][]string{
	elf.EM_X86_64: {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"},
	elf.EM_386:    {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip"},
}

// register is the name of a register that DWARF gives a number.
func (t *Table) register(n uint64) string {
	m := elf.Machine(t.Machine)
	if names := registerNames[m]; n < uint64(len(names)) {
		return names[n]
	}
	switch {
	case m == elf.EM_AARCH64 && n < 31, m == elf.EM_RISCV && n < 32:
		return fmt.Sprintf("x%d", n)
	case m == elf.EM_AARCH64 && n == 31:
		return "sp"
	}
	return fmt.Sprintf("r%d", n)
}
