package perfmap

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/jitinject/jitinject/internal/known"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
)

// DropElsewhere drops the functions of a map that begin outside executable memory: V8 lists bytecode
// as well. It does nothing for other dumps, or if the recording does not have all memory mappings.
func DropElsewhere(rec *recording.Recording, d *model.Dump, _ *report.Findings) {
	m, ok := d.Source.(*Map)
	if !ok || !rec.KnowsMemory(d.Markers[0]) {
		return
	}
	maps, all := rec.MapsOf(d.Markers)
	if !all {
		return
	}
	executable := recording.ExactRanges(maps, func(*recording.FileMap) bool { return true })
	d.Unmapped = make(map[int]bool)
	for i := range m.Events {
		if !executable.Hold(m.Events[i].Addr) {
			d.Unmapped[i] = true
		}
	}
	m.Elsewhere = len(d.Unmapped)
}

// Report adds the numbers of functions to the summary.
func (m *Map) Report(path string, s *report.DumpSummary) (found report.Findings) {
	s.Repeated, s.Overwritten, s.Elsewhere = s.Repeated+m.Repeated, m.Replaced, m.Elsewhere
	if m.Replaced > 0 {
		found.Note(fmt.Sprintf("%s: %s of %d have addresses that later lines have as well; a perf map has no times, so the later lines are used for the whole recording", path, report.Counted(m.Replaced, "function"), m.Lines))
	}
	if m.isLarge() {
		found.Note(fmt.Sprintf("%s: it has %s; those that no sample refers to get no object, as with %s", path, report.Counted(len(m.parts)-m.Elsewhere, "function"), report.Mentioned("Sampled", "")))
	}
	return found
}

// maxObjects is the largest number of functions of a map that get an object each. A line of twenty bytes
// becomes a file, and any user may write a map.
const maxObjects = 1 << 16

// IsLarge reports whether a dump is a map of so many functions that only those that the recording refers
// to get objects.
func IsLarge(d *model.Dump) bool {
	m, ok := d.Source.(*Map)
	return ok && m.isLarge()
}

func (m *Map) isLarge() bool { return len(m.parts)-m.Elsewhere > maxObjects }

// notUsed returns why a map is not used, in words.
func notUsed(p report.Problem) string { return quote.Printable(p.File) + " is not used: " + p.Text }

// Refused returns why the maps that were found are not used, with advice, as a clause that follows
// another. It is "" if no map was refused.
func Refused(left *locate.Left) string {
	text := ""
	for _, l := range left.Maps[:min(len(left.Maps), recording.MaxReasons)] {
		p := report.ProblemOf(l.Path, l.Err, "")
		text += "; " + notUsed(p)
		if p.Advice != "" {
			text += "; " + p.Advice
		}
	}
	return text
}

// Explain adds the reason why the map of a process was not used. It reports whether there is a map.
func Explain(f *locate.Finder, pid uint32, who string, r *report.Reason) bool {
	var texts []string
	advice := ""
	for _, l := range f.Left.Maps {
		if l.PID == pid && len(texts) < recording.MaxReasons {
			p := report.ProblemOf(l.Path, l.Err, "")
			texts = append(texts, notUsed(p))
			advice = cmp.Or(advice, p.Advice)
		}
	}
	if len(texts) == 0 {
		return false
	}
	r.Kind, r.Text, r.Advice = report.ReasonPerfMap, fmt.Sprintf("%s; %s", who, strings.Join(texts, "; ")), advice
	if how := known.Of(f.Rec.Processes[pid]); how != nil && advice == "" {
		r.Advice = how.Advice(f.Rec.Cmdline)
	}
	return true
}
