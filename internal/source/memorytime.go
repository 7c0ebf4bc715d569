package source

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// The capture time of a memory is unknown, but its content bounds it. Code that was loaded over
// other code after the capture is missing, although its addresses have bytes. Wrong instructions
// are worse than none.

// A CodeSource is a memory that may contain code.
type CodeSource struct {
	jitcode.Memory

	// Snapshot marks a memory captured at one unknown time: a core dump. The content of a file is
	// the same at all times.
	Snapshot bool
}

// A CodeWorld has facts about functions' addresses from outside the dump. Each of its functions may
// be nil.
type CodeWorld struct {
	// Skip reports that there is no such function: it is garbage.
	Skip func(function int) bool

	// InFile reports whether a file is mapped at an address. Such memory has code before a function
	// there is loaded.
	InFile func(addr uint64) bool

	// Mapped reports whether memory was mapped at an address after a time of the dump. Then zeros
	// do not show that the memory was empty before.
	Mapped func(addr, since uint64) bool
}

// A takenTime bounds the capture time of a memory, by the clock of the dump: from is inclusive,
// before is exclusive.
type takenTime struct{ from, before uint64 }

// anyTime is the bound for a memory without any clue.
var anyTime = takenTime{0, ^uint64(0)}

const (
	// granule is the size of a block of memory, in bytes. Runtimes fill a block from its start, and
	// free it as a whole. So memory above the highest code in a block was never written.
	granule = 64 << 10

	// enoughPresent is the size of a window of consecutive functions. If at least 7 of 8 in a
	// window are present, the memory was captured later. A few are always present by chance.
	enoughPresent = 16

	// fewPresent is a ratio: at least so many times more functions are missing than present. From
	// there on, the memory was captured earlier.
	fewPresent = 20
)

// timeOf bounds the capture time of a memory, from functions at addresses without earlier code. Two
// exceptions are usual. Functions may be missing although they were loaded before, because they
// were freed again. Others may be present by chance.
func timeOf(mem jitcode.Memory, events []jitcode.Event, world CodeWorld) takenTime {
	order := make([]int32, len(events))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(events[a].Time, events[b].Time) })
	type sign struct {
		time    uint64
		present bool
	}
	var signs []sign
	high := make(map[uint64]uint64) // by granule: end of the highest code so far
	for _, i := range order {
		e := &events[i]
		if e.Size == 0 || e.Size > MaxRange || e.Addr+e.Size < e.Addr || world.Skip != nil && world.Skip(int(e.Function)) {
			continue
		}
		fresh := true
		end := e.Addr + e.Size
		for g := e.Addr / granule; g <= (end-1)/granule; g++ {
			fresh = fresh && high[g] <= e.Addr
			high[g] = max(high[g], end)
		}
		if !fresh || world.InFile != nil && world.InFile(e.Addr) {
			continue
		}
		var b [unwritten]byte
		begin := b[:min(e.Size, unwritten)]
		if mem.ReadCode(e.Addr, begin) != nil {
			continue // it may have been unmapped, or not yet mapped
		}
		present := !isUnwritten(begin)
		if !present && world.Mapped != nil && world.Mapped(e.Addr, e.Time) {
			continue
		}
		signs = append(signs, sign{e.Time, present})
	}
	t := anyTime
	n := len(signs)
	for i, here, missing := len(signs)-1, 0, 0; i >= 0; i-- {
		if signs[i].present {
			here++
		} else {
			missing++
		}
		if here*fewPresent > missing {
			break
		}
		if !signs[i].present {
			t.before, n = signs[i].time, i
		}
	}
	for here := 0; n >= enoughPresent; n-- {
		here = 0
		for _, s := range signs[n-enoughPresent : n] {
			if s.present {
				here++
			}
		}
		if signs[n-1].present && here*8 >= enoughPresent*7 {
			t.from = signs[n-1].time
			break
		}
	}
	return t
}

// inSnapshot returns, by function, whether a memory that has bytes at its address has its bytes.
// late counts the functions that were certainly loaded after the capture.
func inSnapshot(t takenTime, events []jitcode.Event, functions int, world CodeWorld) (known []bool, late int) {
	before := make([]jitcode.Event, 0, len(events))
	known = make([]bool, functions)
	for i := range events {
		e := &events[i]
		switch {
		case int(e.Function) >= functions || world.Skip != nil && world.Skip(int(e.Function)):
		case e.Time >= t.before && (world.InFile == nil || !world.InFile(e.Addr)):
			late++
		default:
			before = append(before, *e)
			known[e.Function] = true
		}
	}
	gone := replaced(before, functions)
	// Replaced functions, backwards in time, are functions at reused addresses. The memory has
	// their code only if it was captured after their load.
	slices.Reverse(before)
	for i := range before {
		before[i].Time = ^before[i].Time
	}
	second := replaced(before, functions)
	for i := range before {
		if e := &before[i]; gone[e.Function] || second[e.Function] && ^e.Time > t.from {
			known[e.Function] = false
		}
	}
	return known, late
}
