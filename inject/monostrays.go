package inject

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/source"
)

// Functions that are none. When a program unloads an AppDomain, Mono's profiler may read of
// a method's code what has been freed, and its log then tells of code in the heap, or
// where there is nothing at all. Named, such places would stand in stacks for methods.

// mostStrays is which part of a log's functions may be no functions; where there are more,
// the recording does not know all memory that the process has executed.
const mostStrays = 1. / 4

// leaveOutStrays finds the functions of a log that lie in none of the memory which their
// processes could execute, where the recording tells what that was, and says how many
// there are.
func (rec *recording) leaveOutStrays(d *dump, sum *Summary) {
	log, ok := d.source.(*source.MonoLog)
	if !ok {
		return
	}
	d.strays = rec.straysOf(log, d.markers)
	n := log.Astray + len(d.strays)
	text := fmt.Sprintf("of %d methods it does not say where they really are: nothing could be executed there; they are left out", n)
	switch {
	case n == 0:
	case float64(n) <= mostStrays*float64(log.Astray+len(log.Events)):
		sum.note(fmt.Sprintf("%s: %s (Mono had freed them before it wrote the log, as when AppDomains are unloaded)", Printable(d.path), text))
	default:
		sum.problem(Problem{File: d.path, Offset: -1, Text: text, Advice: adviceVerify(d.path)})
	}
}

// straysOf returns such functions, by their numbers.
func (rec *recording) straysOf(log *source.MonoLog, markers []marker) map[int]bool {
	if rec.lost || !rec.knowsMemory(markers[0]) {
		return nil
	}
	var maps []fileMap
	for _, p := range rec.family(markers) {
		if len(p.fileMaps) == maxFileMaps {
			return nil
		}
		maps = append(maps, p.fileMaps...)
	}
	executable := exactRanges(maps, func(*fileMap) bool { return true })
	strays := make(map[int]bool)
	for i := range log.Events {
		if e := &log.Events[i]; !source.IsUnplaced(e.Addr) && !(executable.hold(e.Addr) && executable.hold(e.Addr+e.Size-1)) {
			strays[e.Function] = true
		}
	}
	if float64(len(strays)) > mostStrays*float64(len(log.Events)) {
		return nil
	}
	return strays
}
