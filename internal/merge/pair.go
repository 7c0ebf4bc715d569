package merge

import (
	"bytes"
	"cmp"
	"slices"

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
		var same []int
		overlaps := false
		p.better.overlapping(l.Range, func(k int) {
			if p.isOfOther(p.better.places[k].pid) {
				return
			}
			overlaps = true
			if p.isSame(k, i) {
				same = append(same, k)
			}
		})
		switch {
		case len(same) > 0:
			p.join(same, i)
			p.joined++
			drop(p.less, l.function)
		case overlaps:
			others = append(others, i)
		}
	}
	for _, i := range others {
		p.decide(i)
	}
}

// isOfOther reports whether an event's process is another one than those of less, such as a forked child.
func (p *pair) isOfOther(pid uint32) bool {
	return pid != 0 && p.better.Source.PID() == p.better.PID && p.rec.Processes[pid] != nil &&
		!slices.ContainsFunc(p.less.Markers, func(m recording.Marker) bool { return m.PID == pid })
}

// isSame reports whether the k-th place of better and the i-th of less have one function. Registered objects
// are there at the end only, so their code has to be the same.
func (p *pair) isSame(k, i int) bool {
	b, l := &p.better.places[k], &p.less.places[i]
	registered := p.less.Source.Traits().Registered
	if b.Lo != l.Lo || registered && b.Hi != l.Hi {
		return false
	}
	name, code, err := p.better.codes(b.function)
	if err != nil {
		return false
	}
	other, own, err := p.less.codes(l.function)
	if err != nil || !isAlike(name, other) && !isMadeUp(name) && !isMadeUp(other) {
		return false
	}
	return !registered || len(code) == 0 || bytes.Equal(code, own) || bytes.Equal(code, p.unrelocated(l.function))
}

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
	registered := p.less.Source.Traits().Registered
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
		fills := registered || p.less.MayHaveLines(l.function) || !p.better.HasCode(b.function) && p.less.HasCode(l.function)
		if b.Hi != l.Hi || !fills && !part.Name {
			continue
		}
		p.better.AddPart(b.function, part)
		if fills {
			p.described[b.function] = true
		}
	}
}

// decide drops the i-th place of less if better has another function there. A map may name a region that
// better divides: the rest of the region stays.
func (p *pair) decide(i int) {
	l := &p.less.places[i]
	contradicts := false
	var taken recording.Ranges
	inside := make(map[uint64]bool)
	p.better.overlapping(l.Range, func(k int) {
		b := &p.better.places[k]
		if p.isOfOther(b.pid) {
			return
		}
		taken = append(taken, b.Range)
		inside[b.Lo] = inside[b.Lo] || b.Lo >= l.Lo && b.Hi <= l.Hi
		if p.less.timed && p.better.timed {
			// If less has both functions, it knows which of them came later.
			contradicts = contradicts || !p.both[k] && b.time < p.less.until(i) && l.time < p.better.until(k)
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
	parts := without(l.Range, taken.Joined())
	split, ok := p.less.Source.(source.Splitter)
	if ok && len(parts) > 0 && (len(inside) > 1 || !inside[l.Lo]) {
		split.Split(l.function, parts)
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
	for _, t := range taken {
		keep(t.Lo)
		next = max(next, t.Hi)
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
