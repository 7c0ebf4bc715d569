package fetch

import (
	"context"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/samplerefs"
)

// findHits marks the objects that samples refer to: every object that perf may look into. These are more
// than perf buildid-list --with-hits lists: that counts only the sampled addresses, or in newer versions
// callchains, too, and no copies of stacks. The error is ctx's or one of reading; or it is a
// [samplerefs.Unknowable].
func (r *result) findHits(ctx context.Context) error {
	ignore := uint64(0)
	switch r.rec.Machine {
	case "aarch64":
		ignore = 0xffff << 48 // the upper bits of a return address may sign it
	case "arm":
		ignore = 1 // bit 0 selects the instruction set
	}
	ranges := samplerefs.NewRanges(r.rec, ignore, func(yield func(uint32, addrs.Range) bool) {
		for i := range r.mappings {
			if m := &r.mappings[i]; !yield(m.pid, m.Range) {
				return
			}
		}
	})
	if err := ranges.Find(ctx); err != nil {
		return err
	}
	ranges.Finish()
	for i := range r.mappings {
		if m := &r.mappings[i]; ranges.IsReferenced(m.pid, m.Range) {
			r.objects[m.object].hit = true
		}
	}
	return nil
}
