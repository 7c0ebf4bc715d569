package clock

import (
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
	starts := recording.StartsOf(rec, d.Markers[0].PID, recording.LatestTime)
	c.StartAt(earliest, func(addr uint64) uint64 { return back(max(d.Markers[0].Time, starts.At(addr))) })
	if c.HasTimes() {
		return false
	}
	d.Clock, d.Match = Shifted(0), report.Clock{Kind: report.ClockStart, Error: -1}
	if o, ok := c.(source.Offset); ok {
		least, width := o.Offset()
		d.Match = report.Clock{Kind: report.ClockEstimated, Offset: least, Error: width}
	}
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
