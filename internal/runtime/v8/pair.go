package v8

import (
	"cmp"
	"slices"
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
	at    map[place][]load // in the order of the dump
	count int
	taken map[int]bool // functions that are paired
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
	object int32
	load   load
	offset int64 // of the dump's time, in nanoseconds
}

// match pairs the objects of an index with loads. Loads that are taken stay with their object.
func (l *loads) match(x *index) (found pairing) {
	for isolate := range int32(x.isolates) {
		var unique []int64 // differences of times where only one pair is possible
		count := make(map[objectID]int)
		for i := range x.objects {
			if o := &x.objects[i]; o.isolate == isolate {
				count[o.id()]++
			}
		}
		l.each(x, isolate, func(o *object, c candidate, choices int) {
			if choices == 1 && count[o.id()] == 1 {
				unique = append(unique, c.offset)
			}
		})
		if len(unique) == 0 {
			l.each(x, isolate, func(_ *object, c candidate, _ int) { unique = append(unique, c.offset) })
		}
		if len(unique) == 0 {
			continue
		}
		common := densest(unique)
		var all []candidate
		l.each(x, isolate, func(_ *object, c candidate, _ int) { all = append(all, c) })
		// The best pairs first. An object and a load belong to one pair.
		distance := func(c candidate) int64 { return max(c.offset-common, common-c.offset) }
		slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(distance(a), distance(b)) })
		paired := make(map[int32]bool)
		for _, c := range all {
			switch {
			case paired[c.object] || l.taken[c.load.function]:
			case distance(c) > tolerance:
				found.apart++
			default:
				paired[c.object], l.taken[c.load.function] = true, true
				if distance(c) <= near {
					found.near++
				}
				found.pairs = append(found.pairs, pair{c.load.function, c.object})
			}
		}
	}
	return found
}

// An objectID is what pairs compare besides times.
type objectID struct {
	place
	key uint64
}

func (o *object) id() objectID { return objectID{place{o.addr, o.size}, o.key} }

// maxChoices bounds the loads that are compared with one object.
const maxChoices = 64

// each calls f for the possible pairs of an isolate, with the number of choices of the object.
func (l *loads) each(x *index, isolate int32, f func(o *object, c candidate, choices int)) {
	var list []candidate
	for i := range x.objects {
		o := &x.objects[i]
		if o.isolate != isolate {
			continue
		}
		list = list[:0]
		for _, ld := range l.at[place{o.addr, o.size}] {
			if ld.key == o.key && !l.taken[ld.function] && len(list) < maxChoices {
				list = append(list, candidate{int32(i), ld, int64(ld.time) - int64(o.time)*1000})
			}
		}
		for _, c := range list {
			f(o, c, len(list))
		}
	}
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
