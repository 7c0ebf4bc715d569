package disasm

import (
	"debug/elf"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// Lengths of instructions as objdump has them. The disassembler gets some of
// them wrong, and what follows them would look like no instruction's start.
func TestInstructionStarts_LikeObjdump(t *testing.T) {
	for _, c := range []struct {
		machine elf.Machine
		code    string // an instruction a word
	}{
		{elf.EM_X86_64, "f30f1efa 55 4889e5 c5f877 c4e17877 4883ec10 c3"},
		{elf.EM_386, "f30f1efb 55 89e5 83ec10 c3"},
		{elf.EM_RISCV, "4111 13050500 8280"},
		{elf.EM_S390, "07fe a7f40000 eb6ff0300024 07fe"},
		{elf.EM_ARM, "00bf 7047"},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		s := Starts{set: []uint64{^uint64(0), 1}} // of an earlier sweep
		s.Sweep(jitcode.Target{Machine: uint32(c.machine)}, code)
		var got, want []string
		at := 0
		for _, insn := range strings.Fields(c.code) {
			want = append(want, fmt.Sprint(at))
			at += len(insn) / 2
		}
		for i := range code {
			if start, known := s.At(uint64(i)); start && known {
				got = append(got, fmt.Sprint(i))
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("for %v: got instruction starts %v, want %v", c.machine, got, want)
		}
	}
}
