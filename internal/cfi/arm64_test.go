package cfi

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/testrec"
)

var arm64 = jitcode.Target{Machine: uint32(elf.EM_AARCH64), Order: binary.LittleEndian}

// arm64Sample is stp x29, x30, [sp, #-32]!; mov x29, sp; str x19, [sp, #16]; bl; ldr
// x19, [sp, #16]; ldp x29, x30, [sp], #32; ret.
var arm64Sample = words(0xa9be7bfd, 0x910003fd, 0xf9000bf3, 0x94000100, 0xf9400bf3, 0xa8c27bfd, 0xd65f03c0)

func words(ws ...uint32) (b []byte) {
	for _, w := range ws {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func TestARM64_Rows(t *testing.T) {
	var s Synthesizer
	r := s.Synthesize(arm64, arm64Sample, nil)
	var got string
	for _, row := range r.Rows {
		got += fmt.Sprintf("%d {%d %d}:", row.Offset, row.CFA.Reg, row.CFA.Offset)
		for _, s := range row.Saved {
			got += fmt.Sprintf(" %d at %d", s.Reg, s.Offset)
		}
		got += "\n"
	}
	want := "0 {31 0}:\n4 {31 32}: 29 at -32 30 at -24\n8 {29 32}: 29 at -32 30 at -24\n12 {29 32}: 19 at -16 29 at -32 30 at -24\n24 {31 0}:\n"
	if got != want || !r.Returns || r.Jumps {
		t.Errorf("got %+v\n%swant\n%s", r, got, want)
	}
}

// While the return address is signed, there are only rows for frame pointers: paciasp,
// sub sp, sp, #16, add sp, sp, #16, autiasp, ret; and the sample in between.
func TestARM64_SignedReturnAddress(t *testing.T) {
	for want, code := range map[string][]byte{
		"[0 true][4 false][16 true]": words(0xd503233f, 0xd10043ff, 0x910043ff, 0xd50323bf, 0xd65f03c0),
		"[0 true][4 false][12 true]": words(0xd503233f, 0xa9be7bfd, 0x910003fd, 0x94000100, 0xd65f0bff),
	} {
		var s Synthesizer
		got := ""
		for _, row := range s.Synthesize(arm64, code, nil).Rows {
			got += fmt.Sprintf("[%d %v]", row.Offset, row.Known)
		}
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// arm64asm agrees about which instructions end a block, call, and write registers
// that are watched.
func TestDecode_ARM64LikeArm64asm(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	seen := 0
	for range testrec.Rounds(3_000_000, 300_000) {
		w := r.Uint32()
		code := words(w)
		inst, err := arm64asm.Decode(code)
		if err != nil {
			continue
		}
		seen++
		ops, n := decodeARM64(code, 0, nil)
		if n != 4 {
			t.Fatalf("%08x: %d bytes", w, n)
		}
		has := func(k kind, reg uint8) bool {
			for _, o := range ops {
				if o.kind == k && (reg == none || o.reg == reg) {
					return true
				}
			}
			return false
		}
		good := true
		ends := len(ops) > 0 && ops[len(ops)-1].kind.ends()
		switch inst.Op {
		case arm64asm.RET:
			good = has(opReturn, none)
		case arm64asm.B:
			_, conditional := inst.Args[0].(arm64asm.Cond)
			good = has(opBranch, none) == conditional && has(opJump, none) != conditional
		case arm64asm.BR:
			good = has(opIndirect, none)
		case arm64asm.BL, arm64asm.BLR:
			good = has(opCall, none)
		case arm64asm.CBZ, arm64asm.CBNZ, arm64asm.TBZ, arm64asm.TBNZ:
			good = has(opBranch, none)
		case arm64asm.BRK, arm64asm.HLT, arm64asm.ERET, arm64asm.DRPS, arm64asm.DCPS1, arm64asm.DCPS2, arm64asm.DCPS3:
			good = ends || inst.Op >= arm64asm.DCPS1 && inst.Op <= arm64asm.DCPS3
		default:
			good = !ends && !has(opCall, none) && !has(opBranch, none)
			reg, sp := arm64Destination(inst)
			if sp {
				good = good && (has(opAddSP, none) || has(opLoseSP, none) || has(opSPFromFP, none))
			}
			if reg != none {
				good = good && (has(opWrite, reg) || has(opLoad, reg) || reg == fp && has(opFPFromSP, none))
			}
		}
		if !good {
			t.Errorf("%08x: got %+v; want the effects of %v", w, ops, inst)
		}
	}
	t.Logf("%d instructions", seen)
}

// arm64Destination returns the watched register that an instruction has for its
// first operand, if it writes that.
func arm64Destination(inst arm64asm.Inst) (reg uint8, sp bool) {
	switch inst.Op {
	case arm64asm.CMP, arm64asm.CMN, arm64asm.TST, arm64asm.CCMP, arm64asm.CCMN, arm64asm.MSR, arm64asm.SYS,
		arm64asm.STR, arm64asm.STRB, arm64asm.STRH, arm64asm.STUR, arm64asm.STURB, arm64asm.STURH, arm64asm.STTR, arm64asm.STTRB, arm64asm.STTRH,
		arm64asm.STP, arm64asm.STNP, arm64asm.STLR, arm64asm.STLRB, arm64asm.STLRH,
		arm64asm.IC, arm64asm.DC, arm64asm.AT, arm64asm.TLBI:
		return none, false
	}
	switch a := inst.Args[0].(type) {
	case arm64asm.Reg:
		if a >= arm64asm.W0 && a <= arm64asm.W30 {
			return arm64Watched(uint32(a - arm64asm.W0)), false
		}
		if a >= arm64asm.X0 && a <= arm64asm.X30 {
			return arm64Watched(uint32(a - arm64asm.X0)), false
		}
	case arm64asm.RegSP:
		if r := arm64asm.Reg(a); r == arm64asm.SP || r == arm64asm.WSP {
			return none, true
		} else if r >= arm64asm.X0 && r <= arm64asm.X30 {
			return arm64Watched(uint32(r - arm64asm.X0)), false
		}
	}
	return none, false
}
