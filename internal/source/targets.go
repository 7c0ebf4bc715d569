package source

import (
	"debug/elf"

	"golang.org/x/arch/x86/x86asm"

	"github.com/jitinject/jitinject/internal/cfi"
)

// Targets calls f for every direct branch in the i-th function that leads out of it, with
// the offset of its target from where the function begins. Only the code is read; it
// fails where that cannot be done again.
func (r *Reader) Targets(i int, f func(offset int64)) error {
	at := r.d.parts[i].load
	if err := r.window.hold(r.d.src, at); err != nil {
		return err
	}
	raw, err := r.window.record(at, r.d.order())
	if err != nil {
		return err
	}
	l, err := raw.Load()
	if err != nil {
		return err
	}
	if t := r.d.Target(); elf.Machine(t.Machine) == elf.EM_386 {
		targets386(l.Code, f)
	} else {
		cfi.Targets(t, l.Code, f)
	}
	return nil
}

// targets386 is cfi.Targets for code of 32 bits, which cfi does not know.
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
