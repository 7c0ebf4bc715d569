package source

import (
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

// replaced returns, by function, whether another function later overlapped it. If a function was loaded
// repeatedly at one address, the last time counts.
func replaced(events []jitcode.Event, functions int) []bool {
	var list []*jitcode.Event
	var bounds []uint64 // each range between two of them belongs to a function as a whole
	for i := range events {
		if e := &events[i]; e.Size > 0 && e.Addr+e.Size > e.Addr && int(e.Function) < functions {
			list = append(list, e)
			bounds = append(bounds, e.Addr, e.Addr+e.Size)
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Time < list[j].Time })
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)
	free := make([]int, len(bounds)) // by range: itself if no later function has it, or else a higher one
	for i := range free {
		free[i] = i
	}
	firstFree := func(i int) int {
		for free[i] != i {
			free[i] = free[free[i]]
			i = free[i]
		}
		return i
	}
	type load struct {
		function int32
		addr     uint64
	}
	seen := make(map[load]bool, len(list))
	gone := make([]bool, functions)
	for _, e := range slices.Backward(list) {
		if seen[load{e.Function, e.Addr}] {
			continue
		}
		seen[load{e.Function, e.Addr}] = true
		first, _ := slices.BinarySearch(bounds, e.Addr)
		last, _ := slices.BinarySearch(bounds, e.Addr+e.Size)
		left := last - first
		for i := firstFree(first); i < last; i = firstFree(i) {
			free[i] = i + 1
			left--
		}
		gone[e.Function] = gone[e.Function] || left > 0
	}
	return gone
}
