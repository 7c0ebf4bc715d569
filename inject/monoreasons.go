package inject

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// isMono reports whether a runtime is Mono.
func (r *jitRuntime) isMono() bool { return r != nil && slices.Contains(r.names, "mono") }

// tellMono says why there is no log of a process that runs Mono, and reports whether it was
// told to write one, as far as is known.
func (rec *recording) tellMono(f *finder, s suspect, who string, r *Reason) bool {
	outputs := rec.monoOutputs()
	_, loaded := rec.profilerLoaded(s.pid, 0)
	refused, ok := rec.refusedLogOf(s.pid, loaded, outputs)
	began := who
	if len(outputs) > 0 {
		began = fmt.Sprintf("%s; it was started with %s", who, Printable(outputs[0].option))
	}
	r.Kind = ReasonNoDump
	r.Advice = fmt.Sprintf("%s --mono %d=FILE", f.opts.commandLine(), s.pid)
	switch {
	case ok:
		r.Text = fmt.Sprintf("%s; %s is not its log: %v", began, Printable(refused.path), refused.err)
	case !loaded && len(outputs) == 0:
		return false
	case !loaded && rec.anyProfiler() != 0:
		r.Kind = ReasonFlagMissing
		r.Text = fmt.Sprintf("%s, and did not load Mono's log profiler, as process %d did: each mono must be told", who, rec.anyProfiler())
		r.Advice = s.runtimeOf().advice()
	case !loaded:
		r.Text = fmt.Sprintf("%s, but Mono did not load its profiler (%s.so is not in the recording), so it wrote no log", began, monoProfiler)
		r.Advice = "install the profiler and record again; on Debian: apt install libmono-profiler"
	case len(outputs) == 0:
		r.Text = fmt.Sprintf("%s; Mono's profiler was in it and wrote a log, but the recording does not say what that is called, and none of the files *.mlpd* in %s is of this process", who, f.monoPlaces())
	case outputs[0].gone:
		r.Text = began + ", and its log went to no file that is known"
		r.Advice = "record with output=FILE among the options of Mono's profiler; or if you have its log: " + r.Advice
	default:
		r.Text = fmt.Sprintf("%s, and its log %s is not in %s", began, Printable(strings.NewReplacer("[0-9]*", "*", `\`, "").Replace(outputs[0].pattern)), f.monoPlaces())
	}
	return true
}

// refusedLogOf returns a log that was not taken, and is that of a process by what it says, or
// by its name if the process wrote one.
func (rec *recording) refusedLogOf(pid uint32, wrote bool, outputs []monoOutput) (l refusedLog, ok bool) {
	for _, l := range rec.refusedLogs {
		if l.pid == pid {
			return l, true
		}
	}
	for _, l := range rec.refusedLogs {
		if wrote && slices.ContainsFunc(outputs, func(o monoOutput) bool {
			ok, _ := filepath.Match(filepath.Base(o.pattern), filepath.Base(l.path))
			return ok && !o.gone
		}) {
			return l, true
		}
	}
	return refusedLog{}, false
}

// anyProfiler returns a process that has loaded Mono's log profiler, or 0.
func (rec *recording) anyProfiler() uint32 {
	for _, pid := range rec.pids() {
		if _, ok := rec.profilerLoaded(pid, 0); ok {
			return pid
		}
	}
	return 0
}

// monoPlaces are the directories where logs were looked for, in words.
func (f *finder) monoPlaces() string {
	var dirs []string
	for _, dir := range f.monoDirs() {
		if dir = filepath.Clean(dir); dir == "." {
			dir = "the current directory"
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return Printable(strings.Join(dirs, ", "))
}
