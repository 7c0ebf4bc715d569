package disasm

import (
	"debug/elf"

	"golang.org/x/arch/x86/x86asm"

	"github.com/jitinject/jitinject/internal/cfi"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// Targets calls f for every direct branch that leaves code. offset is the branch target, counted
// from the start of code.
func Targets(t jitcode.Target, code []byte, f func(offset int64)) {
	if elf.Machine(t.Machine) == elf.EM_386 {
		targets386(code, f)
	} else {
		cfi.Targets(t, code, f)
	}
}

// targets386 is cfi.Targets for 32-bit x86, which cfi does not support.
func targets386(code []byte, f func(offset int64)) {
	for at := 0; at < len(code); {
		n := x86Length(code[at:], 32)
		if n <= 0 || n > len(code)-at {
			at++
			continue
		}
		inst, err := x86asm.Decode(code[at:at+n], 32)
		at += n
		if by, ok := inst.Args[0].(x86asm.Rel); ok && err == nil {
			if to := int64(at) + int64(by); to < 0 || to >= int64(len(code)) {
				f(to)
			}
		}
	}
}
