package v8

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// errNoPositions is the refusal of a log without code. V8 writes such a log beside each dump.
var errNoPositions = errors.New("it has no positions of code")

// errOtherRun is the refusal of a log that fits no dump.
var errOtherRun = errors.New("it is of another run")

// A refused is a log that was found and does not fit its dumps.
type refused struct {
	path    string
	err     error
	targets []*target
}

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
		a.opts.Progress.Begin(report.PhaseLogs, info.Size())
		read := reading{ctx: a.ctx, src: file, name: filepath.Base(path), wanted: t.wanted, watch: a.opts.Progress.Set}
		x, err := read.index()
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
	switch {
	case named:
		a.unusable(path, refusal, "")
	case !errors.Is(refusal, errNoPositions):
		a.refused = append(a.refused, refused{path, refusal, targets})
	}
	return nil
}

// reportRefused reports the logs that were found and refused, when all logs are read. Logs of
// earlier runs are often left beside a dump. Nothing is missing because of them if all dumps that
// they could be of have a log that fits.
func (a *attacher) reportRefused() {
	for _, r := range a.refused {
		lacks := func(t *target) bool { return !a.described(t) }
		if !errors.Is(r.err, errOtherRun) || slices.ContainsFunc(r.targets, lacks) {
			a.unusable(r.path, r.err, "")
			continue
		}
		a.Found.Note(fmt.Sprintf("%s: %v; it is left out, another log fits", quote.Printable(r.path), r.err))
	}
}

// described reports whether a log has code of the dump.
func (a *attacher) described(t *target) bool {
	return slices.ContainsFunc(a.of[t.dump], func(l report.LogSummary) bool { return l.Paired > 0 })
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
		return fmt.Errorf("%w: code of %s is in it, but was made at other times", errOtherRun, quote.Printable(t.path))
	case 2*n < min(x.optimized, t.loads.count):
		return fmt.Errorf("%w: of its %d optimized functions, %d are in %s", errOtherRun, x.optimized, n, quote.Printable(t.path))
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
	t.indexes = append(t.indexes, x)
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
