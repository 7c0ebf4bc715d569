package clock

import (
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/source"
)

func isPartlyTimed(d *model.Dump) bool {
	_, ok := d.Source.(source.PartlyTimed)
	return ok
}

// matchCaptures decides since when the code of captures is there that do not say it, or say a time before
// the program: from its start on. It reports whether none of them says it, so that no clock matters.
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
	c.StartAt(earliest, func(addr uint64) uint64 { return back(captureStart(rec, d, addr)) })
	if c.HasTimes() {
		return false
	}
	d.Clock, d.Match = Shifted(0), report.Clock{Kind: report.ClockStart, Error: -1}
	return true
}

// FirstProgram returns when the first program began that a process ran in the recording. Nothing
// that was there before is there afterwards.
func FirstProgram(rec *recording.Recording, pid uint32) uint64 {
	if execs := rec.ProcessTree.Execs[pid]; len(execs) > 0 {
		return execs[0]
	}
	if p := rec.Processes[pid]; p != nil {
		return p.Since
	}
	return 0
}

// captureStart returns since when code without a time is at an address. Of a stream, the records of the
// memory that it is in have gone their way when it is known, and hide what was there before them.
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
