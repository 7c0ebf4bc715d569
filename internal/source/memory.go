package source

import (
	"cmp"
	"container/heap"
	"math/bits"
	"slices"
	"sort"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// Formats without code give only addresses. The bytes come from a memory of the process, which was
// captured at one time.

// A WithoutCode is a Dump of a format that has no bytes of code.
type WithoutCode interface {
	// CodeFrom sets the sources of code bytes, the best first. It returns for each source how many
	// functions were loaded after its capture. It must precede HasCode, and must not run while
	// functions are read.
	CodeFrom(sources []CodeSource, world CodeWorld) (late []int)
}

// A LackingCode is a Dump of a format with code that may lack the bytes of some functions.
type LackingCode interface {
	LacksCode() bool
	// FillCode is WithoutCode's CodeFrom.
	FillCode(sources []CodeSource, world CodeWorld) (late []int)
}

// A CodeMemory reads the bytes of a dump's functions from memories. The zero value has no memories.
// Several goroutines may use it at once.
type CodeMemory struct {
	sources []CodeSource
	known   [][]bool // by source and function: whether it may have that function's bytes
}

// NewCodeMemory returns the code of functions that were loaded by events, where sources have it.
// late counts, by source, the functions loaded after its capture. Functions may have shared
// addresses. Then a snapshot has the function loaded last before its capture, and a file the latest
// one.
func NewCodeMemory(sources []CodeSource, events []jitcode.Event, functions int, world CodeWorld) (c CodeMemory, late []int) {
	c.sources = sources
	for _, s := range sources {
		var known []bool
		n := 0
		if s.Snapshot {
			known, n = inSnapshot(timeOf(s.Memory, events, world), events, functions, world)
		} else {
			known = replaced(events, functions)
			for i := range known {
				known[i] = !known[i]
			}
		}
		c.known = append(c.known, known)
		late = append(late, n)
	}
	return c, late
}

// Read reads a function's code into buf, which grows if it must. It returns nil if the bytes are
// unknown.
func (c *CodeMemory) Read(function int, addr, size uint64, buf []byte) []byte {
	if size == 0 || size > maxCode {
		return nil
	}
	for i, mem := range c.sources {
		if !c.known[i][function] {
			continue
		}
		var b [unwritten]byte // probe before allocating the whole size
		if begin := b[:min(size, unwritten)]; mem.ReadCode(addr, begin) != nil || isUnwritten(begin) || mem.ReadCode(addr+size-1, b[:1]) != nil {
			continue
		}
		buf = slices.Grow(buf[:0], int(size))[:size]
		if mem.ReadCode(addr, buf) == nil && !isUnwritten(buf) {
			return buf
		}
	}
	return nil
}

// maxCode is the size of the longest function that is searched for, in bytes.
const maxCode = 256 << 20

// Has reports whether Read would find a function's code.
func (c *CodeMemory) Has(function int, addr, size uint64) bool {
	return c.Read(function, addr, size, nil) != nil
}

// unwritten is a number of zero bytes that no function begins with. Zeros are invalid on most
// machines, and on the others an instruction that compilers do not emit there.
const unwritten = 16

// isUnwritten reports whether code begins with zeros only: no code was written there yet.
func isUnwritten(code []byte) bool {
	return !slices.ContainsFunc(code[:min(len(code), unwritten)], func(b byte) bool { return b != 0 })
}

// replaced returns, by function, whether another function later overlapped it.
func replaced(events []jitcode.Event, functions int) []bool {
	gone := make([]bool, functions)
	list := make([]loaded, 0, len(events))
	for i := range events {
		if e := &events[i]; e.Size > 0 && e.Addr+e.Size > e.Addr && e.Function < functions {
			list = append(list, loaded{e.Addr, e.Addr + e.Size, e.Time, i, e.Function})
		}
	}
	// If a function was loaded repeatedly at one address, the last time counts.
	slices.SortFunc(list, func(a, b loaded) int {
		return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.function, b.function), cmp.Compare(b.time, a.time), cmp.Compare(b.order, a.order))
	})
	list = slices.CompactFunc(list, func(a, b loaded) bool { return a.lo == b.lo && a.function == b.function })
	// An overlapping function begins before the other one, or inside it.
	var open latestFirst
	inside := latest{list: list}
	for i := range list {
		l := &list[i]
		for len(open) > 0 && open[0].hi <= l.lo {
			heap.Pop(&open)
		}
		if len(open) > 0 && open[0].after(l) {
			gone[l.function] = true
		}
		n := sort.Search(len(list)-i-1, func(k int) bool { return list[i+1+k].lo >= l.hi })
		if n > 0 && inside.of(i+1, i+1+n).after(l) {
			gone[l.function] = true
		}
		heap.Push(&open, l)
	}
	return gone
}

// A loaded is a function's address range and load time.
type loaded struct {
	lo, hi   uint64
	time     uint64
	order    int // decides if times are equal
	function int
}

// after reports whether l came after o. It is false for the same function at the same address.
func (l *loaded) after(o *loaded) bool {
	return (l.function != o.function || l.lo != o.lo) && later(l, o) == l
}

// latestFirst is a heap with the latest function first.
type latestFirst []*loaded

// Len implements heap.Interface.
func (h latestFirst) Len() int { return len(h) }

// Less implements heap.Interface.
func (h latestFirst) Less(i, j int) bool { return later(h[i], h[j]) == h[i] }

// Swap implements heap.Interface.
func (h latestFirst) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *latestFirst) Push(x any) { *h = append(*h, x.(*loaded)) }

// Pop implements heap.Interface.
func (h *latestFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// A latest finds the latest of a run of functions. For long runs it has levels: level k has the
// latest of each run of 2^k.
type latest struct {
	list   []loaded
	levels [][]*loaded
}

// shortRun is the longest run that is searched linearly. Rarely do more functions begin inside one
// function.
const shortRun = 16

// of returns the latest of [i, j), which is not empty.
func (t *latest) of(i, j int) *loaded {
	if j-i <= shortRun {
		l := &t.list[i]
		for k := i + 1; k < j; k++ {
			l = later(l, &t.list[k])
		}
		return l
	}
	if t.levels == nil {
		t.build()
	}
	k := bits.Len(uint(j-i)) - 1
	return later(t.levels[k][i], t.levels[k][j-1<<k])
}

// build fills the levels.
func (t *latest) build() {
	below := make([]*loaded, len(t.list))
	for i := range t.list {
		below[i] = &t.list[i]
	}
	t.levels = append(t.levels, below)
	for n := 2; n <= len(t.list); n *= 2 {
		level := make([]*loaded, len(t.list)-n+1)
		for i := range level {
			level[i] = later(below[i], below[i+n/2])
		}
		t.levels = append(t.levels, level)
		below = level
	}
}

// later returns the function that was loaded later.
func later(a, b *loaded) *loaded {
	if b.time > a.time || b.time == a.time && b.order > a.order {
		return b
	}
	return a
}
