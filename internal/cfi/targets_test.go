package cfi

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/loong64/loong64asm"
	"golang.org/x/arch/ppc64/ppc64asm"
	"golang.org/x/arch/x86/x86asm"

	"github.com/jitinject/jitinject/internal/jitcode"
)

func targetsOf(m elf.Machine, order binary.ByteOrder, code []byte) (to []int64) {
	Targets(jitcode.Target{Machine: uint32(m), Order: order}, code, func(offset int64) { to = append(to, offset) })
	return to
}

// What LLVM's assembler made, and its disassembler says of it. Branches within the code
// are none that lead out.
func TestBranchTargets_LikeLLVM(t *testing.T) {
	for _, c := range []struct {
		machine elf.Machine
		order   binary.ByteOrder
		code    string
		want    []int64
	}{
		// call .+0x1005; jmp .-0x7b; jne .+0x86; jrcxz .-0x10; a call within; call *rax; call *0x10(%rip);
		// call *(%rax,%rbp,8) with e8 in it; a call behind rex; a byte that is no instruction; call .+5
		{elf.EM_X86_64, binary.LittleEndian, "e800100000 eb80 0f8580000000 e3ee e800000000 ffd0 ff1510000000 ff94e810000000 40e800200000 06 e800000000",
			[]int64{0x1005, 7 - 0x80, 0xd + 0x80, 0xf - 0x12, 0x29 + 0x2000, 0x2f}},
		// b .+64; bl .-64; b.eq .+32; cbz x1, .+0x100; tbnz w2, #3, .-16; blr x8; b .-4
		{elf.EM_AARCH64, binary.BigEndian, "10000014 f0ffff97 00010054 010800b4 82ff1f37 00013fd6 ffffff17", []int64{64, 4 - 64, 40, 12 + 0x100, 0}[:4]},
		{elf.EM_PPC64, binary.BigEndian, "48000040 4bffffc1 41820020 4200fff8 48000042 4e800020", []int64{0x40, -60, 0x28}},
		{elf.EM_PPC64, binary.LittleEndian, "40000048 c1ffff4b", []int64{0x40, -60}},
		{elf.EM_RISCV, binary.LittleEndian, "ef100000 01b0 6308b518 71bf 15cd e1f1 97520000 e78002ff 97520000 e7008300 8280 6ff0dfff",
			[]int64{0x1000, 4 - 2048, 0x196, -90, 0x48, -50, 0x10 + 5<<12 - 16}},
		{elf.EM_S390, binary.BigEndian, "c0e500000800 c0f4fffff000 a7f40020 a7e5ffe0 ec1200328064 ec18ffce057e a7160008 8413000a 07fe",
			[]int64{0x1000, 6 - 0x2000, 0x4c, -48, 0x78, -74, 0x30, 0x38}},
		{elf.EM_ARM, binary.LittleEndian, "100000ea f0ffffeb 4000000b 080000fb 1eff2fe1", []int64{72, 12 - 64, 0x110, 0x36}},
		{elf.EM_SPARCV9, binary.BigEndian, "40000010 01000000", nil},
		{elf.EM_X86_64, binary.LittleEndian, "e800", nil},
		{elf.EM_RISCV, binary.LittleEndian, "01000f", nil},
		{elf.EM_S390, binary.BigEndian, "07fec0e5", nil},
		{elf.EM_AARCH64, binary.LittleEndian, "", nil},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := targetsOf(c.machine, c.order, code); !slices.Equal(got, c.want) {
			t.Errorf("for %v: got that %s leads to %#x, want %#x", c.machine, c.code, got, c.want)
		}
	}
}

// The same targets as golang.org/x/arch finds, in all code of x86-64 that there is, except
// for Erlang's data, of which nobody can say what instructions it is.
func TestBranchTargets_RecordingsLikeX86asm(t *testing.T) {
	found := 0
	eachDump(t, func(t testing.TB, name string, codes [][]byte, names []string) {
		for i, code := range codes {
			if strings.HasSuffix(names[i], "-CodeInfoPrologue") || strings.HasSuffix(names[i], "::codeHeader") || strings.HasSuffix(names[i], "::codeFooter") {
				continue
			}
			var want []int64
			for at := 0; at < len(code); {
				inst, n := x86Reference(code[at:])
				if n == 0 || n > len(code)-at {
					at++
					continue
				}
				at += n
				if by, ok := inst.Args[0].(x86asm.Rel); ok {
					if to := int64(at) + int64(by); to < 0 || to >= int64(len(code)) {
						want = append(want, to)
					}
				}
			}
			found += len(want)
			if got := targetsOf(elf.EM_X86_64, binary.LittleEndian, code); !slices.Equal(got, want) {
				t.Errorf("%s: %s leads to %#x, want %#x", name, names[i], got, want)
			}
		}
	})
	if found < 10000 {
		t.Errorf("%d targets", found)
	}
}

// The same of any word as golang.org/x/arch.
func TestBranchTargets_AnyWord(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200000 {
		w := random.Uint32()
		b := binary.LittleEndian.AppendUint32(nil, w)
		if inst, err := arm64asm.Decode(b); err == nil {
			var want []int64
			for _, a := range inst.Args {
				if by, ok := a.(arm64asm.PCRel); ok && inst.Op != arm64asm.ADR && inst.Op != arm64asm.ADRP && inst.Op != arm64asm.LDR && inst.Op != arm64asm.LDRSW && inst.Op != arm64asm.PRFM && (by < 0 || by >= 4) {
					want = append(want, int64(by))
				}
			}
			if got := targetsOf(elf.EM_AARCH64, binary.LittleEndian, b); !slices.Equal(got, want) {
				t.Fatalf("%#08x, %v, leads to %#x, want %#x", w, inst, got, want)
			}
		}
		if inst, err := ppc64asm.Decode(b, binary.LittleEndian); err == nil {
			var want []int64
			for _, a := range inst.Args {
				if by, ok := a.(ppc64asm.PCRel); ok && (by < 0 || by >= 4) {
					want = append(want, int64(by))
				}
			}
			if got := targetsOf(elf.EM_PPC64, binary.LittleEndian, b); !slices.Equal(got, want) {
				t.Fatalf("%#08x, %v, leads to %#x, want %#x", w, inst, got, want)
			}
		}
		if inst, err := loong64asm.Decode(b); err == nil && w>>26 != 0x13 { // jirl
			var want []int64
			for _, a := range inst.Args {
				if by, ok := a.(loong64asm.OffsetSimm); ok && (by.Imm < 0 || by.Imm >= 4) {
					want = append(want, int64(by.Imm))
				}
			}
			if got := targetsOf(elf.EM_LOONGARCH, binary.LittleEndian, b); !slices.Equal(got, want) {
				t.Fatalf("%#08x, %v, leads to %#x, want %#x", w, inst, got, want)
			}
		}
	}
}
