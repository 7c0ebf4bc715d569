package diagnose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/count"
	"github.com/jitinject/jitinject/internal/known"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/words"
)

// A Case is what Explain explains.
type Case struct {
	Rec      *recording.Recording
	Left     locate.Left
	Code     *codebytes.Files // memories that the user named, or nil
	Formats  []locate.Format
	Counter  *count.Counter // sample counter, or nil
	Traces   bool           // calls of traces are in the result
	Problems bool           // problems were found
	Opts     *config.Options
}

// Explain returns the reasons why there are no markers, or none of a process that has made code. Files
// that could have a reason and cannot be read are problems. The error is ctx's.
func Explain(ctx context.Context, c *Case) (reasons []report.Reason, found report.Findings, err error) {
	rec, t := c.Rec, c.Counter
	add := func(r report.Reason) { reasons = append(reasons, r) }
	if n := rec.Injected; n > 0 && len(rec.Markers) == 0 {
		add(report.Reason{Kind: report.ReasonInjected, Text: words.Count(int64(n), "mapping") + " in it are of objects: it is the result of an earlier run", Advice: "to inject again, take the recording that perf record wrote"})
		return reasons, found, nil
	}
	jitProcesses := jitProcesses(rec, t)
	switch {
	// problems describe those with a marker
	case len(rec.Markers) > 0 && (t == nil || len(jitProcesses) == 0):
		return reasons, found, nil
	case len(jitProcesses) == 0 && c.Traces: // the result has something
		return reasons, found, nil
	case t == nil && len(jitProcesses) == 0:
		add(report.Reason{Kind: report.ReasonNoJittedCode, Text: "no process in it is known to have a JIT compiler"})
		return reasons, found, nil
	case len(jitProcesses) == 0 && t.Total == 0:
		add(report.Reason{Kind: report.ReasonNoSamples, Text: "there are no samples in it", Advice: "check that the program ran, and that perf may sample it: perf record -k mono -g -e cpu-clock PROGRAM"})
		return reasons, found, nil
	case len(jitProcesses) == 0:
		r := report.Reason{Kind: report.ReasonNoJittedCode, Text: fmt.Sprintf("no samples in JIT code (0 of %s, callers not counted)", words.Number(t.Total))}
		for _, pid := range rec.PIDs() {
			if how := known.Of(rec.Processes[pid]); how != nil {
				r.Text += fmt.Sprintf("; but %s can make such code", recording.NameOf(pid, rec.Processes[pid].Comm)) + misplaced(how.Request(rec.Cmdline))
				r.Advice = how.Advice(rec.Cmdline)
				break
			}
		}
		if r.Advice == "" && !c.Problems {
			r.Text += "; nothing is missing"
		}
		add(r)
		return reasons, found, nil
	}
	f := &locate.Finder{Rec: rec, Opts: c.Opts, Formats: c.Formats, Left: c.Left}
	defer f.CloseOthers(nil)
	for i, s := range jitProcesses {
		if isIdle(c.Code, s.pid) { // it has a problem
			continue
		}
		if i == recording.MaxReasons {
			more := report.Reason{Kind: report.ReasonMore, Text: fmt.Sprintf("%d more processes ran such code", len(jitProcesses)-i)}
			for _, s := range jitProcesses[i:] {
				more.Samples += s.unattributed
			}
			add(more)
			break
		}
		r, err := diagnose(ctx, rec, f, s)
		if err != nil {
			return reasons, found, err
		}
		add(r)
	}
	return reasons, f.Unreadable, nil
}

// A jitProcess is a JIT process: one that may have made code.
type jitProcess struct {
	pid uint32
	// unattributed is the number of its unattributed samples, 0 if they were not counted.
	unattributed int64
	*recording.Process
}

// jitProcesses returns the processes with enough unattributed samples, in descending order of
// those. Without a sample counter it returns the processes of known runtimes.
func jitProcesses(rec *recording.Recording, t *count.Counter) (list []jitProcess) {
	for _, pid := range rec.PIDs() {
		p := rec.Processes[pid]
		s := jitProcess{pid: pid, Process: p}
		if rec.HasDump(pid) {
			continue
		}
		if t == nil {
			if known.Of(p) != nil {
				list = append(list, s)
			}
			continue
		}
		if counted := t.Processes[pid]; counted != nil {
			s.unattributed = counted.Unattributed
		}
		if s.unattributed > 0 && rec.HasFiles(pid) && (s.unattributed >= recording.FewUnattributed || s.unattributed*recording.OneInAll >= t.Total) {
			list = append(list, s)
		}
	}
	sorting.Stable(list, func(a, b jitProcess) int { return cmp.Compare(b.unattributed, a.unattributed) })
	return list
}

// diagnose returns the most likely reason for the missing dump of a process. The error is ctx's.
func diagnose(ctx context.Context, rec *recording.Recording, f *locate.Finder, s jitProcess) (report.Reason, error) {
	who := recording.NameOf(s.pid, s.Comm)
	if s.unattributed > 0 {
		who += fmt.Sprintf(" has %s in JIT code", words.Count(s.unattributed, "sample"))
	} else {
		who += " can make code; its samples were not counted"
	}
	r := report.Reason{PID: s.pid, Command: s.Comm, Samples: s.unattributed}
	path, empty, err := unmarkedDump(ctx, rec, f, s)
	if err != nil {
		return r, err
	}
	how := known.Of(s.Process)
	if how == nil {
		how = known.InGo(s.Process)
	}
	switch {
	case path != "":
		r.Kind = report.ReasonNoMarker
		r.Text = fmt.Sprintf("%s; there is a dump of it, %s, but the recording does not say that it was mapped: its file system may be mounted noexec, the runtime may map it without PROT_EXEC, or perf came too late", who, quote.Printable(path))
		r.Advice = f.Opts.Again(report.Setting{Field: "SideFiles", Kind: config.AnyDump, PID: fmt.Sprint(s.pid), Value: path, IsPath: true})
		return r, nil
	case empty != "":
		r.Kind = report.ReasonNoDump
		r.Text = fmt.Sprintf("%s; there is a dump of it, %s, but it is empty: its file system is mounted noexec, or the disk is full", who, quote.Printable(empty))
		r.Advice = "run the program in a directory where files may be executed, or have it write its dump to one"
		return r, nil
	case explained(f, s.pid, who, &r):
		return r, nil
	case how == nil && f.Left.Captures > 0:
		r.Kind = report.ReasonUnknownRuntime
		r.Text = fmt.Sprintf("%s, and wrote no dump; the unused captures (%d) may describe that code", who, f.Left.Captures)
		return r, nil
	case how == nil:
		r.Kind = report.ReasonUnknownRuntime
		r.Text = who + ", and wrote no dump; it is no runtime that jitinject knows"
		r.Advice = "check whether the runtime can write a jitdump; JIT authors: see docs/producers.md"
		return r, nil
	}
	q := how.Request(rec.Cmdline)
	whose, advice := how.Other()
	r.Kind = report.ReasonFlagMissing
	r.Text = who + ", and wrote no dump"
	r.Advice = how.Advice(rec.Cmdline)
	switch {
	case q.Program != "":
		r.Text += misplaced(q)
	case q.Flag != "" && rec.DumpingAncestor(s.pid) != 0:
		r.Text += fmt.Sprintf("; its ancestor, process %d, wrote one, but each program needs the option", rec.DumpingAncestor(s.pid))
	case q.Flag != "":
		r.Kind = report.ReasonNoDump
		r.Text = fmt.Sprintf("%s; it was started with %s, but the recording does not say that it mapped a dump: the directory may be full, not writable, or mounted noexec", who, quote.Printable(q.Flag))
		r.Advice = fmt.Sprintf("find jit-%d.dump in the directory of the program, and name it: %s", s.pid, f.Opts.Again(report.Setting{Field: "SideFiles", Kind: config.AnyDump, PID: fmt.Sprint(s.pid), Value: "FILE"}))
	case whose != "" && s.unattributed > 0:
		r.Text += "; " + whose
		r.Advice = cmp.Or(advice, r.Advice)
	case q.Started && how.Env() != "":
		r.Text += fmt.Sprintf(": its command line does not ask for one; if %s does, the directory may be full, not writable, or mounted noexec", how.Env())
	case q.Started:
		r.Text += ": its command line does not ask for one"
	}
	return r, nil
}

// misplaced says that an option stands where the program gets it, or is "".
func misplaced(q known.Request) string {
	if q.Program == "" {
		return ""
	}
	return fmt.Sprintf(": %s stands after %s, and so it is an argument of the program, not an option of the runtime", quote.Printable(q.Flag), quote.Printable(q.Program))
}

// explained reports whether a format explains why a process has no file of it. Only formats that
// no mapping describes can.
func explained(f *locate.Finder, pid uint32, who string, r *report.Reason) bool {
	return slices.ContainsFunc(f.Formats, func(format locate.Format) bool { return format.Explain != nil && format.Explain(f, pid, who, r) })
}

// unmarkedDump returns the path of a usable dump of a process that has no marker in the
// recording, or "". If there is none, it returns the path of an empty one.
func unmarkedDump(ctx context.Context, rec *recording.Recording, f *locate.Finder, s jitProcess) (path, empty string, err error) {
	var paths []string
	for _, dir := range append([]string{rec.In.Dir, ".", "/tmp"}, f.Opts.DumpDirs...) {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("jit-%d.dump", s.pid)))
		// as JavaScriptCore calls it
		others := f.Glob(dir, fmt.Sprintf("jit-*-%d.dump", s.pid))
		paths = append(paths, others[:min(len(others), recording.MaxReasons)]...)
	}
	for _, path := range paths {
		file, err := safefile.Open(path)
		if err != nil {
			if !errors.Is(err, fs.ErrPermission) || !locate.IsOthers(path) {
				f.Unread(path, err)
			}
			continue
		}
		if st, err := file.Stat(); err == nil && st.Size() == 0 {
			file.Close()
			empty = path
			continue
		}
		m := recording.Marker{PID: s.pid, Number: s.pid, Time: s.Since, Path: path, Pos: -1}
		if rec.ProcessTree.HasExec(s.pid) {
			m.Time = rec.ProcessTree.LastExec(s.pid, math.MaxUint64)
		}
		usable, err := f.MayBe(ctx, m, file)
		if err != nil {
			return "", "", err
		}
		f.Unread(path, file.Failed())
		if usable {
			return path, "", nil
		}
	}
	return "", empty, nil
}
