package v8

import (
	"cmp"
	"slices"
	"sort"

	"github.com/jitinject/jitinject/internal/sorting"
)

// A place is where code lies.
type place struct{ addr, size uint64 }

// A load is optimized code in a dump.
type load struct {
	function int
	time     uint64 // nanoseconds
	key      uint64 // hash of the name
}

// loads are the optimized functions of a dump.
type loads struct {
	groups map[objectID]*group
	count  int
	taken  map[int]bool // functions that are paired, while a log is matched
}

func newLoads() loads { return loads{groups: make(map[objectID]*group), taken: make(map[int]bool)} }

// add adds a load. They are sorted before a log is matched.
func (l *loads) add(at place, one load) {
	l.count++
	id := objectID{at, one.key}
	if l.groups[id] == nil {
		l.groups[id] = new(group)
	}
	l.groups[id].loads = append(l.groups[id].loads, one)
}

// sort sorts the loads of each group by time.
func (l *loads) sort() {
	for _, g := range l.groups {
		sorting.Stable(g.loads, func(a, b load) int { return cmp.Compare(int64(a.time), int64(b.time)) })
	}
}

// A group is the loads of equal places and names, by time.
type group struct {
	loads []load
	taken int // number of those that are paired, while a log is matched
}

// A pairing is the result for one isolate of a log, or for several.
type pairing struct {
	pairs []pair
	near  int // number of pairs with times that are near
	apart int // code of equal places and names with times that do not fit
}

// A pair is code that the dump and the log have.
type pair struct {
	function int   // of the dump
	object   int32 // of the log
	distance int64 // of their times from the usual difference, in nanoseconds
}

// near and tolerance are how far the difference of times is from that of its isolate, in
// nanoseconds: usually, and at most. V8 writes to both files within 30 µs, but a thread may be
// stopped between.
const (
	near      = 2e6
	tolerance = 200e6
)

// A candidate is a load that may be the code of an object.
type candidate struct {
	object   int32
	group    *group
	load     load
	distance int64 // as in pair
}

// An objectID has the values that a pair shares, besides the time.
type objectID struct {
	place
	key uint64
}

func (o *object) id() objectID { return objectID{place{o.addr, o.size}, o.key} }

// match pairs the objects of an index with loads. In one log, an object and a load belong to one
// pair. Loads that other logs describe are not left out: a log may be a copy of another one, or have
// more of it. The objects of an isolate are side by side.
func (l *loads) match(x *index) (found pairing) {
	for first := 0; first < len(x.objects); {
		end := first + 1
		for end < len(x.objects) && x.objects[end].isolate == x.objects[first].isolate {
			end++
		}
		l.matchIsolate(x.objects[first:end], int32(first), &found)
		first = end
	}
	for _, p := range found.pairs {
		l.groups[x.objects[p.object].id()].taken--
	}
	clear(l.taken)
	return found
}

// matchIsolate pairs the objects of an isolate. first is the index of the first one.
func (l *loads) matchIsolate(objects []object, first int32, found *pairing) {
	offsets := l.offsets(objects)
	if len(offsets) == 0 {
		return
	}
	common := densest(offsets)
	var all []candidate
	for i := range objects {
		if g := l.groups[objects[i].id()]; g != nil {
			all = g.appendNear(all, first+int32(i), objects[i].nanoseconds()+common)
		}
	}
	// The best pairs first.
	sorting.Stable(all, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	paired := make(map[int32]bool)
	for _, c := range all {
		if paired[c.object] || l.taken[c.load.function] {
			continue
		}
		paired[c.object], l.taken[c.load.function] = true, true
		c.group.taken++
		if c.distance <= near {
			found.near++
		}
		found.pairs = append(found.pairs, pair{c.load.function, c.object, c.distance})
	}
	for i := range objects {
		if g := l.groups[objects[i].id()]; g != nil && !paired[first+int32(i)] && g.taken < len(g.loads) {
			found.apart++
		}
	}
}

// nanoseconds returns the object's time.
func (o *object) nanoseconds() int64 { return int64(o.time) * 1000 }

// maxChoices bounds the loads that are compared with one object.
const maxChoices = 64

// offsets returns differences of times of the dump and of an isolate, in nanoseconds: where only
// one pair is possible, or else of objects and loads that have nearly the same rank in their group.
func (l *loads) offsets(objects []object) (offsets []int64) {
	count := make(map[objectID]int)
	for i := range objects {
		count[objects[i].id()]++
	}
	for i := range objects {
		id := objects[i].id()
		if g := l.groups[id]; g != nil && count[id] == 1 && g.taken == 0 && len(g.loads) == 1 {
			offsets = append(offsets, int64(g.loads[0].time)-objects[i].nanoseconds())
		}
	}
	if len(offsets) > 0 {
		return offsets
	}
	clear(count)
	for i := range objects {
		id := objects[i].id()
		g := l.groups[id]
		if g == nil {
			continue
		}
		rank := g.taken + count[id]
		count[id]++
		for k := max(rank-maxChoices/2, 0); k < min(rank+maxChoices/2, len(g.loads)); k++ {
			if !l.taken[g.loads[k].function] {
				offsets = append(offsets, int64(g.loads[k].time)-objects[i].nanoseconds())
			}
		}
	}
	return offsets
}

// appendNear appends the loads that an object may be, at a time of the dump.
func (g *group) appendNear(all []candidate, object int32, time int64) []candidate {
	at := sort.Search(len(g.loads), func(i int) bool { return int64(g.loads[i].time) >= time })
	for k := max(at-maxChoices/2, 0); k < min(at+maxChoices/2, len(g.loads)); k++ {
		if d := int64(g.loads[k].time) - time; -tolerance <= d && d <= tolerance {
			all = append(all, candidate{object, g, g.loads[k], max(d, -d)})
		}
	}
	return all
}

// densest returns the middle of the most values that are near each other.
func densest(values []int64) int64 {
	slices.Sort(values)
	best, at, lo := 0, 0, 0
	for hi := range values {
		for values[hi]-values[lo] > near {
			lo++
		}
		if n := hi - lo + 1; n > best {
			best, at = n, lo
		}
	}
	return values[at+(best-1)/2]
}
