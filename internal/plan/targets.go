package plan

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/source"
)

// perf annotate names the targets of branches in a referenced function. So does perf script -F
// disasm, where perf is built with capstone. So the functions at those targets stay as well. No
// others are needed: perf never shows the code of functions that are not referenced themselves.

// referenceTargets marks the targets of direct branches in referenced functions as referenced. It
// skips functions with damaged code: making their objects fails later, with a message. But code
// that cannot be read now may be readable then, so that is a finding.
func (f *Functions) referenceTargets(ctx context.Context, ref *referenced) error {
	ref.finish()
	var from []int // indexes of referenced mappings, grouped by object
	for i := range f.Mappings {
		if m := &f.Mappings[i]; !m.Clear && ref.isReferenced(m) {
			from = append(from, i)
		}
	}
	slices.SortStableFunc(from, func(i, j int) int { return cmp.Compare(f.Mappings[i].Object, f.Mappings[j].Object) })
	forkedChildren := ref.forkedChildren()
	readers := make(map[*model.Dump]source.FunctionReader)
	var targets []int64 // targets of last's branches, from the start of its code
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
			if err := r.Targets(of.Number, func(to int64) { targets = append(targets, to) }); err != nil {
				var failed *fs.PathError
				if errors.As(err, &failed) {
					f.found(branchesUnread, of.Dump.Path, failed.Err)
				}
				continue
			}
			slices.Sort(targets)
			targets = slices.Compact(targets)
		}
		start := m.Addr - m.Off
		for _, to := range targets {
			ref.referenceTarget(m.PID, forkedChildren[m.PID], start+uint64(to))
		}
	}
	return nil
}

// referenceTarget marks the target of a branch as referenced, in a process and its forked
// children. It marks the byte after the target, because mappings count as one byte longer, for
// return addresses. That byte is in the function at the target, but not in one that ends there.
func (ref *referenced) referenceTarget(pid uint32, forkedChildren []*pieces, addr uint64) {
	addr++
	ref.reference(pid, 0, addr)
	for _, of := range forkedChildren {
		of.reference(addr &^ ref.ignore)
	}
}

// forkedChildren returns, by process, the code of all its descendants. A descendant may have an
// inherited function that branches to one of its own.
func (ref *referenced) forkedChildren() map[uint32][]*pieces {
	forkedChildren := make(map[uint32][]*pieces)
	for pid, own := range ref.code {
		parent, only := ref.rec.ProcessTree.OnlyParent(pid)
		if only && ref.spaces.Get(parent) == nil {
			continue
		}
		for _, from := range ref.rec.ProcessTree.Line(pid)[1:] {
			if ref.code[from] != nil {
				forkedChildren[from] = append(forkedChildren[from], own)
			}
		}
	}
	return forkedChildren
}
