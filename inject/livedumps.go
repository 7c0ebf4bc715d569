package inject

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/build"
	"github.com/jitinject/jitinject/internal/calltrace"
	"github.com/jitinject/jitinject/internal/clock"
	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/plan"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/runtime/gdbjit"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// This file opens the dumps of a live run when their markers arrive, and follows them as their
// producers write.

// A waitingDump has no header yet: its producer has mapped it, but not written.
type waitingDump struct {
	marker  recording.Marker
	record  []byte         // the marker as it came
	problem report.Problem // why it cannot be used as it is
}

// open opens the dump of a marker and reports whether the marker needs to be dropped from the
// stream. That is so if the dump is in use, or waits for its header.
func (l *live) open(m recording.Marker, record []byte) bool {
	f := l.finder()
	c := &locate.Reference{Path: strings.TrimSuffix(m.Path, recording.DeletedSuffix), Markers: []recording.Marker{m}}
	err := f.ListDirs()
	if err == nil {
		err = f.Search(l.ctx, c)
	}
	f.Assign([]*locate.Reference{c})
	d := c.Dump
	defer func() {
		if d == nil {
			f.CloseOthers(nil)
		} else {
			f.CloseOthers([]*model.Dump{d})
		}
	}()
	var problem report.Problem
	switch p, found := c.Problem(); {
	case err != nil:
		problem = report.ProblemOf("", err, report.AdviceNamed(m.PID, err))
	case d == nil && found && p.File == l.opts.Input: // a clock that must not be matched
		p.File = l.in.Path
		problem, l.refused = p, errors.New(p.String())
	case d == nil && found:
		problem = p
	case d == nil:
		problem = f.Missing(c)
	case len(d.Source.Scanned().Events) == 0 && l.Rec.ClockError() != "" && alive(m.PID):
		// Its clock is unknown before there is a record.
		problem = report.Problem{File: l.in.Path, Offset: -1, Text: l.Rec.ClockError(), Advice: report.AdviceClock}
	default:
		return l.begin(m, d)
	}
	if alive(m.PID) && (d != nil || isUnwritten(m.Path)) {
		d = nil
		l.waiting = append(l.waiting, waitingDump{m, record, problem})
		return true
	}
	d = nil
	l.sum.Problem(problem)
	return false
}

// openLogs opens the logs of Mono, captures of OpenJ9's metadata and registered objects, at the end of
// a stream. The error is ctx's.
func (l *live) openLogs() error {
	before := len(l.Rec.Markers)
	f := l.finder()
	var opened []*model.Dump
	defer func() { f.CloseOthers(opened) }()
	var found report.Findings
	defer func() { l.sum.Add(found) }()
	code, err := codebytes.Open(l.Rec, l.opts, &found)
	if l.code = code; err == nil {
		defer l.code.Report(&found)
		f.Code = code
		err = f.ListDirs()
	}
	if err == nil {
		err = f.FindAll(l.ctx, &found)
		found.Add(f.Unreadable)
		l.left = f.Left
	}
	if err != nil {
		if l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		found.Problem(report.Problem{Offset: -1, Text: err.Error(), Advice: "inject from a file: perf record -o FILE"})
	}
	for _, m := range l.Rec.Markers[before:] {
		l.sum.Markers++
		c := &locate.Reference{Path: m.Path, Markers: []recording.Marker{m}}
		if err := f.Search(l.ctx, c); err != nil {
			return err
		}
		l.sum.Add(found)
		if f.Assign([]*locate.Reference{c}); c.Dump != nil && gdbjit.Exclude(c.Dump, l.allDumps()) && l.begin(m, c.Dump) {
			opened = append(opened, c.Dump)
			if log, ok := c.Dump.Source.(interface{ HasCalls() bool }); ok && log.HasCalls() {
				found.Problem(report.ProblemOf(c.Dump.Path, fmt.Errorf("the calls in it are left out: %w", calltrace.ErrTraceOnce), ""))
			}
		}
	}
	return nil
}

// isUnwritten reports whether a dump is still without a header: producers write into a buffer of
// their own first.
func isUnwritten(path string) bool {
	st, err := sys.Lstat(path)
	return err == nil && st.Mode().IsRegular() && st.Size() < 40
}

// finder returns a new finder.
func (l *live) finder() *locate.Finder {
	return &locate.Finder{Rec: l.Rec, Opts: l.opts, Formats: formats.Dumps()}
}

// begin adds a dump to those in use, and reports whether that succeeded. A dump that is in use
// already gets another marker.
func (l *live) begin(m recording.Marker, d *model.Dump) bool {
	var found report.Findings
	defer func() { l.sum.Add(found) }()
	info, err := d.File.Stat()
	if err == nil {
		if known := l.byInode[locate.InodeOf(info)]; known != nil {
			d.File.Close()
			known.Markers = append(known.Markers, m)
			l.watch(m, known)
			return true
		}
	}
	if err == nil && d.Source.Traits().ClockUnsure {
		err = d.KnowsMachine()
	}
	if err == nil {
		var e *clock.Constraints
		e, err = clock.Match(d, l.Rec, l.opts.Clock)
		e.FinishEarly(&found)
		d.Untimed = clock.FirstTime(d) == 0
	}
	if err != nil {
		d.File.Close()
		problem := report.ProblemOf(d.Path, err, report.AdviceNamed(m.PID, err))
		if errors.As(err, new(clock.Unknown)) {
			problem.File = l.in.Path
		}
		found.Problem(problem)
		return false
	}
	d.NoteAssumed(&found)
	l.code.Provide(d, l.opts, &found)
	stores, usable, more, err := objstore.OpenAll(l.ctx, []*model.Dump{d}, l.opts)
	found.Add(more)
	if err != nil {
		found.Problem(report.ProblemOf("", err, report.AdviceObjects))
	}
	if err != nil || len(usable) == 0 {
		l.dirs.stores.Take(stores)
		d.File.Close()
		return false
	}
	l.dirs.stores.Take(stores)
	l.opts.Logf(1, "%s: %s of process %d", quote.Printable(d.Path), d.Noun(), m.PID)
	if s, ok := d.Source.(plan.LineSource); ok && alive(m.PID) {
		s.Grow()
	}
	pd := l.planner.Add(d)
	l.byInode[locate.InodeOf(info)] = pd
	l.dumps = append(l.dumps, pd)
	l.watch(m, pd)
	l.sum.Add(found)
	l.extend(pd)
	return true
}

// watch notes that a process has jitted code, and may make more of it until it ends.
func (l *live) watch(m recording.Marker, d *plan.Dump) {
	l.Jit[m.PID] = recording.Spans{{From: m.Time, To: math.MaxUint64, Pos: m.Pos}}
	if alive(m.PID) {
		l.jitting[m.PID] = d
	}
}

// alive reports whether a process with that pid exists now. The dump of a process that has ended
// is complete.
func alive(pid uint32) bool {
	return pid > 0 && pid <= math.MaxInt32 && !errors.Is(unix.Kill(int(pid), 0), unix.ESRCH)
}

// poll reads what has been added to the dumps.
func (l *live) poll() {
	waiting := l.waiting
	l.waiting = nil
	for _, w := range waiting {
		l.open(w.marker, w.record)
	}
	for _, d := range l.dumps {
		if !d.Over {
			l.extend(d)
		}
	}
}

// cover maps functions again over the file that a process has just mapped at an address.
func (l *live) cover(pid uint32, addr uint64) {
	n := l.Rec.FileMapCount(pid)
	if n == 0 || l.Rec.Processes[pid].FileMaps[n-1].Lo != addr { // not executable
		return
	}
	mappings := len(l.Plan.Mappings)
	l.planner.Cover(pid, &l.Rec.Processes[pid].FileMaps[n-1])
	if len(l.Plan.Mappings) > mappings {
		l.counter.Extend(l.Plan, mappings)
		slices.SortStableFunc(l.Plan.Mappings[l.Next:], plan.ByTimeOfMapping)
	}
}

// extend plans and makes what has been added to a dump.
func (l *live) extend(d *plan.Dump) {
	if err := d.Source.Scan(l.ctx); err != nil {
		return // interrupted, which the loop will notice
	}
	if d.Untimed && clock.FirstTime(d.Dump) != 0 { // only now its clock can be matched
		d.Untimed = false
		e, err := clock.Match(d.Dump, l.Rec, l.opts.Clock)
		if err != nil {
			l.sum.Problem(report.ProblemOf(d.Path, err, report.AdviceNamed(d.PID, err)))
			d.Over = true
			return
		}
		var found report.Findings
		e.FinishEarly(&found)
		d.NoteAssumed(&found)
		l.sum.Add(found)
		l.planner.Lines[d.Number].Clock = d.Match
	}
	objects, mappings := len(l.Plan.Objects), len(l.Plan.Mappings)
	l.planner.Extend(d)
	l.counter.Extend(l.Plan, mappings)
	s := &l.planner.Lines[d.Number]
	var found report.Findings
	s.Sources, found = l.dirs.sources.Place(d.Dump)
	l.sum.Add(l.planner.Found)
	l.sum.Add(found)
	// V8 maps its builtins again while it starts: frames of their callers depend on that. Only new
	// functions need it: mappings may come one by one, and going through them takes long.
	if maps := l.Rec.FileMapCount(d.PID); !d.Derives || objects < len(l.Plan.Objects) && (objects == 0 || maps != d.DerivedWith) {
		d.Derives, d.DerivedWith = true, maps
		s.Frames = cmp.Or(l.planner.DeriveFrames(d.Dump, true, l.opts), s.Frames)
	}
	for i := objects; i < len(l.Plan.Objects); i++ {
		o := &l.Plan.Objects[i]
		did, err := l.maker.Object(o, l.dirs.stores.In(o.Dump.Objects))
		if err == nil && did == objstore.Created {
			l.maker.Created = append(l.maker.Created, build.CreatedFile{Object: i, Ino: l.maker.Ino})
		}
		if err != nil {
			p := report.Problem{File: d.Path, Offset: -1, Text: fmt.Sprintf("an object could not be made: %v", err), Advice: report.AdviceVerify(d.Path)}
			if errors.As(err, new(*objstore.StoreError)) {
				p.Advice = report.AdviceStore(err)
			}
			l.sum.Problem(p)
			l.counter.Lacks(o.Dump, o.Function)
		}
	}
	if len(l.Plan.Mappings) > mappings {
		slices.SortStableFunc(l.Plan.Mappings[l.Next:], plan.ByTimeOfMapping)
	}
}
