package inject

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/build"
	"github.com/jitinject/jitinject/internal/calltrace"
	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/count"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/output"
	"github.com/jitinject/jitinject/internal/plan"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/rewrite"
	"github.com/jitinject/jitinject/internal/runtime/perfmap"
	"github.com/jitinject/jitinject/internal/runtime/v8"
	"github.com/jitinject/jitinject/perfdata"
)

// A stream that can be read only once is injected while it comes. The processes in it may still
// be running. A dump is opened when its marker arrives, and read further whenever more of the
// stream arrives. No record is held back.
//
// But promises are held back. FINISHED_ROUND says that nothing older will follow, and perf relies
// on it. A runtime may keep data about its code in its own memory for a while (V8: until there
// are 2 MB of it, or the process ends). So a mapping may come after samples that need it. Until
// the processes of a dump have ended, FINISHED_ROUND records are dropped. perf then sorts, as it
// does after perf inject.

// A live is a run that injects a stream.
type live struct {
	rewrite.Copier
	ctx     context.Context
	sum     *report.Summary
	in      *recording.Input
	opts    *config.Options
	planner *plan.Planner
	maker   build.Maker
	dirs    *dirs
	// waiting has the dumps without a header.
	waiting []waitingDump
	counter *count.Later // nil if samples are not to be counted
	dumps   []*plan.Dump
	byInode map[locate.Inode]*plan.Dump // all of dumps

	// jitting are the processes that have jitted code and may make more, with their dumps.
	jitting map[uint32]*plan.Dump

	// logs says that there are, or will be, logs of Mono. They are read at the end of the
	// stream: their processes write most of them when they end, and nothing announces earlier
	// writes.
	logs bool
	// code has the files with the code of those logs' functions.
	code *codebytes.Files

	left    locate.Left
	refused error // the error that ends the run, or nil
}

// runOnce injects an input that can be read only once.
func runOnce(ctx context.Context, in *recording.Input, opts *config.Options, sum *report.Summary) (err error) {
	if opts.Strict {
		return errors.New(report.Mentioned("Strict", "") + " reads the recording twice, and a pipe can be read only once; record into a file")
	}
	if namesCalls(opts) || len(syntheticTraces) > 0 {
		return recording.Error(in.Path, calltrace.ErrTraceOnce)
	}
	if len(opts.Named(v8.Kind)) > 0 {
		return recording.Error(in.Path, v8.ErrOnce)
	}
	if len(opts.Named(perfmap.Kind)) > 0 {
		return recording.Error(in.Path, perfmap.ErrOnce)
	}
	rec, err := recording.New(in)
	if err != nil {
		return err
	}
	// Report problems with the files before the stream ends.
	code, err := codebytes.Open(rec, opts, new(report.Findings))
	if err != nil {
		return err
	}
	code.Close()
	if opts.Sampled {
		sum.Note(quote.Printable(in.Path) + ": it can be read only once, and referenced functions are known only at its end; all functions get objects")
	}
	if opts.Bundle {
		sum.Note(quote.Printable(in.Path) + ": it can be read only once, and neighbouring functions are known only at its end; each function gets an object of its own")
	}
	rec.Lost = true // the memory of processes is not known before the end
	out, err := output.Open(opts, in, nil)
	if err != nil {
		return err
	}
	defer func() { err = objstore.WithLeft(err, out.Abandon()) }()
	opts.Progress.Write()
	defer out.GiveUp(ctx)()
	dst, err := output.New(in, out, opts.Compress)
	if err != nil {
		return err
	}
	l := &live{
		Copier: rewrite.Copier{Rec: rec, Out: dst, Markers: make(map[int64]bool), Jit: make(map[uint32]recording.Spans), Aux: make(map[uint64]uint64)},
		ctx:    ctx, in: in, opts: opts, jitting: make(map[uint32]*plan.Dump), byInode: make(map[locate.Inode]*plan.Dump),
		planner: plan.New(rec), sum: sum, logs: slices.ContainsFunc(opts.SideFiles, func(f config.SideFile) bool { return f.Kind != config.AnyDump }),
	}
	l.planner.Overlay = opts.Precompiled
	l.Plan = &l.planner.Plan
	if !opts.NoCount {
		l.counter = &count.Later{Counter: count.New(rec)}
		rec.Stacks = make(recording.StackCopies)
	}
	if l.dirs, _, _, err = openDirs(ctx, nil, opts); err == nil {
		err = l.dirs.openSources(opts)
	}
	defer func() { err = l.dirs.end(sum, err) }()
	if err != nil {
		return err
	}
	l.dirs.plan = l.Plan
	l.maker.Opts, l.maker.CompDir = opts, l.dirs.sources.CompDir()
	defer l.close()
	err = l.run()
	if err == nil && out.Temp != nil {
		err = ctx.Err()
	}
	if err == nil {
		sum.Add(l.dirs.stores.Report())
		err = l.dirs.sync(opts)
	}
	if err == nil {
		sum.BytesWritten = out.Size(sum.BytesWritten)
		err = commit(out, sum)
	}
	if err != nil && out.Temp != nil {
		l.dirs.made = &build.Writer{Plan: l.Plan, Opts: l.opts, Stores: l.dirs.stores, Created: l.maker.Created}
		return l.dirs.undo(err)
	}
	sum.Add(l.dirs.stores.Mark())
	if err == nil {
		var found report.Findings
		sum.Cached, found = objstore.CacheObjects(ctx, l.Plan, l.dirs.stores, opts)
		sum.Add(found)
	}
	return err
}

// close closes the dumps of the run.
func (l *live) close() {
	for _, d := range l.dumps {
		d.File.Close()
	}
	l.code.Close()
}

// run injects the stream up to its end.
func (l *live) run() error {
	blocks, err := l.in.Blocks()
	if err != nil {
		return err
	}
	// Reading a pipe may block, so a goroutine does it: ctx must end the run all the same.
	type result struct {
		block perfdata.Block
		err   error
	}
	pass := l.in.Pass(report.PhaseStream, blocks)
	// buffered, so that the reader never blocks on a result without a receiver
	want, got := make(chan bool), make(chan result, 1)
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
			return l.ctx.Err() // the reader goes on until its read returns
		}
		if r.err == io.EOF {
			if b, ok := blocks.(*perfdata.BlockReader); ok {
				l.sum.BytesRead = b.Offset()
			}
			return l.end(blocks)
		}
		if r.err != nil {
			return l.in.Error(r.err)
		}
		pass.Read(&r.block)
		l.poll()
		if err := l.observedBlock(&r.block); err != nil {
			return l.in.Error(err)
		}
		l.Out.Flush()
		if err := l.Out.Err(); err != nil {
			return err
		}
		if l.refused != nil {
			return l.refused
		}
	}
}

// observedBlock copies a block, record by record where records matter here.
func (l *live) observedBlock(b *perfdata.Block) error {
	if b.Opaque {
		return l.Block(b)
	}
	run := 0
	part := func(from, to int) error {
		p := *b
		p.Data, p.Offset, p.Pos = b.Data[from:to], b.Offset+int64(from), b.Pos+int64(from)
		return l.Block(&p)
	}
	for at, rec := range b.Records() {
		switch rec.Type {
		case perfdata.RecordHeaderAttr, perfdata.RecordHeaderFeature, perfdata.RecordMmap, perfdata.RecordMmap2, perfdata.RecordFork, perfdata.RecordComm, perfdata.RecordExit, perfdata.RecordTimeConv:
			// Flush the preceding records first: they are unaffected by this one.
			if err := part(run, at); err != nil {
				return err
			}
			run = at
			if err := l.observe(rec, b.Pos+int64(at)); err != nil {
				return err
			}
		case perfdata.RecordNamespaces:
			if err := l.Rec.Observe(rec, b.Pos+int64(at)); err != nil {
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
			if !l.Rec.Timed {
				l.Rec.Began, l.Rec.Timed = l.Rec.Layouts.Time(rec)
			}
			l.Rec.CheckSample(rec, b.Pos+int64(at))
			l.counter.Sample(rec, l.Rec.Layouts, l.allDumps)
			l.Rec.Stacks.Sample(rec, l.Rec.Layouts)
		}
	}
	return part(run, len(b.Data))
}

// observe processes a record about processes or about the recording.
func (l *live) observe(rec perfdata.Record, pos int64) error {
	before := len(l.Rec.Markers)
	if err := l.Rec.Observe(rec, pos); err != nil {
		return err
	}
	if rec.Type == perfdata.RecordHeaderAttr {
		l.Trailer = perfdata.TrailerOf(output.TrackingAttr(l.Rec.Attrs))
	}
	for _, m := range l.Rec.Markers[before:] {
		l.sum.Markers++
		l.Markers[m.Pos] = l.open(m, bytes.Clone(rec.Data))
	}
	switch rec.Type {
	case perfdata.RecordMmap, perfdata.RecordMmap2:
		l.logs = l.logs || formats.Announced(rec.Data)
		if m, err := l.Rec.Layouts.Mmap(rec); err == nil && !recording.IsAnonymous(m.Filename) {
			l.cover(m.PID, m.Addr)
		}
	case perfdata.RecordFork:
		t, err := l.Rec.Layouts.Task(rec)
		if err != nil || t.PID == t.ParentPID {
			break
		}
		delete(l.Jit, t.PID)
		delete(l.jitting, t.PID)
		if spans := l.Jit[t.ParentPID]; spans != nil && t.Clones {
			l.Jit[t.PID] = recording.Spans{{From: t.Time, To: math.MaxUint64, Pos: pos}}
			if d := l.jitting[t.ParentPID]; d != nil {
				l.jitting[t.PID] = d
			}
		}
	case perfdata.RecordComm:
		if c, err := l.Rec.Layouts.Comm(rec); err == nil && c.Exec {
			delete(l.Jit, c.PID)
			delete(l.jitting, c.PID)
		}
	case perfdata.RecordExit:
		if t, err := l.Rec.Layouts.Task(rec); err == nil && t.PID == t.TID && l.jitting[t.PID] != nil {
			l.poll() // the dump is complete now
			d := l.jitting[t.PID]
			delete(l.jitting, t.PID)
			d.Over = true
			for _, other := range l.jitting {
				d.Over = d.Over && other != d
			}
			if d.Over {
				l.counter.Close(d.Dump, l.allDumps())
				d.File.Close()
			}
		}
	}
	return nil
}

// allDumps returns the dumps that are in use.
func (l *live) allDumps() (dumps []*model.Dump) {
	for _, d := range l.dumps {
		dumps = append(dumps, d.Dump)
	}
	return dumps
}

// end finishes the run at the end of the stream: it writes what is left, and fills in the
// summary.
func (l *live) end(blocks perfdata.Stream) error {
	if len(l.Rec.Attrs) == 0 {
		return recording.Error(l.in.Path, perfdata.ErrNoData)
	}
	l.poll()
	if err := l.openLogs(); err != nil {
		return err
	}
	if p, ok := l.Rec.DamagedProblem(); ok {
		l.sum.Problem(p)
	}
	for _, w := range l.waiting {
		l.sum.Problem(w.problem)
		l.Out.Write(w.record) // a later run may do better
	}
	for _, n := range l.opts.Named(config.AnyDump) {
		if !slices.ContainsFunc(l.Rec.Markers, func(m recording.Marker) bool { return m.PID == n.PID }) {
			l.sum.Problem(report.Problem{Offset: -1, Text: fmt.Sprintf("%s: process %d mapped no dump", n, n.PID), Advice: "for a process that did not, record into a file"})
		}
	}
	l.MappingsUpTo(math.MaxUint64)
	l.sum.Mappings, l.sum.Tables, l.sum.Dropped = l.Done.Mappings, l.Done.Tables, l.Done.Dropped
	if at := blocks.Cut(); at >= 0 {
		addCut(l.sum, l.in, at, perfdata.TextAfter(blocks))
	}
	l.planner.Finish()
	l.sum.Dumps = l.planner.Lines
	l.sum.Add(l.planner.Found)
	l.maker.LeaveDump()
	w := build.Writer{Plan: l.Plan}
	w.Merge(&l.maker)
	addBuilt(l.sum, w.Report())
	dumps := l.allDumps()
	l.sum.Add(l.dirs.sources.Report(dumps))
	var counter *count.Counter
	if l.counter != nil {
		counter = l.counter.Counter
		addCounted(l.sum, l.counter.Finish(dumps, l.sum.Dumps))
	}
	if err := explain(l.ctx, l.Rec, l.left, l.code, dumps, counter, l.opts, l.sum); err != nil {
		return err
	}
	l.sum.AlreadyInjected = l.Rec.Injected
	addDumps(l.sum, l.Rec, dumps)
	err := recording.WithoutData(l.in.Path, l.Out.Finish(l.ExtendBuildIDs, l.MoveAuxIndex))
	l.sum.BytesWritten = l.Out.Offset()
	return err
}

// namesCalls reports whether a file with calls and nothing else is named.
func namesCalls(opts *config.Options) bool {
	return slices.ContainsFunc(opts.SideFiles, func(f config.SideFile) bool { return formats.OnlyCalls(f.Kind) })
}
