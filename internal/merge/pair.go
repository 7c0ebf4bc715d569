package merge

import (
	"bytes"
	"cmp"
	"slices"
	"sort"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/source"
)

// A pair compares a dump with a more trusted one of the same process.
type pair struct {
	rec          *recording.Recording
	better, less *index

	covered recording.Ranges // addresses of functions of better

	both           map[int]bool // places of better that less has as well
	described      map[int]bool // functions of better with parts of less
	joined         int          // functions of less that better has
	contradictions int          // functions of less where better has other ones
	example        string       // the name of one of these
}

// merge makes functions of less that better has parts of these, and drops those that it contradicts.
func (p *pair) merge() {
	var others []int // places of less with other functions of better
	for i := range p.less.places {
		l := &p.less.places[i]
		var same []int // of the names that are most like it
		best, overlaps := unnamed, false
		p.overlapping(l, func(k int) {
			overlaps = true
			like := p.likeness(k, i)
			if like > best {
				best, same = like, same[:0]
			}
			if like == best {
				same = append(same, k)
			}
		})
		switch {
		case len(same) > 0:
			slices.Sort(same) // by time
			p.join(same, i)
			p.joined++
			if !p.split(l) {
				drop(p.less, l.function)
			}
		case overlaps:
			others = append(others, i)
		}
	}
	for _, i := range others {
		p.decide(i)
	}
}

// newPair returns a pair without results.
func newPair(rec *recording.Recording, better, less *index) *pair {
	p := &pair{rec: rec, better: better, less: less, both: make(map[int]bool), described: make(map[int]bool)}
	for i := range better.places {
		if b := &better.places[i]; !p.isOfOther(b.pid) {
			p.covered = append(p.covered, b.Range)
		}
	}
	p.covered = p.covered.Joined()
	return p
}

// overlapping calls f for places of better that share addresses with one of less: the last ones, or with times
// those nearest to it.
func (p *pair) overlapping(l *place, f func(k int)) {
	time := uint64(recording.LatestTime)
	if p.less.timed {
		time = l.time
	}
	p.better.overlapping(l.Range, time, func(k int) {
		if !p.isOfOther(p.better.places[k].pid) {
			f(k)
		}
	})
}

// isOfOther reports whether an event's process is another one than those of less, such as a forked child.
func (p *pair) isOfOther(pid uint32) bool {
	return pid != 0 && p.better.Source.PID() == p.better.PID && p.rec.Processes[pid] != nil &&
		!slices.ContainsFunc(p.less.Markers, func(m recording.Marker) bool { return m.PID == pid })
}

// likeness returns how much the names of the k-th place of better and the i-th of less are those of one function.
// Registered objects are there at the end only, so their code has to be the same.
func (p *pair) likeness(k, i int) likeness {
	b, l := &p.better.places[k], &p.less.places[i]
	registered := p.less.Source.Traits().Registered
	if b.Lo != l.Lo || registered && b.Hi != l.Hi {
		return differs
	}
	name, code, err := p.better.codes(b.function)
	if err != nil {
		return differs
	}
	if n, ok := p.less.Source.(source.Namer); ok {
		isDump := p.better.Source.Traits().Trust == source.TrustDump && p.less.timed
		// Code that came after the end of a cut dump is other code, whatever its name is. Names that are not the same
		// may be of code that came to this place later, such as another tier of the function.
		if n.IsNamed(l.function, name) {
			if isDump && l.time > p.better.until(k) {
				return differs
			}
			return identical
		}
		if isDump && (b.Hi != l.Hi || max(b.time, l.time)-min(b.time, l.time) > maxApart) {
			return differs
		}
	}
	other, own, err := p.less.codes(l.function)
	if err != nil {
		return differs
	}
	like := compare(name, other)
	if like == differs || registered && len(code) > 0 && !bytes.Equal(code, own) && !bytes.Equal(code, p.unrelocated(l.function)) {
		return differs
	}
	return like
}

// maxApart is how far the times of one function in two files may be apart, in nanoseconds, if its names differ.
const maxApart = 2e6

// unrelocated returns the code of a function of less as a compiler wrote it: LLVM's MCJIT writes a dump
// before it applies relocations.
func (p *pair) unrelocated(function int) []byte {
	if r, ok := p.less.Source.(source.Relocator); ok {
		return r.Unrelocated(function)
	}
	return nil
}

// join makes the function of the i-th place of less a part of those in places of better that have the same.
// With times, it is the one that was loaded nearest; otherwise the last one, or all with the same code.
func (p *pair) join(same []int, i int) {
	l := &p.less.places[i]
	for _, k := range same {
		p.both[k] = true
	}
	traits := p.less.Source.Traits()
	registered := traits.Registered
	switch {
	case p.less.timed:
		apart := func(k int) uint64 {
			t := p.better.places[k].time
			return max(t, l.time) - min(t, l.time)
		}
		same = []int{slices.MinFunc(same, func(x, y int) int { return cmp.Compare(apart(x), apart(y)) })}
	case !registered:
		same = same[len(same)-1:]
	}
	_, own, _ := p.less.codes(l.function)
	for _, k := range same {
		b := &p.better.places[k]
		name, code, _ := p.better.codes(b.function)
		part := model.Part{Source: p.less.Source, Function: l.function, Name: isMadeUp(name)}
		part.Code = registered && len(code) > 0 && k == same[len(same)-1] && !bytes.Equal(code, own)
		fills := registered || !traits.Attached && p.less.MayHaveLines(l.function) || !p.better.HasCode(b.function) && p.less.HasCode(l.function)
		if b.Hi != l.Hi || !fills && !part.Name {
			continue
		}
		p.better.AddPart(b.function, part)
		if fills {
			p.described[b.function] = true
		}
	}
}

// split leaves of a map's line what better does not describe, if anything: a map names regions that better divides,
// HotSpot's stubs after a function with it, and code that came later than the end of a cut dump.
func (p *pair) split(l *place) bool {
	split, ok := p.less.Source.(source.Splitter)
	parts := without(l.Range, p.covered)
	if ok = ok && len(parts) > 0; ok {
		split.Split(l.function, parts)
	}
	return ok
}

// decide drops the i-th place of less if better has another function there.
func (p *pair) decide(i int) {
	l := &p.less.places[i]
	if p.less.Unmapped[l.function] || p.split(l) { // it is known by another place, or no contradiction
		return
	}
	contradicts := false
	p.overlapping(l, func(k int) {
		b := &p.better.places[k]
		// If less has both functions, it knows which of them came later.
		if p.less.timed && (p.both[k] || b.time >= p.less.until(i) || l.time >= p.better.until(k)) {
			return
		}
		contradicts = true
		if p.less.Source.Traits().Registered && p.better.Source.Traits().Registered { // equal evidence
			drop(p.better, b.function)
		}
	})
	if !contradicts {
		return
	}
	drop(p.less, l.function)
	if p.contradictions++; p.contradictions == 1 {
		name, _, _ := p.less.codes(l.function)
		p.example = quote.Printable(string(jitcode.Beginning(name, maxExample)))
	}
}

// maxExample bounds the name of an example, in bytes.
const maxExample = 60

// without returns the parts of a range outside of others, which are in order and disjoint.
func without(r addrs.Range, taken recording.Ranges) (parts []jitcode.Range) {
	next := r.Lo
	keep := func(hi uint64) {
		if hi = min(hi, r.Hi); next < hi {
			parts = append(parts, jitcode.Range{Offset: next - r.Lo, Size: hi - next})
		}
	}
	from := sort.Search(len(taken), func(i int) bool { return taken[i].Hi > r.Lo })
	for ; from < len(taken) && taken[from].Lo < r.Hi; from++ {
		keep(taken[from].Lo)
		next = taken[from].Hi
	}
	keep(r.Hi)
	return parts
}

// drop leaves out a function.
func drop(x *index, function int) {
	if x.Unmapped == nil {
		x.Unmapped = make(map[int]bool)
	}
	x.Unmapped[function] = true
}
