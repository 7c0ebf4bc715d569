package plan

import (
	"cmp"
	"context"
	"slices"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/source"
)

// perf annotate, and perf script -F disasm where perf is built with capstone, name what
// the branches of a touched function lead to. So those functions stay, too, and no more:
// nothing shows the code of functions that are not touched themselves.

// referenceTargets touches what is at the targets of direct branches in touched functions.
// Those of functions whose code cannot be read are left out: making their objects fails,
// and says so.
func referenceTargets(ctx context.Context, p *model.Plan, t *referenced) error {
	t.finish()
	var from []int // referenced mappings, those of an object one behind the other
	for i := range p.Mappings {
		if m := &p.Mappings[i]; !m.Clear && t.isReferenced(m, p.Objects[m.Object].Room) {
			from = append(from, i)
		}
	}
	slices.SortStableFunc(from, func(i, j int) int { return cmp.Compare(p.Mappings[i].Object, p.Mappings[j].Object) })
	forkedChildren := t.forkedChildren()
	readers := make(map[*model.Dump]source.FunctionReader)
	var targets []int64 // of last, from the start of its code
	last := -1
	for _, i := range from {
		m := &p.Mappings[i]
		if m.Object != last {
			if err := ctx.Err(); err != nil {
				return err
			}
			last = m.Object
			o := &p.Objects[last]
			r := readers[o.Dump]
			if r == nil {
				r = o.Dump.Source.Functions()
				readers[o.Dump] = r
			}
			targets = targets[:0]
			if err := r.Targets(o.Function, func(to int64) { targets = append(targets, to) }); err != nil {
				continue
			}
			slices.Sort(targets)
			targets = slices.Compact(targets)
		}
		start := m.Addr - m.Off
		for _, to := range targets {
			t.referenceTarget(m.PID, forkedChildren[m.PID], start+uint64(to))
		}
	}
	return nil
}

// referenceTarget touches what a process, or one of its heirs, has at the target of a branch.
// Mappings are taken to be one byte longer than they are, for the sake of return
// addresses; the byte behind the target is in the function there, but not in the one that
// ends in front of it.
func (t *referenced) referenceTarget(pid uint32, forkedChildren []*pieces, addr uint64) {
	addr++
	t.reference(pid, 0, addr)
	for _, of := range forkedChildren {
		of.reference(addr &^ t.ignore)
	}
}

// forkedChildren returns, by process, the code of all processes that have come from it: they may
// have a function from it that branches to one of their own.
func (t *referenced) forkedChildren() map[uint32][]*pieces {
	forkedChildren := make(map[uint32][]*pieces)
	for pid, own := range t.code {
		for _, from := range t.rec.ProcessTree.Line(pid)[1:] {
			if t.code[from] != nil {
				forkedChildren[from] = append(forkedChildren[from], own)
			}
		}
	}
	return forkedChildren
}
