package v8

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Kind is the kind of V8's logs in the summary and in options.
const Kind = "v8log"

// ErrOnce is the error for a named log with a stream that can be read only once.
var ErrOnce = report.Advise(errors.New("a log of V8 describes functions of a whole dump, which takes a recording that can be read twice"), "record into a file")

// Identify reports whether a file begins as a log of V8.
func Identify(src io.ReaderAt, _ string) bool { return v8log.IsLog(src) }

// Logs are the logs of V8 that describe functions of dumps.
type Logs struct {
	Found report.Findings

	files []*sys.File
	of    map[*model.Dump][]report.LogSummary
}

// Close closes the files. Functions of the dumps must not be read afterwards.
func (l *Logs) Close() {
	for _, f := range l.files {
		f.Close()
	}
}

// Len returns the number of logs that are used.
func (l *Logs) Len() int { return len(l.files) }

// Of returns the logs of a dump.
func (l *Logs) Of(d *model.Dump) []report.LogSummary { return l.of[d] }

// Unlogged returns the number of functions of a dump that a log would describe, or 0 if it has one.
func (l *Logs) Unlogged(d *model.Dump) int {
	if j, ok := d.Source.(*jitdump.Dump); ok && l.of[d] == nil {
		return j.Optimized()
	}
	return 0
}

// An attacher finds the logs of dumps.
type attacher struct {
	*Logs
	ctx     context.Context
	rec     *recording.Recording
	opts    *config.Options
	targets []*target
	seen    map[locate.Inode]bool
	refused []refused
}

// A target is a dump of V8.
type target struct {
	dump      *model.Dump
	jitdump   *jitdump.Dump
	path      string // of the dump
	loads     loads
	wanted    map[place]int
	functions map[int]described
	indexes   []*index // of its logs
}

// Attach finds the logs of dumps, reads them, and lets the dumps describe their functions by them.
// Logs without an option are looked for beside the dump, beside the recording and in DumpDirs. A
// log that cannot be used becomes a problem. The error is ctx's, or of a log that was named and
// cannot be opened. The caller closes the result.
func Attach(ctx context.Context, rec *recording.Recording, dumps []*model.Dump, opts *config.Options) (*Logs, error) {
	a := &attacher{Logs: &Logs{of: make(map[*model.Dump][]report.LogSummary)}, ctx: ctx, rec: rec, opts: opts, seen: make(map[locate.Inode]bool)}
	for _, d := range dumps {
		if j, ok := d.Source.(*jitdump.Dump); ok && j.IsV8() {
			a.targets = append(a.targets, &target{dump: d, jitdump: j, path: d.Path})
		}
	}
	err := a.named()
	for i := 0; i < len(a.targets) && err == nil; i++ {
		err = a.find(a.targets[i])
	}
	if err != nil {
		a.Close()
		return nil, err
	}
	a.reportRefused()
	for _, t := range a.targets {
		if t.functions != nil {
			a.describe(t)
		}
	}
	return a.Logs, nil
}

// describe lets the logs of a dump describe its functions.
func (a *attacher) describe(t *target) {
	functions := t.functions
	d := jitdump.Description{
		Has:   func(i int) bool { _, ok := functions[i]; return ok },
		Trees: func() jitdump.TreeSource { return &Trees{functions: functions} },
		Texts: t.texts(),
		Embed: a.opts.Sources != "" || a.opts.EmbedSources,
	}
	if a.opts.SourceMaps {
		var o *originals
		o, d.Texts = a.loadMaps(t, d.Texts)
		d.Originals = o
	}
	t.jitdump.Describe(d)
}

// named reads the logs that the user named.
func (a *attacher) named() error {
	for _, n := range a.opts.Named(Kind) {
		targets := a.targets
		if n.PID != 0 {
			if a.rec.Processes[n.PID] == nil {
				return fmt.Errorf("%s: there is no process %d in the recording", n, n.PID)
			}
			targets = slices.DeleteFunc(slices.Clone(targets), func(t *target) bool { return t.dump.PID != n.PID })
		}
		file, err := safefile.Open(n.Path)
		if err != nil {
			return fmt.Errorf("%s: %w", n, safefile.PlainError(err))
		}
		if !v8log.IsLog(file) {
			file.Close()
			return fmt.Errorf("%s: %w", n, v8log.ErrNotLog)
		}
		if err := a.use(file, n.Path, targets, true); err != nil {
			return err
		}
	}
	return nil
}

// find reads the logs of a dump that no option names.
func (a *attacher) find(t *target) error {
	dirs := []string{filepath.Dir(t.dump.Path), a.rec.In.Dir}
	if t.dump.Live {
		dirs = append(dirs, filepath.Dir(t.dump.Markers[0].Path))
	}
	for _, dir := range append(dirs, a.opts.DumpDirs...) {
		for _, pid := range t.pids() {
			// Processes of several containers may have one pid in their logs' names.
			targets := slices.DeleteFunc(slices.Clone(a.targets), func(t *target) bool { return !slices.Contains(t.pids(), pid) })
			paths, _ := sys.Glob(filepath.Clean(dir), fmt.Sprintf("isolate-*-%d-v8.log", pid))
			for _, path := range paths {
				if err := a.candidate(path, t, targets); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// pids returns the numbers of the process in names of its logs.
func (t *target) pids() []uint32 {
	return slices.Compact([]uint32{t.dump.PID, t.jitdump.PID()})
}

// candidate reads a log that was found for the dump of t, and whose name has the process of
// targets.
func (a *attacher) candidate(path string, t *target, targets []*target) error {
	file, err := safefile.Open(path)
	if err != nil {
		a.unusable(path, err, "")
		return nil
	}
	if !isOwnersOf(file, t.dump.File) {
		file.Close()
		a.unusable(path, errors.New("another user than the dump's made it"), "if it is right, name it on the command line")
		return nil
	}
	return a.use(file, path, targets, false)
}

// isOwnersOf reports whether a log may be used without being named: its owner is that of the dump,
// the user or root. Anyone can put a file into /tmp.
func isOwnersOf(log, dump *sys.File) bool {
	l, err := log.Stat()
	if err != nil {
		return false
	}
	if safefile.OwnedByUserOrRoot(l) {
		return true
	}
	var a, b unix.Stat_t
	return sys.Fstat(int(log.Fd()), &a) == nil && sys.Fstat(int(dump.Fd()), &b) == nil && a.Uid == b.Uid
}

// unusable adds the problem of a log that is not used.
func (a *attacher) unusable(path string, err error, advice string) {
	p := report.ProblemOf(path, err, advice)
	p.Text += "; its inlined calls are missing"
	a.Found.Problem(p)
}
