package samplerefs

import (
	"context"
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/recording"
)

// Ranges are ranges of addresses of processes. They know which of them something refers to, at any
// time.
//
// perf looks an address up among the mappings of a process, its own or inherited from an ancestor,
// at a time. A range is referenced if any address in it is, at any time, in its process or a
// descendant. So all ranges that perf may look into are referenced.
type Ranges struct {
	rec    *recording.Recording
	ignore uint64                    // bits of an address that are no part of the location
	of     map[uint32]*pieces        // by process, from its own ranges
	spaces recording.Descent[*space] // by process, with those of ancestors
	below  map[uint32][]*pieces      // by process, those of all its descendants; nil until they are needed
	seen   cache
}

// A space is what a process and its ancestors have. It is nil if there is nothing.
type space struct {
	lo, hi uint64 // bounds of all of it, both included
	of     []*pieces
}

// pieces are the addresses of a process's ranges, cut wherever one begins or ends.
type pieces struct {
	starts     []uint64 // in ascending order, without duplicates
	referenced []bool   // from the start with the same index to the next one
	finished   []uint64 // the starts of those that were referenced when Finish was called
}

// NewRanges returns all ranges of processes. ignore are the bits of an address that are no part of the
// location. The first address after a range counts as part of it: the last instruction may be a call
// that never returns. all is used twice.
func NewRanges(rec *recording.Recording, ignore uint64, all iter.Seq2[uint32, addrs.Range]) *Ranges {
	r := &Ranges{rec: rec, ignore: ignore, of: make(map[uint32]*pieces)}
	r.spaces = recording.Descent[*space]{Tree: &rec.ProcessTree, Own: func(pid uint32) bool { return r.of[pid] != nil }, Of: r.spaceOf}
	numbers := make(map[uint32]int)
	for pid := range all {
		numbers[pid] += 2
	}
	for pid, n := range numbers {
		r.of[pid] = &pieces{starts: make([]uint64, 0, n)}
	}
	for pid, a := range all {
		a, p := r.located(a), r.of[pid]
		p.starts = append(p.starts, a.Lo, a.Hi)
	}
	for _, p := range r.of {
		slices.Sort(p.starts)
		p.starts = slices.Compact(p.starts)
		p.referenced = make([]bool, len(p.starts))
	}
	return r
}

// located returns the addresses that count as a range.
func (r *Ranges) located(a addrs.Range) addrs.Range {
	lo, hi := a.Lo&^r.ignore, a.Hi-a.Lo+a.Lo&^r.ignore
	return addrs.Range{Lo: lo, Hi: hi + min(1, math.MaxUint64-hi)}
}

// Find finds the references of the samples. Its errors are those of [Each].
func (r *Ranges) Find(ctx context.Context) error {
	var mu sync.Mutex
	bounds := func(pid uint32) (lo, hi uint64, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		return r.bounds(pid)
	}
	return Each(ctx, r.rec, bounds, func(pid uint32, _, addr uint64) (until uint64) {
		mu.Lock()
		defer mu.Unlock()
		r.Reference(pid, addr)
		return Always
	})
}

// spaceOf returns what processes have together, or nil.
func (r *Ranges) spaceOf(line []uint32) (s *space) {
	for _, pid := range line {
		if of := r.of[pid]; of != nil {
			if s == nil {
				s = &space{lo: of.starts[0]}
			}
			s.lo, s.hi = min(s.lo, of.starts[0]), max(s.hi, of.starts[len(of.starts)-1])
			s.of = append(s.of, of)
		}
	}
	return s
}

// bounds returns the addresses between which a process may have ranges.
func (r *Ranges) bounds(pid uint32) (lo, hi uint64, ok bool) {
	s := r.spaces.Get(pid)
	switch {
	case s == nil:
		return 0, 0, false
	case r.ignore>>48 != 0: // signed addresses are anywhere
		return 0, math.MaxUint64, true
	}
	return s.lo, s.hi, true
}

// Has reports whether a process or one of its ancestors has any ranges.
func (r *Ranges) Has(pid uint32) bool { return r.spaces.Get(pid) != nil }

// Reference records that a process refers to an address. The process may have no ranges.
func (r *Ranges) Reference(pid uint32, addr uint64) {
	if s := r.seen.at(pid, addr); s.addr != addr || s.pid != pid {
		*s = seenReference{addr: addr, pid: pid}
		r.seen.misses++
		if in := r.spaces.Get(pid); in != nil {
			for _, of := range in.of {
				of.reference(addr &^ r.ignore)
			}
		}
	}
}

// ReferenceTarget records that a function of a process branches to an address. A descendant may have
// inherited the function, and have ranges of its own there. The byte after the target is recorded,
// because ranges count as one byte longer, for return addresses. That byte is in the function at the
// target, but not in one that ends there.
func (r *Ranges) ReferenceTarget(pid uint32, addr uint64) {
	addr++
	r.Reference(pid, addr)
	for _, of := range r.descendants()[pid] {
		of.reference(addr &^ r.ignore)
	}
}

func (r *Ranges) descendants() map[uint32][]*pieces {
	if r.below == nil {
		r.below = make(map[uint32][]*pieces)
		for pid, own := range r.of {
			parent, only := r.rec.ProcessTree.OnlyParent(pid)
			if only && !r.Has(parent) {
				continue
			}
			for _, from := range r.rec.ProcessTree.Line(pid)[1:] {
				if r.of[from] != nil {
					r.below[from] = append(r.below[from], own)
				}
			}
		}
	}
	return r.below
}

// reference records that an address is referenced.
func (p *pieces) reference(addr uint64) {
	i, found := slices.BinarySearch(p.starts, addr)
	if !found {
		i--
	}
	if i >= 0 {
		p.referenced[i] = true
	}
}

// Finish makes IsReferenced know the references so far.
func (r *Ranges) Finish() {
	for _, p := range r.of {
		p.finished = p.finished[:0]
		for i, is := range p.referenced[:len(p.starts)-1] {
			if is {
				p.finished = append(p.finished, p.starts[i])
			}
		}
	}
}

// IsReferenced reports whether an address in one of the ranges of a process was referenced when Finish
// was called.
func (r *Ranges) IsReferenced(pid uint32, a addrs.Range) bool {
	of, a := r.of[pid].finished, r.located(a)
	i, _ := slices.BinarySearch(of, a.Lo)
	return i < len(of) && of[i] < a.Hi
}
