package inject

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/jitinject/jitinject/perfdata"
)

// A stream that can be read only once is injected while it comes, and while the
// processes in it may still be at work. A dump is opened when its marker comes by,
// and read on whenever more of the stream comes; nothing that has come is held
// back.
//
// What is held back is a promise. FINISHED_ROUND says that nothing older will
// follow, and perf relies on it. But a runtime may keep what it says about its code
// in its own memory for a while (V8: until there are 2 MB of it, or the process
// ends), so a mapping may come after samples that need it. Until the processes of a
// dump have ended, FINISHED_ROUND records are left out; perf then sorts, as it does
// after perf inject.

// A live run injects a stream.
type live struct {
	rewriter
	ctx     context.Context
	in      *input
	opts    *Options
	planner *planner
	maker   maker
	stores  stores
	sources *sourceTree
	waiting []waitingDump
	tally   *laterTally // nil if samples are not to be counted
	dumps   []*plannedDump

	// jitting are the processes that have jitted code, with their dump.
	jitting map[uint32]*plannedDump

	// Logs of Mono are read when all has come: their processes write most of them in the
	// end, and nothing tells of what they write before.
	logs bool       // there will be some
	code *codeFiles // that they have their code from

	refused error // what ends the run
}

// runOnce walks a stream once.
func runOnce(ctx context.Context, in *input, opts *Options, sum *Summary) error {
	if opts.Strict {
		return errors.New("--strict needs to know what is missing before anything is written, and so a recording that can be read twice; record into a file")
	}
	if len(opts.XRay)+len(madeTraces) > 0 {
		return inputError(in.path, errTraceOnce)
	}
	rec, err := newRecording(in)
	if err != nil {
		return err
	}
	code, err := openCode(rec, opts, new(Summary)) // report problems with the files before the stream ends
	if err != nil {
		return err
	}
	code.close()
	if opts.Sampled {
		sum.note(Printable(in.path) + ": which functions it touches is not known before its end, and it can be read only once; all of them are there")
	}
	if opts.Bundle {
		sum.note(Printable(in.path) + ": which functions lie together is not known before its end, and it can be read only once; each has an object of its own")
	}
	rec.lost = true // what memory the processes have is not known before the end
	out, err := openOutput(opts, in, nil)
	if err != nil {
		return err
	}
	defer out.abandon()
	opts.Progress.write()
	defer out.giveUp(ctx)()
	dst, err := newSink(in, out, opts.Compress)
	if err != nil {
		return err
	}
	l := &live{
		rewriter: rewriter{rec: rec, sum: sum, out: dst, markers: make(map[int64]bool), jit: make(map[uint32][]span), aux: make(map[uint64]uint64)},
		ctx:      ctx, in: in, opts: opts, stores: make(stores), jitting: make(map[uint32]*plannedDump),
		planner: newPlanner(rec, sum), logs: len(opts.Mono)+len(opts.J9) > 0,
	}
	l.planner.overlay = opts.MonoAOT
	l.plan = &l.planner.plan
	if !opts.NoCount {
		l.tally = &laterTally{tally: newTally(rec)}
		rec.stacks = make(stackCopies)
	}
	if l.sources, err = openSources(opts); err != nil {
		return err
	}
	l.maker.opts, l.maker.compDir = opts, l.sources.compDir()
	defer l.close()
	err = l.run()
	if err == nil {
		l.stores.report(sum)
		sum.BytesWritten = out.size(sum.BytesWritten)
		err = out.commit()
	}
	if err != nil && out.temp != nil { // what has gone into a pipe may be of use, and needs its objects
		err = withLeft(err, l.undo())
	} else {
		l.stores.mark()
	}
	if err == nil {
		cacheObjects(ctx, l.plan, l.stores, opts, sum)
	}
	return err
}

// undo takes back what was made.
func (l *live) undo() (left string) {
	w := objectWriter{plan: l.plan, opts: l.opts, stores: l.stores, created: l.maker.created}
	left = w.undo()
	l.sources.undo()
	l.stores.removeMade()
	return left
}

func (l *live) close() {
	for _, d := range l.dumps {
		d.file.Close()
	}
	l.stores.close()
	l.sources.close()
	l.code.close()
}

func (l *live) run() error {
	blocks, err := l.in.blocks()
	if err != nil {
		return err
	}
	// Reading a pipe may take for ever, so it must not be in the way of ctx.
	type result struct {
		block perfdata.Block
		err   error
	}
	pass := l.in.pass(PhaseStream, blocks)
	want, got := make(chan bool), make(chan result, 1) // so that nobody waits for what nobody wants
	defer close(want)
	go func() {
		for range want {
			block, err := blocks.Next()
			got <- result{block, err}
		}
	}()
	for {
		var r result
		select {
		case want <- true:
		case <-l.ctx.Done():
			return l.ctx.Err()
		}
		select {
		case r = <-got:
		case <-l.ctx.Done():
			return l.ctx.Err() // the reader is left to itself; it ends when something comes
		}
		if r.err == io.EOF {
			if b, ok := blocks.(*perfdata.BlockReader); ok {
				l.sum.BytesRead = b.Offset()
			}
			return l.end(blocks)
		}
		if r.err != nil {
			return inputError(l.in.path, r.err)
		}
		pass.read(&r.block)
		l.poll()
		if err := l.observedBlock(&r.block); err != nil {
			return inputError(l.in.path, err)
		}
		l.out.flush()
		if err := l.out.Err(); err != nil {
			return err
		}
		if l.refused != nil {
			return l.refused
		}
	}
}

// observedBlock copies a block record by record, as far as records matter here.
func (l *live) observedBlock(b *perfdata.Block) error {
	if b.Opaque {
		return l.block(b)
	}
	run := 0
	part := func(from, to int) error {
		p := *b
		p.Data, p.Offset, p.Pos = b.Data[from:to], b.Offset+int64(from), b.Pos+int64(from)
		return l.block(&p)
	}
	for at, rec := range b.Records() {
		switch rec.Type {
		case perfdata.RecordHeaderAttr, perfdata.RecordHeaderFeature, perfdata.RecordMmap, perfdata.RecordMmap2, perfdata.RecordFork, perfdata.RecordComm, perfdata.RecordExit, perfdata.RecordTimeConv:
			// What comes before it has nothing to do with what it brings about.
			if err := part(run, at); err != nil {
				return err
			}
			run = at
			if err := l.observe(rec, b.Pos+int64(at)); err != nil {
				return err
			}
		case perfdata.RecordFinishedRound:
			if len(l.jitting)+len(l.waiting) > 0 || l.logs {
				if err := part(run, at); err != nil {
					return err
				}
				run = at + len(rec.Data)
			}
		case perfdata.RecordSample:
			if !l.rec.timed {
				l.rec.began, l.rec.timed = l.rec.layouts.Time(rec)
			}
			l.tally.sample(rec, l.rec.layouts, l.allDumps)
			l.rec.stacks.sample(rec, l.rec.layouts)
		}
	}
	return part(run, len(b.Data))
}

// observe takes in what a record says about processes.
func (l *live) observe(rec perfdata.Record, pos int64) error {
	before := len(l.rec.markers)
	if err := l.rec.record(rec, pos); err != nil {
		return err
	}
	if rec.Type == perfdata.RecordHeaderAttr {
		l.trailer = perfdata.TrailerOf(trackingAttr(l.rec.attrs))
	}
	for _, m := range l.rec.markers[before:] {
		l.sum.Markers++
		l.markers[m.pos] = l.open(m, bytes.Clone(rec.Data))
	}
	switch rec.Type {
	case perfdata.RecordMmap, perfdata.RecordMmap2:
		l.logs = l.logs || bytes.Contains(rec.Data, []byte(monoProfiler))
	case perfdata.RecordFork:
		t, err := l.rec.layouts.Task(rec)
		if err != nil || t.PID == t.ParentPID {
			break
		}
		delete(l.jit, t.PID)
		delete(l.jitting, t.PID)
		if spans := l.jit[t.ParentPID]; spans != nil && t.Clones {
			l.jit[t.PID] = []span{{from: t.Time, to: math.MaxUint64, pos: pos}}
			if d := l.jitting[t.ParentPID]; d != nil {
				l.jitting[t.PID] = d
			}
		}
	case perfdata.RecordComm:
		if c, err := l.rec.layouts.Comm(rec); err == nil && c.Exec {
			delete(l.jit, c.PID)
			delete(l.jitting, c.PID)
		}
	case perfdata.RecordExit:
		if t, err := l.rec.layouts.Task(rec); err == nil && t.PID == t.TID && l.jitting[t.PID] != nil {
			l.poll() // all that it will ever write is there
			d := l.jitting[t.PID]
			delete(l.jitting, t.PID)
			d.over = true
			for _, other := range l.jitting {
				d.over = d.over && other != d
			}
			if d.over {
				d.file.Close()
			}
		}
	}
	return nil
}

func (l *live) allDumps() (dumps []*dump) {
	for _, d := range l.dumps {
		dumps = append(dumps, d.dump)
	}
	return dumps
}

// end writes what is left.
func (l *live) end(blocks perfdata.Stream) error {
	if len(l.rec.attrs) == 0 {
		return inputError(l.in.path, perfdata.ErrNoData)
	}
	l.poll()
	if err := l.openLogs(); err != nil {
		return err
	}
	for _, w := range l.waiting {
		l.sum.problem(w.problem)
		l.out.Write(w.record) // a later run may do better
	}
	for _, n := range l.opts.Dumps {
		if !slices.ContainsFunc(l.rec.markers, func(m marker) bool { return m.pid == n.PID }) {
			l.sum.problem(Problem{Offset: -1, Text: fmt.Sprintf("--dump %d=%s: process %d mapped no dump", n.PID, Printable(n.Path), n.PID), Advice: "for a process that did not, record into a file"})
		}
	}
	l.mappingsUpTo(math.MaxUint64)
	if at := blocks.Cut(); at >= 0 {
		l.sum.problem(cutProblem(l.in, at))
	}
	l.planner.finish()
	l.maker.leaveDump()
	w := objectWriter{plan: l.plan, sum: l.sum}
	w.merge(&l.maker)
	w.report()
	dumps := l.allDumps()
	l.sources.report(dumps, l.sum)
	var counted *tally
	if l.tally != nil {
		counted = l.tally.tally
		l.tally.finish(dumps, l.sum)
		l.rec.reportUnresolved(dumps, counted, l.sum)
	}
	if err := l.rec.explain(l.ctx, counted, l.opts, l.sum); err != nil {
		return err
	}
	l.sum.AlreadyInjected = l.rec.injected
	addFindings(l.rec, dumps, l.sum)
	err := l.out.finish(l.extendBuildIDs, l.moveAuxIndex)
	l.sum.BytesWritten = l.out.Offset()
	return err
}
