package inject

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// isMono reports whether a runtime is Mono.
func (r *jitRuntime) isMono() bool { return r != nil && slices.Contains(r.names, "mono") }

// tellMono says why there is no log of a process that had Mono's log profiler, or was told to
// have it, and reports whether that is so.
func (rec *recording) tellMono(f *finder, s suspect, who string, r *Reason) bool {
	outputs := rec.monoOutputs()
	_, loaded := rec.profilerLoaded(s.pid, 0)
	if len(outputs) == 0 || !loaded && outputs[0].option == "" {
		return false
	}
	r.Kind = ReasonNoDump
	o := outputs[0]
	if !loaded { // Mono says nothing then
		r.Text = fmt.Sprintf("%s; it was started with %s, but did not load its log profiler: that is not installed, or not where Mono looks for it", who, Printable(o.option))
		r.Advice = "install it (on Debian it is in the package libmono-profiler), and record again"
		return true
	}
	began := who + "; it wrote a log of Mono's profiler"
	if o.option != "" {
		began = fmt.Sprintf("%s; it was started with %s", who, Printable(o.option))
	}
	r.Advice = fmt.Sprintf("%s --mono %d=FILE", f.opts.commandLine(), s.pid)
	i := slices.IndexFunc(rec.refusedLogs, func(l refusedLog) bool {
		ok, _ := filepath.Match(filepath.Base(o.pattern), filepath.Base(l.path))
		return ok
	})
	switch {
	case o.gone:
		r.Text = began + ", and its log went to no file that is known"
		r.Advice = "record with output=FILE among the options of Mono's profiler; or if you have its log: " + r.Advice
	case i >= 0:
		l := rec.refusedLogs[i]
		r.Text = fmt.Sprintf("%s; %s is not its log: %v", began, Printable(l.path), l.err)
	default:
		var dirs []string
		for _, dir := range f.monoDirs() {
			if dir = filepath.Clean(dir); dir == "." {
				dir = "the current directory"
			}
			if !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
		r.Text = fmt.Sprintf("%s, and its log %s is not in %s", began, Printable(strings.NewReplacer("[0-9]*", "*", `\`, "").Replace(o.pattern)), Printable(strings.Join(dirs, ", ")))
	}
	return true
}
