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

	"github.com/jitinject/jitinject/internal/build"
	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/calltrace"
	"github.com/jitinject/jitinject/internal/clock"
	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/count"
	"github.com/jitinject/jitinject/internal/diagnose"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/output"
	"github.com/jitinject/jitinject/internal/plan"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/rewrite"
	"github.com/jitinject/jitinject/internal/runtime/mono"
	"github.com/jitinject/jitinject/internal/runtime/openj9"
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
func Run(ctx context.Context, opts config.Options) (*report.Summary, error) {
	if opts.Producer == "" {
		opts.Producer = "jitinject"
	}
	if _, _, err := clock.GivenOffset(opts.Clock); err != nil {
		return nil, err
	}
	in, err := recording.Open(&opts)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	began := time.Now()
	sum := &report.Summary{Version: report.SummaryVersion, Input: opts.Input, Output: opts.Output, Dumps: []report.DumpSummary{}, Problems: []report.Problem{}}
	if in.File != nil && in.File.Header.Unfinished {
		sum.Problem(report.Problem{File: in.Path, Offset: -1, Text: "perf record did not come to its end; the records up to there are used, what it writes last is missing", Advice: report.AdviceEnd})
	}
	if len(in.Missing) > 0 {
		sum.Problem(report.Problem{File: in.Path, Offset: -1, Text: fmt.Sprintf("there is no %s in it, but later files are there; what was recorded on some CPUs is missing", strings.Join(in.Missing, ", ")), Advice: "copy all of the directory"})
	}
	if in.Once {
		err = runOnce(ctx, in, &opts, sum)
	} else {
		err = runTwice(ctx, in, &opts, sum)
	}
	if err != nil && ctx.Err() != nil {
		return nil, objstore.WithLeft(ctx.Err(), objstore.Left(err)) // whatever that broke off
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
func runTwice(ctx context.Context, in *recording.Input, opts *config.Options, sum *report.Summary) error {
	rec, err := recording.Survey(ctx, in, !opts.NoCount)
	if err != nil {
		return recording.Error(in.Path, err)
	}
	if err := locate.NameDumps(rec, opts.Dumps); err != nil {
		return err
	}
	if in.File == nil && len(rec.Attrs) == 0 {
		return recording.Error(in.Path, perfdata.ErrNoData)
	}
	if rec.Cut >= 0 && (in.File == nil || !in.File.Header.Unfinished) {
		sum.Problem(cutProblem(in, rec.Cut))
	}
	opts.Logf(2, "surveyed: %d markers", len(rec.Markers))
	sum.AlreadyInjected = rec.Injected
	dumps, err := locate.Resolve(ctx, rec, []locate.Find{mono.Find, openj9.Find}, opts, sum)
	if err != nil {
		return err
	}
	defer func() { locate.CloseDumps(dumps) }()
	opts.Logf(2, "scanned: %d dumps", len(dumps))
	code, err := codebytes.Open(rec, opts, sum)
	if err != nil {
		return err
	}
	defer code.Close()
	for _, d := range dumps {
		mono.LeaveOutStrays(rec, d, sum)
		code.Give(d, opts, sum)
	}
	code.Report(sum)

	traces, err := calltrace.Open(ctx, rec, dumps, code, madeTraces, opts, sum)
	if err != nil {
		return err
	}
	defer calltrace.Close(traces)
	if opts.Strict && len(rec.Markers) == 0 && rec.Injected == 0 && len(traces) == 0 && !rec.CallsThere {
		if err := strictError(sum); err != nil {
			return err
		}
		return fmt.Errorf("%s: no process in it mapped a jitdump (jit-PID.dump); nothing was written, because of --strict", quote.Printable(opts.Input))
	}

	out, err := output.Open(opts, in, dumps)
	if err != nil {
		return err
	}
	defer out.Abandon()
	opts.Progress.Write()
	defer out.GiveUp(ctx)()
	found := len(dumps)
	stores, dumps, err := objstore.OpenAll(dumps, opts, sum)
	defer stores.Close()
	if err == nil && len(rec.Markers) > 0 && found == 0 && len(traces) == 0 {
		err = report.NothingToInject(sum.Problems)
	}
	var sources *objstore.SourceTree
	if err == nil {
		sources, err = objstore.OpenSources(opts)
		defer sources.Close()
	}
	var objects *build.Writer
	var planned *model.Plan
	var counter *count.Tally
	if err == nil {
		planner := plan.Make(rec, dumps, opts, sum)
		planned = &planner.Plan
		if opts.Sampled {
			err = plan.DropUntouched(ctx, planned, rec, calltrace.EachCalled(traces), sum)
		}
		if err == nil && !opts.NoCount {
			counter = count.Of(rec, planned) // functions in bundles are counted one by one, too
		}
		if err == nil && planner.Bundling {
			err = planner.Bundle(ctx, opts.Bundle)
		}
		if err == nil {
			for _, d := range dumps {
				sources.Place(d, sum)
				plan.DeriveFrames(rec, d, false, opts, sum)
			}
			sources.Report(dumps, sum)
			opts.Logf(2, "planned: %d objects, %d mappings", len(planned.Objects), len(planned.Mappings))
			objects, err = build.Make(ctx, planned, stores, sources, counter.Lacks, opts, sum)
		}
		if err == nil {
			opts.Logf(2, "made: %d objects", sum.Objects)
			counting := count.Start(ctx, counter, dumps)
			if err = rewrite.Copy(ctx, rec, planned, locate.UsedMarkers(build.LeftOut(planned).Without(dumps)), traces, out, opts.Compress, sum); errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
				err = output.Error(opts.Output, err)
			}
			stores.Report(sum)
			counting.Finish(sum, err)
			diagnose.Unresolved(rec, dumps, counter, sum)
			if err == nil {
				err = diagnose.Explain(ctx, rec, counter, opts, sum)
			}
			opts.Logf(2, "rewritten: %d mappings put in, %d records left out", sum.Mappings, sum.Dropped)
		}
	}
	if err == nil && opts.Strict {
		err = strictError(sum)
	}
	if err == nil {
		sum.BytesWritten = out.Size(sum.BytesWritten)
		err = out.Commit()
	}
	if err != nil {
		if objects != nil {
			err = objstore.WithLeft(err, objects.Undo())
		}
		sources.Undo()
		stores.RemoveMade()
		return err
	}
	stores.Mark()
	objstore.CacheObjects(ctx, planned, stores, opts, sum)
	sum.BytesRead = in.Size()
	addFindings(rec, dumps, sum)
	return nil
}

// cutProblem says that a record is incomplete.
func cutProblem(in *recording.Input, at int64) report.Problem {
	return report.Problem{File: in.Path, Offset: at, Text: fmt.Sprintf("it ends inside a record, at %#x", at), Advice: report.AdviceEnd}
}

// addFindings adds what is known of the dumps when all is done: whose they are, how much
// they hold, and what their producers got wrong.
func addFindings(rec *recording.Recording, dumps []*model.Dump, sum *report.Summary) {
	for i, d := range dumps {
		s := &sum.Dumps[i]
		s.Command = rec.CommOf(d.PID)
		s.LineAddresses = plan.LineAddresses(d)
		s.Stacks = rec.Stacks[d.PID]
		st, err := d.File.Stat()
		if err != nil { // of a stream, whose dumps are closed when they are complete
			st, err = os.Stat(d.Path)
		}
		if err == nil {
			s.Bytes = st.Size()
			if c := model.CaptureDump(d.Source); c != nil {
				s.Bytes = c.Bytes()
			}
			sum.BytesRead += s.Bytes
		}
		repairs := d.Source.Repairs()
		if j, ok := d.Source.(*source.Jitdump); ok {
			repairs = append(repairs, j.HeaderRepairs()...)
		}
		for _, r := range repairs {
			s.Repairs = append(s.Repairs, report.Repair(r))
			if r.Name == source.DisplacedTables {
				s.Unwind.Repaired = int(r.Count)
			}
		}
	}
}

// strictError returns what is missing in the result as an error.
func strictError(sum *report.Summary) error {
	problems := slices.Clone(sum.Problems)
	for i := range sum.Dumps {
		if d := &sum.Dumps[i]; d.Cut >= 0 {
			problems = append(problems, report.Problem{File: d.Path, Offset: d.Cut, Text: d.CutText(), Advice: "let its process end before you inject"})
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%w; nothing was written, because of --strict", report.ProblemsError(problems))
}
