package inject

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// isMono reports whether a runtime is Mono.
func (r *jitRuntime) isMono() bool { return r != nil && slices.Contains(r.names, "mono") }

// tellMono says why there is no log of a process that had Mono's log profiler, and reports
// whether it had.
func (rec *recording) tellMono(f *finder, s suspect, who string, r *Reason) bool {
	var outputs []monoOutput
	if _, ok := rec.profilerLoaded(s.pid, 0); ok {
		outputs = rec.monoOutputs()
	}
	if len(outputs) == 0 {
		return false
	}
	r.Kind = ReasonNoDump
	o := outputs[0]
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
