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
	"github.com/jitinject/jitinject/internal/quote"
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

// Of returns the logs of a dump.
func (l *Logs) Of(d *model.Dump) []report.LogSummary { return l.of[d] }

// An attacher finds the logs of dumps.
type attacher struct {
	*Logs
	ctx     context.Context
	rec     *recording.Recording
	opts    *config.Options
	targets []*target
	seen    map[locate.Inode]bool
}

// A target is a dump of V8.
type target struct {
	dump      *model.Dump
	jitdump   *jitdump.Dump
	path      string // of the dump
	loads     loads
	wanted    map[place]int
	functions map[int]described
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
	for _, t := range a.targets {
		if functions := t.functions; functions != nil {
			t.jitdump.Describe(func(i int) bool { _, ok := functions[i]; return ok }, func() jitdump.TreeSource { return &Trees{functions: functions} })
		}
	}
	return a.Logs, nil
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

// errNoPositions is the refusal of a log without code. V8 writes such a log beside each dump.
var errNoPositions = errors.New("it has no positions of code")

// use reads a log, and pairs it with the dumps that it may be of. It takes over file. named says
// that an option names the log; another one without code is no problem.
func (a *attacher) use(file *sys.File, path string, targets []*target, named bool) error {
	info, err := file.Stat()
	if err == nil && a.seen[locate.InodeOf(info)] {
		file.Close()
		return nil
	}
	if err != nil {
		file.Close()
		a.unusable(path, err, "")
		return nil
	}
	a.seen[locate.InodeOf(info)] = true
	var refusal error
	for _, t := range targets {
		t.prepare()
		x, err := readIndex(a.ctx, file, filepath.Base(path), t.wanted)
		if a.ctx.Err() != nil {
			file.Close()
			return a.ctx.Err()
		}
		if err != nil {
			refusal = err
			continue
		}
		found := t.loads.match(x)
		if err := t.refuse(x, &found); err != nil {
			t.loads.release(found)
			refusal = err
			continue
		}
		t.adopt(x, &found)
		a.files = append(a.files, file)
		a.of[t.dump] = append(a.of[t.dump], report.LogSummary{
			Path: path, Bytes: info.Size(), Optimized: x.optimized, Paired: len(found.pairs), Damaged: x.damaged,
		})
		a.report(path, x)
		return nil
	}
	if refusal == nil {
		refusal = errors.New("the recording has no dump of V8 that it could describe")
	}
	file.Close()
	if named || !errors.Is(refusal, errNoPositions) {
		a.unusable(path, refusal, "")
	}
	return nil
}

// prepare collects the optimized code of the dump, once.
func (t *target) prepare() {
	if t.wanted != nil {
		return
	}
	t.wanted = make(map[place]int)
	t.loads = loads{at: make(map[place][]load), taken: make(map[int]bool)}
	for l := range t.jitdump.OptimizedLoads() {
		at := place{l.Addr, l.Size}
		t.wanted[at]++
		t.loads.count++
		t.loads.at[at] = append(t.loads.at[at], load{l.Function, l.Time, dumpKey(l.Name)})
	}
}

// refuse fails if a log is of another process, or has nothing of use.
func (t *target) refuse(x *index, found *pairing) error {
	switch n := len(found.pairs); {
	case x.functions.count == 0:
		return report.Advise(errNoPositions, "record with --log-code --log-source-code")
	case x.optimized == 0 || t.loads.count == 0:
		return nil // a short program
	case n+found.apart > 0 && 2*found.near < n+found.apart:
		return fmt.Errorf("it is of another run: code of %s is in it, but was made at other times", quote.Printable(t.path))
	case 2*n < min(x.optimized, t.loads.count):
		return fmt.Errorf("it is of another run: of its %d optimized functions, %d are in %s", x.optimized, n, quote.Printable(t.path))
	}
	return nil
}

// adopt records the pairs of a log.
func (t *target) adopt(x *index, found *pairing) {
	if t.functions == nil {
		t.functions = make(map[int]described)
	}
	for _, p := range found.pairs {
		t.functions[p.function] = described{x, p.object}
	}
}

// report adds the problems of a log that is used.
func (a *attacher) report(path string, x *index) {
	if x.damaged > 0 {
		a.Found.Problem(report.Problem{File: path, Offset: -1, Text: fmt.Sprintf("%d lines are damaged and left out, the first: %v", x.damaged, x.damage), Advice: "if several threads wrote it, record again without --no-logfile-per-isolate"})
	}
	if x.cut >= 0 {
		a.Found.Note(fmt.Sprintf("%s: it ends inside a line, at offset %#x; code that was made later has the lines of the dump", quote.Printable(path), x.cut))
	}
	if x.full >= 0 {
		a.Found.Problem(report.Problem{File: path, Offset: x.full, Text: fmt.Sprintf("it describes more than can be kept in %d MiB; code in it from here on has the lines of the dump", maxIndex>>20)})
	}
}

// release frees the loads of a log that was refused.
func (l *loads) release(found pairing) {
	for _, p := range found.pairs {
		delete(l.taken, p.function)
	}
}
