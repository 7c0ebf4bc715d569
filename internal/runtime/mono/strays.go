package mono

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
)

// Functions that are none. When a program unloads an AppDomain, Mono's profiler may read of
// a method's code what has been freed, and its log then tells of code in the heap, or
// where there is nothing at all. Named, such places would stand in stacks for methods.

// mostStrays is which part of a log's functions may be no functions; where there are more,
// the recording does not know all memory that the process has executed.
const mostStrays = 1. / 4

// LeaveOutStrays finds the functions of a log that lie in none of the memory which their
// processes could execute, where the recording tells what that was, and says how many
// there are.
func LeaveOutStrays(rec *recording.Recording, d *model.Dump, found *report.Findings) {
	log, ok := d.Source.(*Log)
	if !ok {
		return
	}
	d.Strays = straysOf(rec, log, d.Markers)
	n := log.Astray + len(d.Strays)
	text := fmt.Sprintf("of %d methods it does not say where they really are: nothing could be executed there; they are left out", n)
	switch {
	case n == 0:
	case float64(n) <= mostStrays*float64(log.Astray+len(log.Events)):
		found.Note(fmt.Sprintf("%s: %s (Mono had freed them before it wrote the log, as when AppDomains are unloaded)", quote.Printable(d.Path), text))
	default:
		found.Problem(report.Problem{File: d.Path, Offset: -1, Text: text, Advice: report.AdviceVerify(d.Path)})
	}
}

// straysOf returns such functions, by their numbers.
func straysOf(rec *recording.Recording, log *Log, markers []recording.Marker) map[int]bool {
	if rec.Lost || !rec.KnowsMemory(markers[0]) {
		return nil
	}
	var maps []recording.FileMap
	for _, p := range rec.Family(markers) {
		if len(p.FileMaps) == recording.MaxFileMaps {
			return nil
		}
		maps = append(maps, p.FileMaps...)
	}
	executable := recording.ExactRanges(maps, func(*recording.FileMap) bool { return true })
	strays := make(map[int]bool)
	for i := range log.Events {
		if e := &log.Events[i]; !IsUnplaced(e.Addr) && !(executable.Hold(e.Addr) && executable.Hold(e.Addr+e.Size-1)) {
			strays[e.Function] = true
		}
	}
	if float64(len(strays)) > mostStrays*float64(len(log.Events)) {
		return nil
	}
	return strays
}
