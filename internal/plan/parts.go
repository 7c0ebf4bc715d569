package plan

import (
	"runtime"
	"slices"
	"sync"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/report"
)

// A part is a share of the events of a dump, for one worker.
type part struct {
	*placer
	dump     *placedDump
	from, to int // of the events
}

// partsOf divides the events of a dump among all CPUs, if each makes at most one function and one mapping, whatever the
// others make. The results of a part then have room for them in those of p. The first part is of p itself, the only one
// otherwise. order is that of times.
func (p *placer) partsOf(d *placedDump, events []jitcode.Event, order []int32) []part {
	parts := []part{{p, d, 0, len(events)}}
	if !p.Shared || p.rec.CopiesStacks() || d.places != nil || d.Source.Traits().Images || len(events) == 0 ||
		!d.attribution.IsPlain() || d.Clock(events[order[0]].Time) < p.files.latest {
		return parts
	}
	n := runtime.GOMAXPROCS(0)
	for i := range n {
		from, to := len(events)*i/n, len(events)*(i+1)/n
		if i == 0 {
			parts[0].to = to
			continue
		}
		w, functions, own := *p, *p.Functions, *d
		functions.List = p.List[len(p.List):][from:from:to]
		functions.Mappings = p.Mappings[len(p.Mappings):][from:from:to]
		own.line, own.numbers = new(report.DumpSummary), d.numbers[from:from:to]
		w.Functions = &functions
		parts = append(parts, part{&w, &own, from, to})
	}
	return parts
}

// eachPart calls f for all parts at once.
func eachPart(parts []part, f func(*part)) {
	var group sync.WaitGroup
	for i := range parts {
		group.Go(func() { f(&parts[i]) })
	}
	group.Wait()
}

// withRoom returns a list with room for more elements. slices.Grow also clears the room, which the first part of a large list
// need not be.
func withRoom[T any](list []T, more int) []T {
	if len(list) == 0 {
		return make([]T, 0, more)
	}
	return slices.Grow(list, more)
}

// joined returns a list with the elements of a part of its room.
func joined[T any](list, part []T) []T {
	if n := len(list) + len(part); len(part) > 0 && &list[:n][len(list)] == &part[0] {
		return list[:n]
	}
	return append(list, part...)
}
