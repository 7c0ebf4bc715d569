package mono

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
)

// Unmapped methods. When a program unloads an AppDomain, Mono's profiler may read freed memory
// about a method's code. Its log then has methods in the heap, or at unmapped addresses. In stacks,
// such addresses would get the names of methods.

// maxUnmapped is the maximum share of unmapped methods in a log. If there are more, the recording
// does not have all executable memory of the process.
const maxUnmapped = 1. / 4

// DropUnmapped finds the functions of a log outside all executable memory of its processes. It
// reports their number. It needs a recording that has the memory mappings.
func DropUnmapped(rec *recording.Recording, d *model.Dump, found *report.Findings) {
	log, ok := d.Source.(*Log)
	if !ok {
		return
	}
	d.Unmapped = unmappedOf(rec, log, d.Markers)
	n := log.Astray + len(d.Unmapped)
	text := fmt.Sprintf("it has wrong addresses of %d methods, in memory that is not executable; they are left out", n)
	switch {
	case n == 0:
	case float64(n) <= maxUnmapped*float64(log.Astray+len(log.Events)):
		found.Note(fmt.Sprintf("%s: %s (Mono had freed them before it wrote the log, as when AppDomains are unloaded)", quote.Printable(d.Path), text))
	default:
		found.Problem(report.Problem{Code: report.ProblemUnnamed, File: d.Path, Offset: -1, Text: text, Advice: report.AdviceOtherRun})
	}
}

// unmappedOf returns the numbers of such functions.
func unmappedOf(rec *recording.Recording, log *Log, markers []recording.Marker) map[int]bool {
	if rec.Lost || !rec.KnowsMemory(markers[0]) {
		return nil
	}
	maps, all := rec.MapsOf(markers)
	if !all {
		return nil
	}
	executable := recording.ExactRanges(maps, func(*recording.FileMap) bool { return true })
	strays := make(map[int]bool)
	for i := range log.Events {
		if e := &log.Events[i]; !IsUnplaced(e.Addr) && !(executable.Hold(e.Addr) && executable.Hold(e.Addr+e.Size-1)) {
			strays[int(e.Function)] = true
		}
	}
	if float64(len(strays)) > maxUnmapped*float64(len(log.Events)) {
		return nil
	}
	return strays
}
