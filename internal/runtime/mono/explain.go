package mono

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/known"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
)

// Explain adds the reason why a process that runs Mono has no log. It reports whether an option for
// a log is known.
func Explain(f *locate.Finder, pid uint32, who string, r *report.Reason) bool {
	rec := f.Rec
	how := known.Of(rec.Processes[pid])
	if !how.IsMono() {
		return false
	}
	outputs := outputs(rec)
	_, loaded := profilerLoaded(rec, pid, 0)
	refused, ok := refusedLogOf(f.Left.Logs, pid, loaded, outputs)
	began := who
	if len(outputs) > 0 {
		began = fmt.Sprintf("%s; it was started with %s", who, quote.Printable(outputs[0].Option))
	}
	r.Kind = report.ReasonNoDump
	r.Advice = f.Opts.Again(report.Setting{Field: "SideFiles", Kind: Kind, PID: fmt.Sprint(pid), Value: "FILE"})
	switch {
	case ok:
		r.Text = fmt.Sprintf("%s; %s is not its log: %v", began, quote.Printable(refused.Path), refused.Err)
	case !loaded && (len(outputs) == 0 || how.Request(rec.Cmdline).Program != ""):
		return false
	case !loaded && anyProfiler(rec) != 0:
		r.Kind = report.ReasonFlagMissing
		r.Text = fmt.Sprintf("%s, and did not load Mono's log profiler, as process %d did: each mono needs the option", who, anyProfiler(rec))
		r.Advice = how.Advice(rec.Cmdline)
	case !loaded:
		r.Text = fmt.Sprintf("%s, but Mono did not load its profiler (%s.so is not in the recording), so it wrote no log", began, Profiler)
		r.Advice = "install the profiler and record again; on Debian: apt install libmono-profiler"
	case len(outputs) == 0:
		r.Text = fmt.Sprintf("%s; Mono's profiler was in it and wrote a log, but the recording does not say what that is called, and none of the files *.mlpd* in %s is of this process", who, logPlaces(f))
	case outputs[0].Gone:
		r.Text = began + ", and the file of its log is unknown"
		r.Advice = "record with output=FILE among the options of Mono's profiler; or if you have its log: " + r.Advice
	default:
		r.Text = fmt.Sprintf("%s, and its log %s is not in %s", began, quote.Printable(strings.NewReplacer("[0-9]*", "*", `\`, "").Replace(outputs[0].Pattern)), logPlaces(f))
	}
	return true
}

// refusedLogOf returns a log that was not used, but belongs to a process. Its header says so, or,
// if the process wrote a log, its name.
func refusedLogOf(logs []locate.RefusedLog, pid uint32, wrote bool, outputs []output) (l locate.RefusedLog, ok bool) {
	for _, l := range logs {
		if l.PID == pid {
			return l, true
		}
	}
	for _, l := range logs {
		if wrote && slices.ContainsFunc(outputs, func(o output) bool {
			ok, _ := filepath.Match(filepath.Base(o.Pattern), filepath.Base(l.Path))
			return ok && !o.Gone
		}) {
			return l, true
		}
	}
	return locate.RefusedLog{}, false
}

// anyProfiler returns a process that has loaded Mono's log profiler, or 0.
func anyProfiler(rec *recording.Recording) uint32 {
	for _, pid := range rec.PIDs() {
		if _, ok := profilerLoaded(rec, pid, 0); ok {
			return pid
		}
	}
	return 0
}

// logPlaces returns the directories that were searched for logs, in words.
func logPlaces(f *locate.Finder) string {
	var dirs []string
	for _, dir := range logDirs(f) {
		if dir = filepath.Clean(dir); dir == "." {
			dir = "the current directory"
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return quote.Printable(strings.Join(dirs, ", "))
}
