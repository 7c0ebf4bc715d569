package jitdump

import (
	"github.com/jitinject/jitinject/internal/disasm"
)

// Targets calls f for every direct branch that leaves the i-th function. offset is the branch
// target, counted from the function's start. Targets reads only the code, and fails if that cannot
// be read again.
func (r *Reader) Targets(i int, f func(offset int64)) error {
	_, code, err := r.code.Code(i)
	if err != nil {
		return err
	}
	disasm.Targets(r.listing.Target(), code, f)
	return nil
}
