package frames

import (
	"debug/elf"
	"fmt"

	"github.com/jitinject/jitinject/internal/format/callframe"
)

// row shows how the caller's registers are found: the CFA, and the others as offsets from that or
// in words.
func (t *Table) row(pc uint64, row *callframe.Row) {
	o := t.Out
	o.Row()
	o.At("pc", pc)
	switch {
	case !row.Defined:
		o.Word("CFA", "undefined")
	case row.Computed:
		o.Word("CFA", "expression")
	default:
		o.Word("CFA", fmt.Sprintf("%s%+d", t.register(row.Reg), row.Offset))
	}
	for _, s := range row.Saved {
		o.Word(t.register(s.Reg), t.rule(s.Rule))
	}
}

// rule returns the text for a rule.
func (t *Table) rule(r callframe.Rule) string {
	switch r.Kind {
	case callframe.Undefined:
		return "undefined"
	case callframe.SameValue:
		return "same"
	case callframe.AtCFA:
		return fmt.Sprintf("[CFA%+d]", r.Offset)
	case callframe.IsCFA:
		return fmt.Sprintf("CFA%+d", r.Offset)
	case callframe.InRegister:
		return t.register(r.Reg)
	}
	return "expression"
}

var registerNames = map[elf.Machine][]string{
	elf.EM_X86_64: {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"},
	elf.EM_386:    {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip"},
}

// register returns the name of a register that DWARF gives a number.
func (t *Table) register(n uint64) string {
	m := t.Place.Machine
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
