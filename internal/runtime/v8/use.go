package v8

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

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

// use reads a log, and pairs it with the dumps that it may be of. It takes over file. An option names the
// log if key says so; another one without code is no problem.
func (a *attacher) use(file *sys.File, path string, key setKey, of []*target) error {
	used := false
	defer func() {
		if !used {
			file.Close()
		}
	}()
	say := a.unusable
	if key.named {
		say = a.missing
	}
	info, err := file.Stat()
	if err != nil {
		say(path, err, "")
		return nil
	}
	inode := sys.InodeOf(info)
	if a.seen[inode] { // it has several names, or was named
		return nil
	}
	if !key.named { // processes of several containers may have one pid in their logs' names
		key.uid = uidOf(info)
	}
	set := a.set(key, of, info)
	a.seen[inode] = key.named || len(set.targets) > 0
	x, isDump := a.read(inode)
	if len(set.targets) == 0 {
		switch {
		case !key.named:
			say(path, errors.New("it belongs to another user than the dump"), "if it is right, name it on the command line")
		case !isDump && len(a.targets) > 0: // or else Complete has said why it is not used
			say(path, errNoDump, "")
		}
		return nil
	}
	if isDump {
		x.name = filepath.Base(path)
	} else {
		a.opts.Progress.Begin(report.PhaseLogs, info.Size())
		read := reading{ctx: a.ctx, src: file, name: filepath.Base(path), wanted: set.wanted, watch: a.opts.Progress.Set, limit: maxIndex - a.memory}
		x, err = read.index()
	}
	if a.ctx.Err() != nil {
		return a.ctx.Err()
	}
	var t *target
	var found pairing
	if err == nil {
		t, found, err = set.choose(x)
	}
	switch {
	case isDump && (err != nil || !t.gains(&found)): // it is used
	case err == nil && len(found.pairs) > 0 && !t.gains(&found):
		a.copies = append(a.copies, fmt.Sprintf("%s: another log describes the same functions; this one is left out", quote.Printable(path)))
	case err == nil:
		used = true
		t.adopt(x, &found)
		a.memory += x.memory
		a.Files = append(a.Files, file)
		t.dump.Logs = append(t.dump.Logs, report.LogSummary{
			Path: path, Bytes: info.Size(), Optimized: x.optimized, Paired: len(found.pairs), Damaged: x.damaged,
		})
		a.report(path, x, isDump)
	case key.named:
		a.missing(path, err, "")
	case errors.Is(err, errOtherRun):
		a.refused = append(a.refused, refused{path, err, set.targets})
	case !errors.Is(err, errNoPositions):
		a.unusable(path, err, "")
	case x.created > 0 || len(x.scripts) > 0: // not the log that V8 writes with each dump
		a.Found.Note(fmt.Sprintf("%s: %v, and is left out; V8 writes them with --log-code --log-source-code", quote.Printable(path), errNoPositions))
	}
	return nil
}

// read returns the index of a log that is a dump of its own, too. It has all optimized code.
func (a *attacher) read(inode sys.Inode) (*index, bool) {
	for _, d := range a.dumps {
		if l, ok := d.Source.(*Log); ok {
			if info, err := d.File.Stat(); err == nil && sys.InodeOf(info) == inode {
				return l.index, true
			}
		}
	}
	return nil, false
}

// errNoDump is the refusal of a log without a dump that it could be of.
var errNoDump = errors.New("the recording has no dump of V8 for it")

// choose returns the dump that a log is of, and pairs them. The error says why it is of none.
func (s *dumpSet) choose(x *index) (*target, pairing, error) {
	var refusal error
	for _, t := range s.likely(x) {
		found := t.loads.match(x)
		err := t.refuse(x, &found)
		if err == nil {
			return t, found, nil
		}
		if refusal == nil {
			refusal = err
		}
	}
	return nil, pairing{}, refusal
}

// reportRefused reports the logs that were found and refused, and the copies, when all logs are read. Logs of
// earlier runs are often left beside a dump. Nothing is missing because of them if all dumps that
// they could be of have a log that fits.
func (a *attacher) reportRefused() {
	lacks := func(t *target) bool {
		return !slices.ContainsFunc(t.dump.Logs, func(l report.LogSummary) bool { return l.Paired > 0 })
	}
	var notes []string
	for _, r := range a.refused {
		if slices.ContainsFunc(r.targets, lacks) {
			a.unusable(r.path, r.err, "")
		} else {
			notes = append(notes, fmt.Sprintf("%s: %v; it is left out, another log fits", quote.Printable(r.path), r.err))
		}
	}
	a.noteFew(notes, "%d more logs of V8 are of another run; they are left out, other logs fit")
	a.noteFew(a.copies, "%d more logs of V8 describe functions that others do; they are left out")
}

// noteFew adds notes, maxUnnamed at most, and one with the number of the rest.
func (a *attacher) noteFew(notes []string, rest string) {
	for i, n := range notes {
		if i == maxUnnamed {
			a.Found.Note(fmt.Sprintf(rest, len(notes)-i))
			return
		}
		a.Found.Note(n)
	}
}

// prepare collects the optimized code of a dump, once.
func (a *attacher) prepare(t *target) {
	if t.wanted != nil {
		return
	}
	t.wanted = make(map[place]int)
	t.loads = newLoads()
	unread := 0
	var first error
	for l, err := range t.jitdump.V8Loads() {
		if err == nil && !l.IsOptimized {
			continue
		}
		if err != nil {
			if unread++; unread == 1 {
				first = err
			}
			continue
		}
		at := place{l.Addr, l.Size}
		t.wanted[at]++
		t.loads.add(at, load{l.Function, l.Time, dumpKey(l.Name)})
	}
	t.loads.sort()
	if unread > 0 {
		a.Found.Problem(report.Problem{Code: report.ProblemUnreadable, File: t.path, Offset: -1, Text: fmt.Sprintf("%d functions could not be read again, and are not looked for in logs of V8: %v", unread, first)})
	}
}

// fewPairs is the number of functions at the right times that show a log to be of a cut dump.
const fewPairs = 8

// refuse fails if a log is of another process, or has nothing of use.
func (t *target) refuse(x *index, found *pairing) error {
	switch n := len(found.pairs); {
	case len(x.functions) == 0:
		return report.Advise(errNoPositions, "record with --log-code --log-source-code")
	case x.optimized == 0 || t.loads.count == 0:
		return nil // a short program
	case n+found.apart > 0 && 2*found.near < n+found.apart:
		return fmt.Errorf("%w: code of %s is in it, but was made at other times", errOtherRun, quote.Printable(t.path))
	case x.stopped:
		return fmt.Errorf("%w: of its first %d optimized functions, none is in %s", errOtherRun, x.optimized, quote.Printable(t.path))
	case t.jitdump.Cut >= 0 && n >= fewPairs:
		return nil // the rest may be what the dump lacks: those that it has are at the right times
	case 2*n < min(x.optimized, t.loads.count):
		return fmt.Errorf("%w: of its %d optimized functions, %d are in %s", errOtherRun, x.optimized, n, quote.Printable(t.path))
	}
	return nil
}

// gains reports whether a log describes a function that no earlier log does, or one that it fits
// better. Two logs fit one function where isolates have the same code at the same address, one
// after the other.
func (t *target) gains(found *pairing) bool {
	return slices.ContainsFunc(found.pairs, func(p pair) bool {
		d, ok := t.functions[p.function]
		return !ok || p.distance+near < d.distance
	})
}

// adopt records the pairs of a log. If another log has the function, too, the nearer time
// decides. Copies of a log have the same times: the first one stays.
func (t *target) adopt(x *index, found *pairing) {
	if t.functions == nil {
		t.functions = make(map[int]described)
	}
	for _, p := range found.pairs {
		if d, ok := t.functions[p.function]; !ok || p.distance < d.distance {
			t.functions[p.function] = described{index: x, object: p.object, distance: p.distance}
		}
	}
	t.indexes = append(t.indexes, x)
}

// reportLacking notes the dumps with code that their logs lack.
func (a *attacher) reportLacking() {
	for _, t := range a.targets {
		if n := t.dump.Unlogged; n > 0 && t.dump.Logs != nil {
			a.Found.Note(fmt.Sprintf("%s: %d of its %d optimized functions are in no log of V8; they have the lines of the dump, without inlined calls", quote.Printable(t.path), n, t.jitdump.Optimized()))
		}
	}
}

// reportUnmapped notes that source maps were asked for and no log is used: the scripts are in logs.
func (a *attacher) reportUnmapped() {
	if a.opts.SourceMaps && len(a.targets) > 0 && len(a.Files) == 0 {
		a.Found.Note(report.Mentioned("SourceMaps", "") + " has no effect: source maps are found by V8's log, and none is used")
	}
}

// report adds the problems of a log that is used. Those of a dump of its own are reported with that.
func (a *attacher) report(path string, x *index, isDump bool) {
	if x.damaged > 0 && !isDump {
		a.Found.Problem(report.Problem{Code: report.ProblemDamage, File: path, Offset: -1, Text: fmt.Sprintf("damaged lines are left out: %d, the first: %v", x.damaged, x.damage), Advice: "record again; if several threads wrote it, without --no-logfile-per-isolate"})
	}
	if x.cut >= 0 && !isDump {
		a.Found.Note(fmt.Sprintf("%s: it ends inside a line, at offset %#x; code that was made later is not in it", quote.Printable(path), x.cut))
	}
	if n, began := x.lacking(); n > 0 {
		a.Found.Note(fmt.Sprintf("%s: it begins %.3f s after V8 started, without the code that V8 makes first; inlined calls of earlier functions are left out of %d of its %d optimized functions", quote.Printable(path), float64(began)/1e6, n, x.optimized))
	}
	if x.full >= 0 {
		a.Found.Problem(report.Problem{Code: report.ProblemLimit, File: path, Offset: x.full, Text: fmt.Sprintf("the logs need more than %d MiB of memory; code after this offset has the lines of the dump", maxIndex>>20)})
	}
}
