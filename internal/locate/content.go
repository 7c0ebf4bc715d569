package locate

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/source"
)

// mostSamples is the share of a process's samples in jitted code that a file which is known by its content
// names, in percent. Maps that runtimes write while they run name 99 to 100.
const mostSamples = 90

// IsAlone reports whether a process shares no code with a parent or a child: a recording does not say which of
// them has made it. One of before the recording shares none if it has no memory for code.
func IsAlone(rec *recording.Recording, pid uint32) bool {
	tree := &rec.ProcessTree
	shares := func(child, other uint32, clones bool) bool {
		p := rec.Processes[other]
		return !tree.HasExec(child) && (clones || p != nil && len(p.Memory) > 0)
	}
	for _, b := range tree.ForksOf(pid) {
		if shares(pid, b.Parent, b.Clones) {
			return false
		}
	}
	for _, b := range tree.ForksBy(pid) {
		if shares(b.PID, b.PID, b.Clones) {
			return false
		}
	}
	return true
}

// NamesMost reports whether a dump has functions for nearly all samples of a process in memory that may have
// jitted code.
func NamesMost(rec *recording.Recording, pid uint32, d source.Dump) bool {
	memory := memoryOf(rec, recording.Marker{PID: pid, Time: rec.ProgramStart(pid, 0)})
	var samples []uint64 // addresses, with the numbers of samples there
	counts := make(map[uint64]int64)
	for _, slot := range rec.Histogram.Of(pid) {
		if memory.Hold(slot.IP) {
			samples = append(samples, slot.IP)
			counts[slot.IP] += slot.N
		}
	}
	slices.Sort(samples)
	functions := slices.Clone(d.Scanned().Events)
	slices.SortFunc(functions, func(a, b jitcode.Event) int { return cmp.Compare(a.Addr, b.Addr) })
	var all, named int64
	end := uint64(0) // of the functions that begin up to a sample
	for _, ip := range slices.Compact(samples) {
		for ; len(functions) > 0 && functions[0].Addr <= ip; functions = functions[1:] {
			end = max(end, functions[0].Addr+functions[0].Size)
		}
		if all += counts[ip]; ip < end {
			named += counts[ip]
		}
	}
	return all > 0 && named*100 >= all*mostSamples
}
