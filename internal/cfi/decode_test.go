package cfi

import (
	"encoding/binary"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"github.com/jitinject/jitinject/internal/testrec"
)

// loads returns the code of every load record in a dump.
func loads(t testing.TB, dump []byte) (codes [][]byte, names []string) {
	t.Helper()
	le := binary.LittleEndian
	for at := uint64(le.Uint32(dump[8:])); at+16 <= uint64(len(dump)); {
		id, size := le.Uint32(dump[at:]), uint64(le.Uint32(dump[at+4:]))
		if size < 16 || at+size > uint64(len(dump)) {
			break
		}
		if rec := dump[at : at+size]; id == 0 {
			n := le.Uint64(rec[40:])
			code := rec[size-n:]
			codes = append(codes, code)
			name := rec[56 : size-n]
			names = append(names, string(name[:len(name)-1]))
		}
		at += size
	}
	return codes, names
}

// eachDump calls f with the functions of each dump of the recordings.
func eachDump(t testing.TB, f func(t testing.TB, name string, codes [][]byte, names []string)) {
	for _, name := range testrec.Few(testrec.Names, 2) {
		dir := testrec.Unpack(t, name)
		for _, path := range dumpsBelow(t, dir) {
			codes, names := loads(t, read(t, path))
			f(t, name, codes, names)
		}
	}
}

// x86Reference is the length of an instruction, and whether it has the stack or
// frame pointer as its first operand, by golang.org/x/arch. What that gets wrong is
// put right; see package source.
func x86Reference(b []byte) (inst x86asm.Inst, n int) {
	switch {
	case len(b) >= 3 && b[0] == 0xc5 && b[2] == 0x77:
		return inst, 3
	case len(b) >= 4 && b[0] == 0xc4 && b[3] == 0x77:
		return inst, 4
	case len(b) >= 4 && b[0] == 0xf3 && b[1] == 0x0f && b[2] == 0x1e && b[3]&0xfe == 0xfa:
		return inst, 4
	}
	inst, err := x86asm.Decode(b, 64)
	if err != nil || inst.Op == 0 {
		return inst, 0
	}
	return inst, inst.Len
}

// compareX86 sweeps code with both decoders.
func compareX86(t testing.TB, what string, code []byte) (insns int) {
	for at := 0; at < len(code); {
		inst, want := x86Reference(code[at:])
		ops, n := decodeX86(code, at, nil)
		if want == 0 {
			if n == 0 {
				n = 1
			}
			at += n
			continue // data, or what x86asm does not know
		}
		insns++
		if n == 0 && (code[at] == 0x0f || code[at] == 0x62) {
			// Moves to control registers, and maps of the future: data.
		} else if n != want {
			t.Errorf("%s+%#x: % x: %d bytes, want %d: %v", what, at, code[at:min(at+15, len(code))], n, want, inst)
		} else if !sameEffects(inst, ops) {
			t.Errorf("%s+%#x: got %+v; want the effects of %v", what, at, ops, inst)
		}
		at += want
	}
	return insns
}

// writesNothing are instructions whose first operand is not written.
var writesNothing = map[x86asm.Op]bool{
	x86asm.CMP: true, x86asm.TEST: true, x86asm.PUSH: true, x86asm.BT: true, x86asm.MUL: true, x86asm.DIV: true, x86asm.IDIV: true,
	x86asm.JMP: true, x86asm.CALL: true, x86asm.NOP: true,
}

// sameEffects compares ops with what x86asm says of an instruction.
func sameEffects(inst x86asm.Inst, ops []op) bool {
	has := func(k kind) bool {
		for _, o := range ops {
			if o.kind == k {
				return true
			}
		}
		return false
	}
	ends := len(ops) > 0 && ops[len(ops)-1].kind.ends()
	switch inst.Op {
	case 0:
		return len(ops) == 0
	case x86asm.RET:
		return has(opReturn)
	case x86asm.CALL, x86asm.LCALL:
		return has(opCall)
	case x86asm.JMP, x86asm.LJMP:
		return has(opJump) || has(opIndirect)
	case x86asm.UD0, x86asm.UD1, x86asm.UD2, x86asm.ICEBP, x86asm.HLT, x86asm.IRET, x86asm.IRETD, x86asm.IRETQ, x86asm.LRET, x86asm.SYSRET:
		return has(opTrap)
	case x86asm.INT:
		return ends == (inst.Opcode>>24 == 0xcc)
	case x86asm.PUSH, x86asm.PUSHFQ, x86asm.PUSHF:
		return has(opAddSP) || has(opLoseSP)
	case x86asm.POP, x86asm.POPFQ, x86asm.POPF, x86asm.LEAVE, x86asm.ENTER:
		return has(opAddSP) || has(opLoseSP)
	}
	if inst.Op >= x86asm.JA && inst.Op <= x86asm.JS && inst.Op != x86asm.JMP || inst.Op >= x86asm.LOOP && inst.Op <= x86asm.LOOPNE {
		return has(opBranch)
	}
	if ends {
		return false
	}
	if reg, ok := inst.Args[0].(x86asm.Reg); ok && !writesNothing[inst.Op] && (inst.Op != x86asm.IMUL || inst.Args[1] != nil) {
		switch {
		case reg == x86asm.RSP || reg == x86asm.ESP || reg == x86asm.SP || reg == x86asm.SPB:
			return has(opAddSP) || has(opLoseSP) || has(opSPFromFP)
		case watchedReg(reg) != none:
			if inst.Op == x86asm.MOV && inst.Args[1] == inst.Args[0] {
				return true
			}
			for _, o := range ops {
				if (o.kind == opWrite || o.kind == opLoad) && o.reg == watchedReg(reg) || o.kind == opFPFromSP && watchedReg(reg) == fp {
					return true
				}
			}
			return false
		}
	}
	if reg, ok := inst.Args[1].(x86asm.Reg); ok && (inst.Op == x86asm.XCHG || inst.Op == x86asm.XADD) {
		return has(opWrite) || watchedReg(reg) == none
	}
	return !has(opAddSP) && !has(opLoseSP) && !has(opSPFromFP) && !has(opBranch) && !has(opCall)
}

func watchedReg(r x86asm.Reg) uint8 {
	for _, bank := range [][2]x86asm.Reg{{x86asm.RAX, x86asm.R15}, {x86asm.EAX, x86asm.R15L}, {x86asm.AX, x86asm.R15W}} {
		if r >= bank[0] && r <= bank[1] {
			return x86Watched[r-bank[0]]
		}
	}
	if r >= x86asm.SPB && r <= x86asm.R15B {
		return x86Watched[4+r-x86asm.SPB]
	}
	if r == x86asm.BL {
		return x86Watched[3]
	}
	return none
}

// The decoder of this package sees what golang.org/x/arch sees, in all code of the
// recordings.
func TestDecode_X86LikeX86asm(t *testing.T) {
	insns := 0
	eachDump(t, func(t testing.TB, name string, codes [][]byte, names []string) {
		for i, code := range codes {
			insns += compareX86(t, name+" "+names[i], code)
		}
	})
	t.Logf("%d instructions", insns)
}
