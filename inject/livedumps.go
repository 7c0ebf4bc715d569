package inject

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/source"
)

// The dumps of a live run: opened when their markers come by, and followed as
// their producers write.

// A waitingDump has no header yet: its producer has mapped it, but not written.
type waitingDump struct {
	marker  marker
	record  []byte  // the marker as it came
	problem Problem // why it cannot be used as it is
}

// open opens the dump of a marker and reports whether the marker is dealt with.
func (l *live) open(m marker, record []byte) bool {
	f := &finder{rec: l.rec, opts: l.opts}
	c := &claim{path: strings.TrimSuffix(m.path, deletedSuffix), markers: []marker{m}}
	err := f.listDirs()
	if err == nil {
		err = f.search(l.ctx, c)
	}
	f.settle([]*claim{c})
	d := c.dump
	defer func() {
		if d == nil {
			f.closeOthers(nil)
		} else {
			f.closeOthers([]*dump{d})
		}
	}()
	var problem Problem
	switch p, found := c.problem(); {
	case err != nil:
		problem = problemOf("", err, adviceNamed(m.pid, err))
	case d == nil && found && p.File == l.opts.Input: // a clock that is not to be matched
		p.File = l.in.path
		problem, l.refused = p, errors.New(p.String())
	case d == nil && found:
		problem = p
	case d == nil:
		problem = f.missing(c)
	case len(d.source.Scanned().Events) == 0 && l.rec.clockError() != "" && alive(m.pid):
		problem = Problem{File: l.in.path, Offset: -1, Text: l.rec.clockError(), Advice: adviceClock} // its clock cannot be told before there is a record
	default:
		return l.begin(m, d)
	}
	if alive(m.pid) && (d != nil || isUnwritten(m.path)) {
		d = nil
		l.waiting = append(l.waiting, waitingDump{m, record, problem})
		return true
	}
	d = nil
	l.sum.problem(problem)
	return false
}

// openLogs opens the logs of Mono and captures of OpenJ9's metadata, at the end of a stream. The error is ctx's.
func (l *live) openLogs() error {
	before := len(l.rec.markers)
	f := &finder{rec: l.rec, opts: l.opts}
	var opened []*dump
	defer func() { f.closeOthers(opened) }()
	code, err := openCode(l.rec, l.opts, l.sum)
	if l.code = code; err == nil {
		defer l.code.report(l.sum)
		err = f.listDirs()
	}
	if err == nil {
		err = monoLogs(l.ctx, f, l.sum)
	}
	if err == nil {
		err = captures(l.ctx, f, l.sum)
	}
	if err != nil {
		if l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		l.sum.problem(Problem{Offset: -1, Text: err.Error(), Advice: "inject from a file: perf record -o FILE"})
	}
	for _, m := range l.rec.markers[before:] {
		l.sum.Markers++
		c := &claim{path: m.path, markers: []marker{m}}
		if err := f.search(l.ctx, c); err != nil {
			return err
		}
		if f.settle([]*claim{c}); c.dump != nil && l.begin(m, c.dump) {
			opened = append(opened, c.dump)
			if log, ok := c.dump.source.(*source.MonoLog); ok && log.HasCalls() {
				l.sum.problem(problemOf(c.dump.path, fmt.Errorf("the calls in it are left out: %w", errTraceOnce), ""))
			}
		}
	}
	return nil
}

// isUnwritten reports whether a dump is still without a header: producers write
// into a buffer of their own first.
func isUnwritten(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.Mode().IsRegular() && st.Size() < 40
}

// begin takes a dump into use.
func (l *live) begin(m marker, d *dump) bool {
	info, err := d.file.Stat()
	for _, known := range l.dumps {
		if err == nil && os.SameFile(info, known.info) {
			d.file.Close()
			known.markers = append(known.markers, m)
			l.watch(m, known)
			return true
		}
	}
	if _, ok := d.source.(*source.Jitdump); ok {
		err = d.knowsMachine()
	}
	if err == nil {
		var e *evidence
		e, err = d.matchClock(l.rec, l.opts.Clock)
		e.settleEarly(l.sum)
		d.untimed = d.firstTime() == 0
	}
	if err != nil {
		d.file.Close()
		problem := problemOf(d.path, err, adviceNamed(m.pid, err))
		if errors.As(err, new(errClock)) {
			problem.File = l.in.path
		}
		l.sum.problem(problem)
		return false
	}
	d.noteAssumed(l.sum)
	l.code.give(d, l.opts, l.sum)
	stores, usable, err := openStores([]*dump{d}, l.opts, l.sum)
	if err != nil {
		l.sum.problem(problemOf("", err, adviceObjects))
	}
	if err != nil || len(usable) == 0 {
		d.file.Close()
		return false
	}
	for dir, s := range stores {
		if l.stores[dir] != nil {
			s.close()
		} else {
			l.stores[dir] = s
		}
	}
	l.opts.logf(1, "%s: dump of process %d", Printable(d.path), m.pid)
	if s, ok := d.source.(lineSource); ok && alive(m.pid) {
		s.Grow()
	}
	pd := l.planner.add(d)
	pd.info = info
	l.dumps = append(l.dumps, pd)
	l.watch(m, pd)
	l.extend(pd)
	return true
}

// watch takes note that a process has jitted code, as long as it may make more.
func (l *live) watch(m marker, d *plannedDump) {
	l.jit[m.pid] = []span{{from: m.time, to: math.MaxUint64, pos: m.pos}}
	if alive(m.pid) {
		l.jitting[m.pid] = d
	}
}

// alive reports whether there is a process of that number now. Of one that has
// ended, the dump is all that there will be.
func alive(pid uint32) bool {
	return pid > 0 && pid <= math.MaxInt32 && !errors.Is(unix.Kill(int(pid), 0), unix.ESRCH)
}

// poll reads on in the dumps.
func (l *live) poll() {
	waiting := l.waiting
	l.waiting = nil
	for _, w := range waiting {
		l.open(w.marker, w.record)
	}
	for _, d := range l.dumps {
		if !d.over {
			l.extend(d)
		}
	}
}

// extend plans and makes what has been added to a dump.
func (l *live) extend(d *plannedDump) {
	if err := d.source.Scan(l.ctx); err != nil {
		return // interrupted, which the loop will notice
	}
	if d.untimed && d.firstTime() != 0 { // only now its clock can be told
		d.untimed = false
		e, err := d.matchClock(l.rec, l.opts.Clock)
		if err != nil {
			l.sum.problem(problemOf(d.path, err, adviceNamed(d.pid, err)))
			d.over = true
			return
		}
		e.settleEarly(l.sum)
		d.noteAssumed(l.sum)
		l.sum.Dumps[d.number].Clock = d.match
	}
	objects, mappings := len(l.plan.objects), len(l.plan.mappings)
	l.planner.extend(d)
	l.tally.extend(l.plan, mappings)
	l.sources.place(d.dump, l.sum)
	// V8 maps its builtins again while it starts: frames of their callers depend on that.
	if maps := l.rec.fileMapCount(d.pid); objects == 0 || maps != d.derivedWith || !d.derives {
		d.derives, d.derivedWith = true, maps
		deriveFrames(l.rec, d.dump, true, l.opts, l.sum)
	}
	for i := objects; i < len(l.plan.objects); i++ {
		o := &l.plan.objects[i]
		did, err := l.maker.object(o, l.stores[o.dump.objects])
		if err == nil && did == created {
			l.maker.created = append(l.maker.created, createdFile{object: i, ino: l.maker.ino})
		}
		if err != nil {
			p := Problem{File: d.path, Offset: -1, Text: fmt.Sprintf("an object could not be made: %v", err), Advice: adviceVerify(d.path)}
			if errors.As(err, new(*storeError)) {
				p.Advice = adviceStore(err)
			}
			l.sum.problem(p)
			l.tally.lacks(o.dump, o.function)
		}
	}
	if len(l.plan.mappings) > mappings {
		slices.SortStableFunc(l.plan.mappings[l.next:], byTimeOfMapping)
	}
}
