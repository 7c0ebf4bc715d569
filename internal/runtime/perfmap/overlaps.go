package perfmap

import (
	"cmp"
	"hash/maphash"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/sorting"
)

// Where lines overlap, a later one counts: its code was written over the earlier one's. perf has no
// rule for that. It looks in a tree of intervals that must not overlap, and takes the one that it
// comes to first, or none.

// resolve makes the events. No two of them overlap. A line that a later one splits has several.
func (m *Map) resolve() {
	var owners addrs.Owners
	for i := range m.lines { // code counts before addresses without any
		if l := &m.lines[i]; l.size == 0 {
			owners.Place(l.start, l.start+1, i)
		}
	}
	for i := range m.lines {
		if l := &m.lines[i]; l.size > 0 {
			owners.Place(l.start, l.start+l.size, i)
		}
	}
	last := make(map[uint64]int32, len(m.lines)) // by the hash of the line without its offset
	for i := range m.lines {
		last[m.lines[i].key()] = int32(i)
	}
	// All parts at once, by line and address: a line may reach over the parts of all others.
	all := make([]addrs.Tenancy, 0, len(m.lines))
	owners.Each(0, math.MaxUint64, func(t addrs.Tenancy) bool {
		all = append(all, t)
		return true
	})
	m.parts, m.Events = slices.Grow(m.parts, len(all)), slices.Grow(m.Events, len(all))
	sorting.Stable(all, func(a, b addrs.Tenancy) int { return cmp.Compare(a.Owner, b.Owner) })
	for i := range m.lines {
		l := &m.lines[i]
		size := max(l.size, 1) // perf names a sample at the very start
		n := 0
		for n < len(all) && all[n].Owner == i {
			n++
		}
		parts := all[:n]
		all = all[n:]
		switch {
		case len(parts) == 0 && int(last[l.key()]) > i:
			m.Repeated++
			continue
		case len(parts) == 0 && l.size == 0: // another name of that code
			continue
		case len(parts) == 0:
			m.Hidden++
			m.countReplaced(&owners, i)
			continue
		}
		whole := len(parts) == 1 && parts[0].Hi-parts[0].Lo == size
		if !whole {
			m.countReplaced(&owners, i)
		}
		for _, p := range parts {
			n := len(m.parts)
			m.parts = append(m.parts, part{int32(i), whole && l.size > 0})
			m.Events = append(m.Events, jitcode.Event{Kind: jitcode.Load, Function: int32(n), Index: uint64(n), Addr: p.Lo, Size: p.Hi - p.Lo})
			m.Code.HighAddress = max(m.Code.HighAddress, p.Hi)
		}
	}
}

// mostTenants bounds the parts of a line that countReplaced looks at.
const mostTenants = 16

// countReplaced counts a line that lost addresses, unless all of them have its name: Ruby's YJIT writes
// a line for each block of a method, and a block overwrites the end of another.
func (m *Map) countReplaced(owners *addrs.Owners, i int) {
	l := &m.lines[i]
	n := 0
	owners.Each(l.start, l.start+max(l.size, 1), func(t addrs.Tenancy) bool {
		if n++; m.lines[t.Owner].name != l.name || n == mostTenants {
			m.Replaced++
			return false
		}
		return true
	})
}

// key returns a line without its place in the file.
func (l line) key() uint64 {
	l.offset, l.length = 0, 0
	return maphash.Comparable(seed, l)
}

// Split implements source.Splitter.
func (m *Map) Split(function int, parts []jitcode.Range) {
	m.DropIndex()
	whole := m.Events[function]
	for k, r := range parts {
		n := function
		if k > 0 {
			n = len(m.parts)
			m.parts, m.Events = append(m.parts, m.parts[function]), append(m.Events, whole)
		}
		m.parts[n].whole = false
		e := &m.Events[n]
		e.Function, e.Index, e.Addr, e.Size = int32(n), uint64(n), whole.Addr+r.Offset, r.Size
	}
}
