package clock

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/source"
)

// isPartlyTimed reports whether a dump may lack times.
func isPartlyTimed(d *model.Dump) bool {
	_, ok := d.Source.(source.PartlyTimed)
	return ok
}

// matchCaptures sets the time of code in captures that have none, or one from before the program:
// the start of the program. It returns true if no capture has a time, so that no clock matters.
// It then also sets the dump's clock.
func matchCaptures(d *model.Dump, rec *recording.Recording, mode string) bool {
	c, ok := d.Source.(source.PartlyTimed)
	if !ok {
		return false
	}
	back, earliest := Shifted(0), uint64(0)
	offset, given, err := GivenOffset(mode)
	if given = given && err == nil && c.HasTimes(); given {
		back = Shifted(-offset)
	}
	if given || rec.ClockError() == "" {
		earliest = back(FirstProgram(rec, d.Markers[0].PID))
	}
	files := filesOver(rec, d)
	c.StartAt(earliest, func(addr uint64) uint64 { return back(max(captureStart(rec, d, addr), files(addr))) })
	if c.HasTimes() {
		return false
	}
	d.Clock, d.Match = Shifted(0), report.Clock{Kind: report.ClockStart, Error: -1}
	return true
}

// FirstProgram returns when the first program began that a process ran in the recording. Nothing
// from before that exists afterwards.
func FirstProgram(rec *recording.Recording, pid uint32) uint64 {
	if first, ok := rec.ProcessTree.FirstExec(pid); ok {
		return first
	}
	if p := rec.Processes[pid]; p != nil {
		return p.Since
	}
	return 0
}

// captureStart returns the time from which code without a time is at an address. In a stream, the
// records of the memory around it have been written already, and hide earlier mappings. So the
// code begins after them.
func captureStart(rec *recording.Recording, d *model.Dump, addr uint64) uint64 {
	start := d.Markers[0].Time
	if !rec.In.Once {
		return start
	}
	for _, p := range rec.Related(d.Markers) {
		for i := range p.FileMaps {
			if m := &p.FileMaps[i]; m.Name == "" && addr >= m.Lo && addr < m.Hi {
				start = max(start, m.Time+1)
			}
		}
	}
	return start
}

// filesOver returns a function that returns the time after which no file was mapped at an address, or 0
// if none ever was. Code without a time that is there in the end came after the last such file.
func filesOver(rec *recording.Recording, d *model.Dump) func(addr uint64) uint64 {
	p := rec.Processes[d.PID]
	if p == nil {
		return func(uint64) uint64 { return 0 }
	}
	since := d.Markers[0].Time
	var maps []recording.FileMap
	for _, m := range p.FileMaps {
		if m.Name != "" && m.Time >= since {
			maps = append(maps, m)
		}
	}
	for _, m := range p.Others { // no anonymous memory
		if m.Time >= since {
			maps = append(maps, m)
		}
	}
	slices.SortStableFunc(maps, func(a, b recording.FileMap) int { return cmp.Compare(a.Time, b.Time) })
	line := new(addrs.Timeline)
	for i := range maps {
		line.Add(addrs.Range{Lo: maps[i].Lo, Hi: maps[i].Hi})
	}
	return func(addr uint64) uint64 {
		if i := line.Last(addrs.Range{Lo: addr, Hi: addr + 1}, 0, len(maps)); i >= 0 {
			return maps[i].Time + 1
		}
		return 0
	}
}
