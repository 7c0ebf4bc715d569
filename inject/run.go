package inject

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/perfdata"
)

// Run reads opts.Input and writes opts.Output. If it returns an error, no output
// was written and an output that was there before is untouched; so are objects
// that were there and stay the same, but others may have been replaced already.
// Otherwise the summary says what was done, and whether anything is missing
// ([Summary.Complete]).
//
// When ctx is cancelled, Run stops soon and leaves no new file behind.
func Run(ctx context.Context, opts Options) (*Summary, error) {
	if opts.Producer == "" {
		opts.Producer = "jitinject"
	}
	if _, _, err := givenOffset(opts.Clock); err != nil {
		return nil, err
	}
	in, err := openInput(&opts)
	if err != nil {
		return nil, err
	}
	defer in.close()
	began := time.Now()
	sum := &Summary{Version: SummaryVersion, Input: opts.Input, Output: opts.Output, Dumps: []DumpSummary{}, Problems: []Problem{}}
	if in.file != nil && in.file.Header.Unfinished {
		sum.problem(Problem{File: in.path, Offset: -1, Text: "perf record did not come to its end; the records up to there are used, what it writes last is missing", Advice: adviceEnd})
	}
	if len(in.missing) > 0 {
		sum.problem(Problem{File: in.path, Offset: -1, Text: fmt.Sprintf("there is no %s in it, but later files are there; what was recorded on some CPUs is missing", strings.Join(in.missing, ", ")), Advice: "copy all of the directory"})
	}
	if in.once {
		err = runOnce(ctx, in, &opts, sum)
	} else {
		err = runTwice(ctx, in, &opts, sum)
	}
	if err != nil && ctx.Err() != nil {
		return nil, withLeft(ctx.Err(), Left(err)) // whatever that broke off
	}
	if err != nil {
		return nil, err
	}
	sum.Elapsed = time.Since(began)
	return sum, nil
}

// madeTraces are traces that no file holds, of tests.
var madeTraces []calls.Trace

// runTwice walks an input twice: all is known before the first byte is written.
func runTwice(ctx context.Context, in *input, opts *Options, sum *Summary) error {
	rec, err := surveyRecording(ctx, in, !opts.NoCount)
	if err != nil {
		return inputError(in.path, err)
	}
	if err := rec.nameDumps(opts.Dumps); err != nil {
		return err
	}
	if in.file == nil && len(rec.attrs) == 0 {
		return inputError(in.path, perfdata.ErrNoData)
	}
	if rec.cut >= 0 && (in.file == nil || !in.file.Header.Unfinished) {
		sum.problem(cutProblem(in, rec.cut))
	}
	opts.logf(2, "surveyed: %d markers", len(rec.markers))
	sum.AlreadyInjected = rec.injected
	dumps, err := findDumps(ctx, rec, []find{monoLogs, captures}, opts, sum)
	if err != nil {
		return err
	}
	defer func() { closeDumps(dumps) }()
	opts.logf(2, "scanned: %d dumps", len(dumps))
	code, err := openCode(rec, opts, sum)
	if err != nil {
		return err
	}
	defer code.close()
	for _, d := range dumps {
		rec.leaveOutStrays(d, sum)
		code.give(d, opts, sum)
	}
	code.report(sum)

	traces, err := openTraces(ctx, rec, dumps, code, madeTraces, opts, sum)
	if err != nil {
		return err
	}
	defer closeTraces(traces)
	if opts.Strict && len(rec.markers) == 0 && rec.injected == 0 && len(traces) == 0 && !rec.callsThere {
		if err := strictError(sum); err != nil {
			return err
		}
		return fmt.Errorf("%s: no process in it mapped a jitdump (jit-PID.dump); nothing was written, because of --strict", Printable(opts.Input))
	}

	out, err := openOutput(opts, in, dumps)
	if err != nil {
		return err
	}
	defer out.abandon()
	opts.Progress.write()
	defer out.giveUp(ctx)()
	found := len(dumps)
	stores, dumps, err := openStores(dumps, opts, sum)
	defer stores.close()
	if err == nil && len(rec.markers) > 0 && found == 0 && len(traces) == 0 {
		err = nothingToInject(sum.Problems)
	}
	var sources *sourceTree
	if err == nil {
		sources, err = openSources(opts)
		defer sources.close()
	}
	var objects *objectWriter
	var planned *plan
	var counter *tally
	if err == nil {
		planner := makePlan(rec, dumps, opts, sum)
		planned = &planner.plan
		if opts.Sampled {
			err = planned.dropUntouched(ctx, rec, eachCalled(traces), sum)
		}
		if err == nil && !opts.NoCount {
			counter = countOf(rec, planned) // functions in bundles are counted one by one, too
		}
		if err == nil && planner.bundling {
			err = planner.bundle(ctx, opts.Bundle)
		}
		if err == nil {
			for _, d := range dumps {
				sources.place(d, sum)
				deriveFrames(rec, d, false, opts, sum)
			}
			sources.report(dumps, sum)
			opts.logf(2, "planned: %d objects, %d mappings", len(planned.objects), len(planned.mappings))
			objects, err = makeObjects(ctx, planned, stores, sources, counter.lacks, opts, sum)
		}
		if err == nil {
			opts.logf(2, "made: %d objects", sum.Objects)
			counting := startCount(ctx, counter, dumps)
			if err = rewrite(ctx, rec, planned, usedMarkers(planned.leftOut().without(dumps)), traces, out, opts.Compress, sum); errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
				err = outputError(opts.Output, err)
			}
			stores.report(sum)
			counting.finish(sum, err)
			rec.reportUnresolved(dumps, counter, sum)
			if err == nil {
				err = rec.explain(ctx, counter, opts, sum)
			}
			opts.logf(2, "rewritten: %d mappings put in, %d records left out", sum.Mappings, sum.Dropped)
		}
	}
	if err == nil && opts.Strict {
		err = strictError(sum)
	}
	if err == nil {
		sum.BytesWritten = out.size(sum.BytesWritten)
		err = out.commit()
	}
	if err != nil {
		if objects != nil {
			err = withLeft(err, objects.undo())
		}
		sources.undo()
		stores.removeMade()
		return err
	}
	stores.mark()
	cacheObjects(ctx, planned, stores, opts, sum)
	sum.BytesRead = in.size()
	addFindings(rec, dumps, sum)
	return nil
}

// cutProblem says that a record is incomplete.
func cutProblem(in *input, at int64) Problem {
	return Problem{File: in.path, Offset: at, Text: fmt.Sprintf("it ends inside a record, at %#x", at), Advice: adviceEnd}
}

// addFindings adds what is known of the dumps when all is done: whose they are, how much
// they hold, and what their producers got wrong.
func addFindings(rec *recording, dumps []*dump, sum *Summary) {
	for i, d := range dumps {
		s := &sum.Dumps[i]
		s.Command = rec.commOf(d.pid)
		s.LineAddresses = d.lineAddresses()
		s.Stacks = rec.stacks[d.pid]
		st, err := d.file.Stat()
		if err != nil { // of a stream, whose dumps are closed when they are complete
			st, err = os.Stat(d.path)
		}
		if err == nil {
			s.Bytes = st.Size()
			if c := captureDump(d.source); c != nil {
				s.Bytes = c.Bytes()
			}
			sum.BytesRead += s.Bytes
		}
		repairs := d.source.Repairs()
		if j, ok := d.source.(*source.Jitdump); ok {
			repairs = append(repairs, j.HeaderRepairs()...)
		}
		for _, r := range repairs {
			s.Repairs = append(s.Repairs, Repair(r))
			if r.Name == source.DisplacedTables {
				s.Unwind.Repaired = int(r.Count)
			}
		}
	}
}

// strictError returns what is missing in the result as an error.
func strictError(sum *Summary) error {
	problems := slices.Clone(sum.Problems)
	for i := range sum.Dumps {
		if d := &sum.Dumps[i]; d.Cut >= 0 {
			problems = append(problems, Problem{File: d.Path, Offset: d.Cut, Text: d.cutText(), Advice: "let its process end before you inject"})
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%w; nothing was written, because of --strict", problemsError(problems))
}

// nothingToInject is the error of a run in which no dump could be used.
func nothingToInject(problems []Problem) error {
	return fmt.Errorf("%w\nnone of the functions could be injected; no output was written", problemsError(problems))
}

// problemsError joins problems into one error.
func problemsError(problems []Problem) error {
	errs := make([]error, len(problems))
	for i, p := range problems {
		errs[i] = errors.New(p.String())
	}
	return errors.Join(errs...)
}
