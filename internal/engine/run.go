package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/build"
	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/calltrace"
	"github.com/jitinject/jitinject/internal/clock"
	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/count"
	"github.com/jitinject/jitinject/internal/diagnose"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/merge"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/output"
	"github.com/jitinject/jitinject/internal/plan"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/rewrite"
	"github.com/jitinject/jitinject/internal/unwind"
	"github.com/jitinject/jitinject/perfdata"
)

// Run reads opts.Input, writes opts.Output, and returns a summary of what it did. The summary
// says whether anything is missing ([report.Summary.Complete]).
//
// If Run fails, it writes no output and leaves an existing output as it was. Existing objects
// with the same contents are left as they were, too. But others may have been replaced
// already.
//
// When ctx is cancelled, Run stops soon and leaves no new file.
func Run(ctx context.Context, opts config.Options) (*report.Summary, error) {
	if opts.Producer == "" {
		opts.Producer = "jitinject"
	}
	if _, _, err := clock.GivenOffset(opts.Clock); err != nil {
		return nil, err
	}
	if err := checkSideFiles(&opts); err != nil {
		return nil, err
	}
	in, err := recording.Open(&opts)
	if err != nil {
		return nil, err
	}
	defer func() { in.Close() }() // spool replaces it
	began := time.Now()
	sum := newSummary(&opts)
	err = run(ctx, in, &opts, sum)
	if err != nil && ctx.Err() != nil {
		// an effect of the cancellation
		return nil, objstore.WithLeft(ctx.Err(), objstore.Left(err))
	}
	if err != nil {
		return nil, err
	}
	sum.Elapsed = time.Since(began)
	return sum, nil
}

// syntheticTraces are traces without a file. Only tests set them.
var syntheticTraces []calls.Trace

// run injects an input. All is known before the first byte is written.
func run(ctx context.Context, in *recording.Input, opts *config.Options, sum *report.Summary) (err error) {
	out := new(output.Output)
	if !opts.Preview {
		if out, err = output.Open(opts, in); err != nil {
			return err
		}
		defer func() { err = objstore.WithLeft(err, out.Abandon()) }()
	}
	var held locate.Held
	defer held.Close()
	if err := spool(ctx, in, &held, out, opts); err != nil {
		return err
	}
	addInput(sum, in)
	rec, err := survey(ctx, in, opts)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil && in.IsPipe() && (opts.Strict || opts.Clock == "strict") && ctx.Err() == nil && (out.Temp != nil || sum.BytesWritten == 0) {
			err = keep(err, in, out, opts)
		}
	}()
	addSurvey(sum, rec)
	opts.Logf(2, "surveyed: %d markers", len(rec.Markers))

	var opened report.Findings
	code, err := codebytes.Open(rec, opts, &opened)
	if err != nil {
		return err
	}
	defer code.Close()
	located, err := locate.Resolve(ctx, rec, &held, formats.Dumps(), code, opts)
	if err != nil {
		return err
	}
	defer locate.CloseDumps(located.Dumps)
	sum.Markers = len(rec.Markers)
	sum.Add(located.Found)
	opts.Logf(2, "scanned: %d dumps", len(located.Dumps))

	attached, err := formats.Attach(ctx, rec, located.Dumps, opts)
	if err != nil {
		return err
	}
	defer attached.Close()
	dumps := located.Dumps
	sum.Add(attached.Found)
	opts.Logf(2, "described: %d logs", len(attached.Files))

	if len(opts.CodeFrom) > 0 || len(opts.Live) > 0 {
		opts.Progress.Begin(report.PhaseCode, 0)
	}
	sum.Add(opened)
	sum.Add(code.ProvideAll(dumps, opts))

	merged, found, err := merge.Sources(ctx, rec, dumps)
	if err != nil {
		return err
	}
	sum.Add(found)

	traces, err := calltrace.Open(ctx, rec, dumps, code, syntheticTraces, formats.Calls(), opts)
	if err != nil {
		return err
	}
	defer traces.Close()
	sum.Add(traces.Found)
	dumps = merged
	if opts.Strict && len(rec.Markers) == 0 && rec.Injected == 0 && traces.Len() == 0 && !traces.Again {
		return cmp.Or(strictError(sum, opts, false), fmt.Errorf("%s: no process in it mapped a jitdump (jit-PID.dump)%s; %w", quote.Printable(in.Path), refused(&located.Left), report.ErrStrict))
	}

	if opts.Preview {
		r := &result{rec: rec, left: located.Left, code: code, dumps: dumps, traces: traces, dirs: new(dirs), opts: opts, sum: sum}
		return r.preview(ctx)
	}
	if err := out.Spares(dumps); err != nil {
		return err
	}
	opts.Progress.Write()
	defer out.GiveUp(ctx)()
	dirs := new(dirs)
	stores, usable, found, err := objstore.OpenAll(ctx, dumps, opts)
	dirs.stores = stores
	defer func() { err = dirs.end(sum, err) }()
	sum.Add(found)
	isCopy := in.IsPipe() && opts.Clock != "strict" // or else the recording would be lost
	if err == nil && len(rec.Markers) > 0 && len(dumps) == 0 && traces.Len() == 0 && !isCopy {
		err = report.NothingToInject(sum.Problems)
	}
	if err == nil {
		r := &result{rec: rec, left: located.Left, code: code, dumps: usable, traces: traces, dirs: dirs, out: out, opts: opts, sum: sum}
		err = r.produce(ctx)
	}
	if err != nil && in.IsPipe() && out.Temp == nil && sum.Mappings > 0 { // the recording is gone: what went into a pipe may be of use, and needs its objects
		return err
	}
	if err != nil {
		return dirs.undo(err)
	}
	sum.Add(dirs.stores.Mark())
	sum.Cached, found = objstore.CacheObjects(ctx, dirs.plan, dirs.stores, opts)
	sum.Add(found)
	sum.BytesRead = in.Size()
	addDumps(sum, rec, usable)
	for i, d := range usable {
		sum.Dumps[i].Logs, sum.Dumps[i].Unlogged = d.Logs, d.Unlogged
	}
	attached.EachFailed(func(path string, err error) { addFailed(sum, path, err) })
	return nil
}

// survey walks the recording for the first time.
func survey(ctx context.Context, in *recording.Input, opts *config.Options) (*recording.Recording, error) {
	rec, err := recording.Survey(ctx, in, !opts.NoCount)
	if err != nil {
		return nil, in.Error(err)
	}
	if err := locate.NameDumps(rec, opts.Named(config.AnyDump)); err != nil {
		return nil, err
	}
	if in.File.IsPipe && len(rec.Attrs) == 0 {
		return nil, recording.Error(in.Path, perfdata.ErrNoData)
	}
	return rec, nil
}

// A result is the state of a run that its stages share.
type result struct {
	rec    *recording.Recording
	left   locate.Left
	code   *codebytes.Files
	dumps  []*model.Dump
	traces *calltrace.Traces
	dirs   *dirs
	out    *output.Output
	opts   *config.Options
	sum    *report.Summary
}

// produce makes the objects and the recording, makes them durable, and puts the recording in its
// place.
func (r *result) produce(ctx context.Context) error {
	var err error
	if r.dirs.sources, err = objstore.OpenSources(r.opts); err != nil {
		return err
	}
	if err := r.write(ctx); err != nil {
		return err
	}
	if r.opts.Strict {
		if err := strictError(r.sum, r.opts, r.out.Temp == nil); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil && r.out.Temp != nil {
		return err
	}
	r.opts.Progress.Begin(report.PhaseSync, 0)
	if err := r.dirs.sync(r.opts); err != nil {
		return err
	}
	r.sum.BytesWritten = r.out.Size(r.sum.BytesWritten)
	problem, err := r.out.Commit()
	if problem != nil {
		r.sum.Problem(report.Problem{Code: report.ProblemLeftOver, Offset: -1, Text: problem.Error()})
	}
	return err
}

// write plans the objects, makes them, and writes the recording with their mappings.
func (r *result) write(ctx context.Context) error {
	planned, wait, err := r.plan(ctx)
	if err != nil {
		return err
	}
	r.dirs.plan = planned
	plan.Collect()
	r.opts.Logf(2, "planned: %d objects, %d mappings", len(planned.Objects), len(planned.Mappings))

	made, built, err := build.Make(ctx, planned, r.dirs.stores, r.dirs.sources, func(d *model.Dump, function int) { wait().Lacks(d, function) }, r.opts)
	counter := wait()
	r.dirs.made = made
	addBuilt(r.sum, built)
	if errors.Is(err, build.ErrNothing) && !r.rec.In.IsPipe() {
		return report.NothingToInject(r.sum.Problems)
	}
	if err != nil && !errors.Is(err, build.ErrNothing) {
		return err
	}
	plan.Collect()
	r.opts.Logf(2, "made: %d objects", r.sum.Objects)

	if r.opts.Strict && r.out.Temp == nil { // what is written cannot be taken back
		if err := strictError(r.sum, r.opts, false); err != nil {
			return err
		}
	}
	counting := count.Start(ctx, counter, r.dumps)
	copied, err := rewrite.Copy(ctx, r.rec, planned, model.MarkersOf(build.LeftOut(planned).Without(r.dumps)), r.traces, r.out, r.opts.Compress)
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || r.out.IsOwn(err) {
		err = output.Error(r.opts.Output, err)
	}
	addCopied(r.sum, copied, r.traces)
	r.sum.MostMappings = planned.MostMappings()
	r.sum.Add(r.dirs.stores.Report())
	counted := counting.Finish(r.sum.Dumps, r.opts.Again, err)
	if err != nil {
		return err
	}
	addCounted(r.sum, counted)
	if counted.Samples != nil {
		if r.sum.Hottest.Callers, err = counter.CountCallers(ctx, r.dumps, r.sum.Dumps); err != nil {
			return err
		}
	}
	r.opts.Logf(2, "rewritten: %d mappings put in, %d records left out", r.sum.Mappings, r.sum.Dropped)
	return explain(ctx, r.rec, r.left, r.code, r.dumps, counter, r.opts, r.sum)
}

// plan returns the plan of a run, and a function that waits for a sample counter. The counter has every single function,
// those in bundles included. It is nil if samples are not to be counted.
func (r *result) plan(ctx context.Context) (*model.Plan, func() *count.Counter, error) {
	r.opts.Progress.Begin(report.PhasePlan, 0)
	histories := recording.NewFileHistories(r.rec)
	functions, err := plan.Place(ctx, r.rec, histories, r.dumps, r.opts)
	if err != nil {
		return nil, nil, err
	}
	large := func(d *model.Dump) bool { return !r.opts.Bundle && isLarge(d) }
	if r.opts.Sampled || slices.ContainsFunc(r.dumps, large) {
		if err := functions.KeepReferenced(ctx, r.traces.EachCalled(), large, r.opts.Sampled); err != nil {
			return nil, nil, err
		}
	}
	counter := func() *count.Counter { return nil }
	beside := runtime.GOMAXPROCS(0) > 1 && len(functions.Mappings) <= 1<<18 // or else both would take much memory
	if !r.opts.NoCount && beside {
		counter = count.Begin(r.rec, functions.Functions, r.dumps)
	}
	planned, err := functions.Layout(ctx, r.opts.Bundle)
	if err != nil {
		counter() // its goroutine must not outlive the run
		return nil, nil, err
	}
	if !r.opts.NoCount && !beside {
		counter = count.Begin(r.rec, functions.Functions, r.dumps)
	}
	planned.DropUnmapped()
	r.sum.Dumps = functions.Lines
	r.sum.Add(functions.Found)
	for _, d := range r.dumps {
		if err := ctx.Err(); err != nil {
			counter()
			return nil, nil, err
		}
		s := &r.sum.Dumps[d.Number]
		var found report.Findings
		s.Sources, found = r.dirs.sources.Place(d)
		r.sum.Add(found)
		s.Frames = unwind.Derive(r.rec, histories, d, r.opts.CFI).String()
	}
	return planned, counter, nil
}

// explain adds possible causes to the summary if functions or samples are missing. counter may be
// nil.
func explain(ctx context.Context, rec *recording.Recording, left locate.Left, code *codebytes.Files, dumps []*model.Dump, counter *count.Counter, opts *config.Options, sum *report.Summary) (err error) {
	if counter != nil && sum.Samples != nil {
		sum.Add(diagnose.Unresolved(rec, dumps, sum.Dumps, counter, sum.Input))
	}
	if n := rec.LeftMappings(); n > 0 {
		sum.Problem(report.Problem{Code: report.ProblemLimit, Offset: -1, Text: fmt.Sprintf("processes inherited more than %d mappings; of the rest, functions may lack their code, or have none of the names that depend on files", n), Advice: "record fewer processes, or a shorter time"})
	}
	sum.Add(diagnose.Idle(rec, code, counter))
	var found report.Findings
	sum.Reasons, found, err = diagnose.Explain(ctx, &diagnose.Case{
		Rec: rec, Left: left, Code: code, Formats: formats.Dumps(), Counter: counter, Traces: len(sum.Traces) > 0, Problems: len(sum.Problems) > 0, Opts: opts,
	})
	sum.Add(found)
	addUnread(sum, rec, code, dumps)
	return err
}
