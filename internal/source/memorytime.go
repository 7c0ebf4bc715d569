package source

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// When a memory was taken, nobody says: what is in it does. Code that was loaded over
// other code after that is not in it, though something is at its place; wrong
// instructions are worse than none.

// A CodeSource is a memory in which code may be found.
type CodeSource struct {
	jitcode.Memory

	// Snapshot says that it was taken at one time, which nobody knows: a core dump. Files
	// have at all times what they have.
	Snapshot bool
}

// A CodeWorld says what is known beside a dump of where its functions were. Functions
// may be nil.
type CodeWorld struct {
	// Skip reports that there is no such function: it is garbage.
	Skip func(function int) bool

	// InFile reports whether an address is in memory that a file is mapped to: it has
	// code before a function there is loaded.
	InFile func(addr uint64) bool

	// Mapped reports whether memory was mapped at an address after a time of the dump:
	// zeros there do not mean that nothing had been there.
	Mapped func(addr, since uint64) bool
}

// A takenTime bounds when a memory was taken, by the clock of the dump: from on, and before
// before.
type takenTime struct{ from, before uint64 }

// anyTime is all that is known of a memory of which nothing is known.
var anyTime = takenTime{0, ^uint64(0)}

const (
	// granule is how much memory is looked at as one. Runtimes fill what they have got from
	// the system from its beginning on, and give it back as a whole: where nothing has
	// been that far up, nothing has been written.
	granule = 64 << 10

	// enoughPresent of consecutive functions, or all but one in eight of them, must be there
	// to show that the memory is from a later time. A few are always there by chance.
	enoughPresent = 16

	// fewPresent is how many times more functions must be missing than be there, from
	// where on a memory is said to know nothing.
	fewPresent = 20
)

// timeOf finds out from a memory, and the functions that lie where none was before, when
// the memory was taken. What is not there although its time had come is usual: it was gone
// again. So is what is there by chance.
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
	high := make(map[uint64]uint64) // by granule: up to where there has been code
	for _, i := range order {
		e := &events[i]
		if e.Size == 0 || e.Size > MaxRange || e.Addr+e.Size < e.Addr || world.Skip != nil && world.Skip(e.Function) {
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

// inSnapshot returns by function whether its bytes are those in a memory, if anything
// is at its place, and how many functions were loaded after it was taken for sure.
func inSnapshot(t takenTime, events []jitcode.Event, functions int, world CodeWorld) (known []bool, late int) {
	before := make([]jitcode.Event, 0, len(events))
	known = make([]bool, functions)
	for i := range events {
		e := &events[i]
		switch {
		case e.Function >= functions || world.Skip != nil && world.Skip(e.Function):
		case e.Time >= t.before && (world.InFile == nil || !world.InFile(e.Addr)):
			late++
		default:
			before = append(before, *e)
			known[e.Function] = true
		}
	}
	gone := replaced(before, functions)
	// What was replaced, backwards in time, is what lies where something was before. It is
	// there only if the memory is of a later time.
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
