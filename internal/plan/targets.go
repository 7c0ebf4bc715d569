package plan

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/samplerefs"
	"github.com/jitinject/jitinject/internal/source"
)

// perf annotate names the targets of branches in a referenced function. So does perf script -F
// disasm, where perf is built with capstone. So the functions at those targets stay as well. No
// others are needed: perf never shows the code of functions that are not referenced themselves.

// referenceTargets marks the targets of direct branches in referenced functions as referenced. It
// skips functions with damaged code: making their objects fails later, with a message. But code
// that cannot be read now may be readable then, so that is a finding.
func (f *Functions) referenceTargets(ctx context.Context, ref *samplerefs.Ranges) error {
	ref.Finish()
	var from []int // indexes of referenced mappings, grouped by object
	for i := range f.Mappings {
		if m := &f.Mappings[i]; !m.Clear && ref.IsReferenced(m.PID, rangeOf(m)) {
			from = append(from, i)
		}
	}
	slices.SortStableFunc(from, func(i, j int) int { return cmp.Compare(f.Mappings[i].Object, f.Mappings[j].Object) })
	readers := make(map[*model.Dump]source.FunctionReader)
	var targets []uint64 // targets of last's branches, from the start of its code
	last := int32(-1)
	for _, i := range from {
		m := &f.Mappings[i]
		if m.Object != last {
			if err := ctx.Err(); err != nil {
				return err
			}
			last = m.Object
			of := &f.List[last]
			r := readers[of.Dump]
			if r == nil {
				r = of.Dump.Functions()
				readers[of.Dump] = r
			}
			targets = targets[:0]
			if err := r.Targets(int(of.Number), func(to int64) { targets = append(targets, uint64(to)) }); err != nil {
				var failed *fs.PathError
				if errors.As(err, &failed) {
					f.found(branchesUnread, of.Dump.Path, failed.Err)
				}
				continue
			}
			slices.Sort(targets)
			targets = slices.Compact(targets)
		}
		start := m.Addr - m.Of().Off
		for _, to := range targets {
			ref.ReferenceTarget(m.PID, start+to)
		}
	}
	return nil
}
