package jitdump

import (
	"github.com/jitinject/jitinject/internal/disasm"
)

// Targets calls f for every direct branch in the i-th function that leads out of it, with
// the offset of its target from where the function begins. Only the code is read; it
// fails where that cannot be done again.
func (r *Reader) Targets(i int, f func(offset int64)) error {
	code, err := r.codeOf(i)
	if err != nil {
		return err
	}
	disasm.Targets(r.d.Target(), code, f)
	return nil
}
