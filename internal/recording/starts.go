package recording

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/sorting"
)

// Starts give, for an address of a program, the time from which it may have code without a time.
//
// A mapping for such code replaces anonymous memory: the result has no records of that. All other
// records stay. Each hides earlier mappings at its addresses.
type Starts struct {
	memory, kept record
}

// A record has mappings in the order of their times.
type record struct {
	maps []FileMap
	line *addrs.Timeline
}

func newRecord(maps []FileMap) record {
	sorting.Stable(maps, func(a, b FileMap) int { return cmp.Compare(a.Time, b.Time) })
	ranges := make([]addrs.Range, len(maps))
	for i := range maps {
		ranges[i] = addrs.Range{Lo: maps[i].Lo, Hi: maps[i].Hi}
	}
	return record{maps, addrs.NewTimeline(ranges)}
}

// StartsOf returns the starts for the program that a process runs at a time.
func StartsOf(rec *Recording, pid uint32, time uint64) *Starts {
	var memory, kept []FileMap
	for _, m := range rec.FileMapsOf(pid, time) {
		if m.Name == "" {
			memory = append(memory, m)
		} else {
			kept = append(kept, m)
		}
	}
	if p := rec.Processes[pid]; p != nil {
		since, until := rec.ProgramStart(pid, time), rec.ProcessTree.LifeEnd(pid, time)
		for i := range p.Others {
			if m := &p.Others[i]; m.Time >= since && m.Time < until {
				kept = append(kept, *m)
			}
		}
	}
	return &Starts{newRecord(memory), newRecord(kept)}
}

// At returns the time of the first mapping of memory at an address that no other record hides since,
// or the earliest time after a record that is memory itself. If a file was mapped last, At returns
// the time after that: perf does not record that memory becomes executable. At returns 0 if nothing
// but anonymous memory was ever there.
func (s *Starts) At(addr uint64) uint64 {
	at := addrs.Range{Lo: addr, Hi: addr + 1}
	k := s.kept.line.Last(at, 0, len(s.kept.maps))
	if k < 0 {
		return 0
	}
	last := &s.kept.maps[k]
	from, _ := slices.BinarySearchFunc(s.memory.maps, last.Time, func(m FileMap, time uint64) int { return cmp.Compare(m.Time, time) })
	m := s.memory.line.First(at, from, len(s.memory.maps))
	switch {
	case m >= 0:
		return max(s.memory.maps[m].Time, last.Time+1)
	case last.Name != "":
		return last.Time + 1
	}
	return 0
}
