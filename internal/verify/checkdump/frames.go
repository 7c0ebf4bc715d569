package checkdump

import (
	"debug/elf"
	"fmt"
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/ehframe"
	"github.com/jitinject/jitinject/jitdump"
)

// DWARF numbers of registers of x86-64.
const (
	dwarfRBP = 6
	dwarfRSP = 7
)

// A frame is what the code has done to the stack since the function was called.
type frame struct {
	sp, fp         int64 // distance from rsp, and rbp, up to the CFA
	knowSP, knowFP bool
}

// compareFrames reports the first instruction at which a table has another frame than the code. It
// follows the code from its first byte up to the first call, jump or return. Up to there, a
// function that was called has just one frame. A function was called if the table says so: it has
// only a return address on the stack at its first byte.
func (c *checker) compareFrames(u *unwindRecord, table []ehframe.Entry, l *jitdump.Load) {
	if c.machine != elf.EM_X86_64 {
		return
	}
	straight(l.Code, func(at int, f frame) (more bool) {
		addr := l.CodeAddr + uint64(at)
		i := slices.IndexFunc(table, func(e ehframe.Entry) bool { return e.Low <= addr && addr < e.High })
		if i < 0 {
			return at > 0
		}
		cfa, ok := table[i].CFA(addr)
		if at == 0 && !(ok && cfa == ehframe.CFA{Reg: dwarfRSP, Offset: 8}) {
			return false
		}
		register, want := "", int64(0)
		switch {
		case ok && cfa.Reg == dwarfRSP && f.knowSP:
			register, want = "rsp", f.sp
		case ok && cfa.Reg == dwarfRBP && f.knowFP:
			register, want = "rbp", f.fp
		}
		if register == "" || cfa.Offset == want {
			return true
		}
		c.Violation("dump/unwind-false", u.offset, "%s: at +%#x the CFA is %s, by its code; the table has %s",
			verify.Quoted(l.Name), at, offsetText(register, want), offsetText(register, cfa.Offset))
		return false
	})
}

func offsetText(register string, offset int64) string { return fmt.Sprintf("%s%+d", register, offset) }

// straight calls visit with the frame before each instruction, until it returns false.
func straight(code []byte, visit func(at int, f frame) bool) {
	f := frame{sp: 8, knowSP: true}
	for at := 0; at < len(code) && (f.knowSP || f.knowFP) && visit(at, f); {
		n := x86Length(code[at:], 64)
		if n <= 0 || n > len(code)-at {
			return
		}
		inst, err := x86asm.Decode(code[at:], 64)
		if err != nil || inst.Op == 0 || inst.Len != n { // endbr64 and the like
			at += n
			continue
		}
		if !f.step(&inst) || f.knowSP && f.sp < 8 { // the return address may be elsewhere
			return
		}
		at += n
	}
}

// step applies an instruction. It returns false where the code goes on elsewhere.
func (f *frame) step(inst *x86asm.Inst) bool {
	to := inst.Args[0]
	immediate, hasImmediate := inst.Args[1].(x86asm.Imm)
	source, isMemory := inst.Args[1].(x86asm.Mem)
	switch op := inst.Op; {
	case op == x86asm.PUSH && inst.DataSize != 16:
		f.sp += 8
		return true
	case op == x86asm.POP && inst.DataSize != 16 && to != x86asm.RSP:
		f.sp -= 8
		f.knowFP = f.knowFP && to != x86asm.RBP
		return true
	case op == x86asm.SUB && to == x86asm.RSP && hasImmediate:
		f.sp += int64(immediate)
		return true
	case op == x86asm.ADD && to == x86asm.RSP && hasImmediate:
		f.sp -= int64(immediate)
		return true
	case op == x86asm.LEA && to == x86asm.RSP && isMemory && source.Base == x86asm.RSP && source.Index == 0:
		f.sp -= source.Disp
		return true
	case op == x86asm.LEA && to == x86asm.RBP && isMemory && source.Base == x86asm.RSP && source.Index == 0:
		f.fp, f.knowFP = f.sp-source.Disp, f.knowSP
		return true
	case op == x86asm.MOV && to == x86asm.RBP && inst.Args[1] == x86asm.RSP:
		f.fp, f.knowFP = f.sp, f.knowSP
		return true
	case op == x86asm.MOV && to == x86asm.RSP && inst.Args[1] == x86asm.RBP:
		f.sp, f.knowSP = f.fp, f.knowFP
		return true
	case op == x86asm.LEAVE:
		*f = frame{sp: f.fp - 8, knowSP: f.knowFP}
		return true
	case op == x86asm.CMP, op == x86asm.TEST, op == x86asm.NOP:
		return true
	}
	if leaves[inst.Op] {
		return false
	}
	for _, a := range inst.Args {
		switch a {
		case x86asm.RSP, x86asm.ESP, x86asm.SP, x86asm.SPB:
			f.knowSP = false
		case x86asm.RBP, x86asm.EBP, x86asm.BP, x86asm.BPB:
			f.knowFP = false
		}
	}
	return true
}

// leaves has instructions after which the stack is unknown: those that go on elsewhere, and those
// that change the stack pointer in rarer ways.
var leaves = map[x86asm.Op]bool{
	x86asm.CALL: true, x86asm.LCALL: true, x86asm.JMP: true, x86asm.LJMP: true, x86asm.RET: true, x86asm.LRET: true,
	x86asm.IRET: true, x86asm.IRETD: true, x86asm.IRETQ: true, x86asm.INT: true, x86asm.INTO: true,
	x86asm.UD1: true, x86asm.UD2: true, x86asm.HLT: true, x86asm.SYSCALL: true, x86asm.SYSENTER: true,
	x86asm.PUSH: true, x86asm.POP: true, x86asm.PUSHF: true, x86asm.PUSHFD: true, x86asm.PUSHFQ: true,
	x86asm.POPF: true, x86asm.POPFD: true, x86asm.POPFQ: true, x86asm.ENTER: true, x86asm.XBEGIN: true,
}
