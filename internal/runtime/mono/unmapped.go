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

// maxUnmapped is which part of a log's functions may be no functions; where there are more,
// the recording does not know all memory that the process has executed.
const maxUnmapped = 1. / 4

// DropUnmapped finds the functions of a log that lie in none of the memory which their
// processes could execute, where the recording tells what that was, and says how many
// there are.
func DropUnmapped(rec *recording.Recording, d *model.Dump, found *report.Findings) {
	log, ok := d.Source.(*Log)
	if !ok {
		return
	}
	d.Unmapped = unmappedOf(rec, log, d.Markers)
	n := log.Astray + len(d.Unmapped)
	text := fmt.Sprintf("of %d methods it does not say where they really are: nothing could be executed there; they are left out", n)
	switch {
	case n == 0:
	case float64(n) <= maxUnmapped*float64(log.Astray+len(log.Events)):
		found.Note(fmt.Sprintf("%s: %s (Mono had freed them before it wrote the log, as when AppDomains are unloaded)", quote.Printable(d.Path), text))
	default:
		found.Problem(report.Problem{File: d.Path, Offset: -1, Text: text, Advice: report.AdviceVerify(d.Path)})
	}
}

// unmappedOf returns such functions, by their numbers.
func unmappedOf(rec *recording.Recording, log *Log, markers []recording.Marker) map[int]bool {
	if rec.Lost || !rec.KnowsMemory(markers[0]) {
		return nil
	}
	var maps []recording.FileMap
	for _, p := range rec.Related(markers) {
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
	if float64(len(strays)) > maxUnmapped*float64(len(log.Events)) {
		return nil
	}
	return strays
}
