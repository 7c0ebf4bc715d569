package inject

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Reason says why there was nothing to inject, of the recording or of one process in it
// that ran code which was made while it ran.
type Reason struct {
	Kind    string `json:"kind"` // one of the constants below
	PID     uint32 `json:"pid,omitempty"`
	Command string `json:"command,omitempty"` // what the process is called in the recording
	Samples int64  `json:"samples,omitempty"` // of the process, in user space but in no file: in code that was made while it ran
	Text    string `json:"text"`              // what the recording tells
	Advice  string `json:"advice,omitempty"`  // what to do; a command stands alone in it
}

// Kinds of reasons.
const (
	ReasonInjected       = "already-injected" // an earlier run has made the recording
	ReasonNoSamples      = "no-samples"       // there are none in it
	ReasonNoJittedCode   = "no-jitted-code"   // no sample is in memory of no file: nothing is missing
	ReasonNoMarker       = "no-marker"        // there is a dump, but the recording does not say so
	ReasonPerfMap        = "perf-map"         // names are in a perf-PID.map, which perf reads by itself
	ReasonFlagMissing    = "flag-missing"     // a runtime that writes a dump if it is told to
	ReasonNoDump         = "no-dump"          // it has been told so, and yet there is none
	ReasonUnknownRuntime = "unknown-runtime"  // some other program
	ReasonMore           = "more"             // further processes like these
	ReasonClock          = "clock"            // recorded without -k mono; comes behind others
)

const (
	// maxReasons bounds how many processes are named.
	maxReasons = 5

	// fewStrays is how many samples in no file say nothing about a process, and so is one
	// in how many of all: programs begin in memory that perf does not know yet.
	fewStrays = 20
	oneInAll  = 200
)

// explain finds out why there are no markers, or none of a process that has made code.
func (rec *recording) explain(ctx context.Context, t *tally, opts *Options, sum *Summary) error {
	add := func(r Reason) { sum.Reasons = append(sum.Reasons, r) }
	if n := rec.injected; n > 0 && len(rec.markers) == 0 {
		add(Reason{Kind: ReasonInjected, Text: fmt.Sprintf("%d mappings in it are of objects: it is the result of an earlier run", n), Advice: "to inject again, take the recording that perf record wrote"})
		return nil
	}
	suspects := rec.suspects(t)
	switch {
	case len(rec.markers) > 0 && (t == nil || len(suspects) == 0): // of those with a marker, problems tell
		return nil
	case len(suspects) == 0 && len(sum.Traces) > 0: // there is something in the result
		return nil
	case t == nil && len(suspects) == 0:
		add(Reason{Kind: ReasonNoJittedCode, Text: "no process in it is known to have a JIT compiler"})
		return nil
	case len(suspects) == 0 && t.total == 0:
		add(Reason{Kind: ReasonNoSamples, Text: "there are no samples in it", Advice: "was the program running, and may perf see it? perf record -k mono -g -e cpu-clock PROGRAM"})
		return nil
	case len(suspects) == 0:
		r := Reason{Kind: ReasonNoJittedCode, Text: fmt.Sprintf("no sample, of %d, is in code that was made while a program ran; callers are not counted", t.total)}
		for _, pid := range rec.pids() {
			if how := rec.processes[pid].runtimeOf(); how != nil {
				r.Text += fmt.Sprintf("; but %s can make such code", nameOf(pid, rec.processes[pid].comm))
				r.Advice = how.advice()
				break
			}
		}
		if r.Advice == "" && len(sum.Problems) == 0 {
			r.Text += "; nothing is missing"
		}
		add(r)
		return nil
	}
	f := &finder{rec: rec, opts: opts}
	defer f.closeOthers(nil)
	for i, s := range suspects {
		if i == maxReasons {
			more := Reason{Kind: ReasonMore, Text: fmt.Sprintf("%d more processes ran such code", len(suspects)-i)}
			for _, s := range suspects[i:] {
				more.Samples += s.strays
			}
			add(more)
			break
		}
		r, err := rec.accuse(ctx, f, s)
		if err != nil {
			return err
		}
		add(r)
	}
	if rec.clockError() != "" && len(rec.markers) == 0 {
		add(Reason{Kind: ReasonClock, Text: "it was recorded without -k mono; the times of functions could only be estimated", Advice: "perf record -k mono"})
	}
	return nil
}

// A suspect is a process that may have made code.
type suspect struct {
	pid    uint32
	strays int64
	*process
}

func (rec *recording) pids() []uint32 {
	pids := make([]uint32, 0, len(rec.processes))
	for pid := range rec.processes {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	return pids
}

// suspects returns the processes with samples in no file, the most of them first. Without
// a tally they are those of known runtimes.
func (rec *recording) suspects(t *tally) (list []suspect) {
	for _, pid := range rec.pids() {
		p := rec.processes[pid]
		s := suspect{pid: pid, process: p}
		if rec.hasDump(pid) {
			continue
		}
		if t == nil {
			if p.runtimeOf() != nil {
				list = append(list, s)
			}
			continue
		}
		if counted := t.processes[pid]; counted != nil {
			s.strays = counted.strays
		}
		if s.strays > 0 && rec.hasFiles(pid) && (s.strays >= fewStrays || s.strays*oneInAll >= t.total) {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b suspect) int { return cmp.Compare(b.strays, a.strays) })
	return list
}

// hasDump reports whether the last program that a process runs has a marker, or began with
// the memory of one that had.
func (rec *recording) hasDump(pid uint32) bool {
	line := rec.genealogy.heritage(pid, math.MaxUint64)
	return slices.ContainsFunc(rec.markers, func(m marker) bool {
		return slices.ContainsFunc(line, func(a ancestor) bool { return rec.genealogy.holds(a, m.pid, m.time) })
	})
}

// dumpingForebear returns a process with a marker from which another one comes, or 0.
func (rec *recording) dumpingForebear(pid uint32) uint32 {
	for _, from := range rec.genealogy.line(pid)[1:] {
		if slices.ContainsFunc(rec.markers, func(m marker) bool { return m.pid == from }) {
			return from
		}
	}
	return 0
}

// hasFiles reports whether the recording tells what a process has mapped. If it does not,
// nothing is known of where its samples are.
func (rec *recording) hasFiles(pid uint32) bool {
	return slices.ContainsFunc(rec.genealogy.line(pid), func(pid uint32) bool {
		p := rec.processes[pid]
		return p != nil && slices.ContainsFunc(p.fileMaps, func(m fileMap) bool { return m.name != "" })
	})
}

// nameOf is a process in words.
func nameOf(pid uint32, comm string) string {
	if comm == "" {
		return fmt.Sprintf("process %d", pid)
	}
	return fmt.Sprintf("process %d (%s)", pid, Printable(comm))
}

// accuse says what may be the matter with a process. The error is ctx's.
func (rec *recording) accuse(ctx context.Context, f *finder, s suspect) (Reason, error) {
	who := nameOf(s.pid, s.comm)
	if s.strays > 0 {
		who += fmt.Sprintf(" has %s in code that it made", samplesOf(s.strays))
	} else {
		who += " can make code, and nobody has counted whether it did"
	}
	r := Reason{PID: s.pid, Command: s.comm, Samples: s.strays}
	path, empty, err := rec.unmarkedDump(ctx, f, s)
	if err != nil {
		return r, err
	}
	how := s.runtimeOf()
	switch {
	case path != "":
		r.Kind = ReasonNoMarker
		r.Text = fmt.Sprintf("%s; there is a dump of it, %s, but the recording does not say that it was mapped: its file system may be mounted noexec, the runtime may map it without PROT_EXEC, or perf came too late", who, Printable(path))
		r.Advice = fmt.Sprintf("%s --dump %d=%s", f.opts.commandLine(), s.pid, shellWord(path))
		return r, nil
	case empty != "":
		r.Kind = ReasonNoDump
		r.Text = fmt.Sprintf("%s; there is a dump of it, %s, but it is empty: so it is where the file system is mounted noexec, or the disk is full", who, Printable(empty))
		r.Advice = "run the program in a directory where files may be executed, or have it write its dump to one"
		return r, nil
	case rec.perfMap(s.pid) != "":
		r.Kind = ReasonPerfMap
		r.Text = fmt.Sprintf("%s; there is %s, whose names perf report reads by itself; it has no lines and no instructions", who, Printable(rec.perfMap(s.pid)))
	case how.isMono() && rec.tellMono(f, s, who, &r):
		return r, nil
	case how == nil && rec.capturesLeft > 0:
		r.Kind = ReasonUnknownRuntime
		r.Text = fmt.Sprintf("%s, and wrote no dump; captures that were left out (%d) may be of that code", who, rec.capturesLeft)
		return r, nil
	case how == nil:
		r.Kind = ReasonUnknownRuntime
		r.Text = who + ", and wrote no dump; it is no runtime that jitinject knows"
		r.Advice = "look in its documentation for jitdump, or for perf; who writes a JIT compiler finds in docs/producers.md how to"
		return r, nil
	case how.given(rec.cmdline) != "" && rec.dumpingForebear(s.pid) != 0:
		r.Kind = ReasonFlagMissing
		r.Text = fmt.Sprintf("%s, and wrote no dump; process %d, from which it comes, has one, but it must be told by itself", who, rec.dumpingForebear(s.pid))
	case how.given(rec.cmdline) != "":
		r.Kind = ReasonNoDump
		r.Text = fmt.Sprintf("%s; it was started with %s, but the recording does not say that it mapped a dump: the directory may be full, not writable, or mounted noexec", who, Printable(how.given(rec.cmdline)))
		r.Advice = fmt.Sprintf("find jit-%d.dump where the program ran, and name it: %s --dump %d=FILE", s.pid, f.opts.commandLine(), s.pid)
		return r, nil
	default:
		r.Kind = ReasonFlagMissing
		r.Text = who + ", and wrote no dump"
		if len(rec.cmdline) > 0 && how.asks(rec.cmdline) {
			r.Text += ": as far as its command line tells, nobody has asked for one"
		}
	}
	if how != nil && (r.Kind != ReasonPerfMap || how.given(rec.cmdline) == "") {
		r.Advice = how.advice()
	}
	return r, nil
}

// unmarkedDump returns the path of a dump of a process that the recording does not tell of,
// if there is one that can be its, and of one that is empty.
func (rec *recording) unmarkedDump(ctx context.Context, f *finder, s suspect) (path, empty string, err error) {
	var paths []string
	for _, dir := range append([]string{rec.in.dir, ".", "/tmp"}, f.opts.DumpDirs...) {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("jit-%d.dump", s.pid)))
		others, _ := filepath.Glob(filepath.Join(literal(dir), fmt.Sprintf("jit-*-%d.dump", s.pid))) // as JavaScriptCore calls it
		paths = append(paths, others[:min(len(others), maxReasons)]...)
	}
	for _, path := range paths {
		file, err := openFile(path)
		if err != nil {
			continue
		}
		if st, err := file.Stat(); err == nil && st.Size() == 0 {
			file.Close()
			empty = path
			continue
		}
		m := marker{pid: s.pid, number: s.pid, time: s.since, path: path, pos: -1}
		if execs := rec.genealogy.execs[s.pid]; len(execs) > 0 {
			m.time = execs[len(execs)-1]
		}
		c := &claim{path: path, markers: []marker{m}}
		if err := f.candidate(ctx, c, file, path, "", possible); err != nil {
			return "", "", err
		}
		if len(c.candidates) == 1 && c.candidates[0].confidence != refuted && len(c.candidates[0].source.Scanned().Events) > 0 {
			return path, "", nil
		}
	}
	return "", empty, nil
}

// literal quotes what means something to filepath.Glob.
func literal(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// perfMap returns the path of a process's perf-PID.map, or "".
func (rec *recording) perfMap(pid uint32) string {
	name := fmt.Sprintf("perf-%d.map", pid)
	for _, path := range []string{filepath.Join("/tmp", name), filepath.Join(rec.in.dir, name)} {
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Size() > 0 {
			return path
		}
	}
	return ""
}

// asks reports whether a command line starts the runtime.
func (r *jitRuntime) asks(cmdline []string) bool {
	return len(r.flags) > 0 && slices.ContainsFunc(cmdline, func(arg string) bool {
		return slices.Contains(r.names, plain(arg))
	})
}

// samplesOf is a number of samples in words.
func samplesOf(n int64) string {
	if n == 1 {
		return "1 sample"
	}
	return fmt.Sprintf("%d samples", n)
}

// commandLine is the command with the names of files that it was given.
func (o *Options) commandLine() string {
	line := "jitinject"
	if o.Input != "perf.data" {
		line += " -i " + shellWord(o.Input)
	}
	if o.Output != "perf.jit.data" {
		line += " -o " + shellWord(o.Output)
	}
	return line
}

// shellWord quotes what a shell would take apart, and what a terminal would obey.
func shellWord(s string) string {
	if Printable(s) != s {
		return "$" + "'" + strings.ReplaceAll(Printable(s), "'", `\'`) + "'"
	}
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
