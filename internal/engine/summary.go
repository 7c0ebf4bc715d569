package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/build"
	"github.com/jitinject/jitinject/internal/calltrace"
	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/count"
	"github.com/jitinject/jitinject/internal/known"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/plan"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/rewrite"
	"github.com/jitinject/jitinject/internal/source"
)

// The summary is made of the results of the stages, in their order.

// newSummary returns the summary of a run that has opened its input.
func newSummary(opts *config.Options) *report.Summary {
	return &report.Summary{Version: report.SummaryVersion, Input: opts.Input, Output: opts.Output, Dumps: []report.DumpSummary{}, Problems: []report.Problem{}}
}

// addInput adds what is missing in an input.
func addInput(sum *report.Summary, in *recording.Input) {
	if in.File.Header.Unfinished {
		sum.Problem(report.Problem{Code: report.ProblemRecording, File: in.Path, Offset: -1, Text: "perf record did not finish; the records are used, but the features after them are missing", Advice: report.AdviceEnd})
	}
	if len(in.Missing) > 0 {
		sum.Problem(report.Problem{Code: report.ProblemRecording, File: in.Path, Offset: -1, Text: fmt.Sprintf("%s is missing in it, but later files exist; records of some CPUs are missing", strings.Join(in.Missing, ", ")), Advice: "copy all of the directory"})
	}
}

// addSurvey adds the results of the survey.
func addSurvey(sum *report.Summary, rec *recording.Recording) {
	if rec.Cut >= 0 && !rec.In.File.Header.Unfinished {
		addCut(sum, rec.In, rec.Cut, rec.Text)
	}
	if p, ok := rec.DamagedProblem(); ok {
		sum.Problem(p)
	}
	if len(rec.Attrs) == 0 {
		sum.Note(quote.Printable(rec.In.Path) + ": the recording has no events")
	}
	sum.AlreadyInjected, sum.Cmdline = rec.Injected, rec.Cmdline
}

// addCut adds the problem of an incomplete record at an offset, or a note if there is a text instead: all
// records are whole then.
func addCut(sum *report.Summary, in *recording.Input, at int64, text string) {
	if text != "" {
		sum.Note(fmt.Sprintf("%s: text follows its last record, as if standard error went into the same pipe (2>&1); it is left out: %.300q; to keep messages apart: %s", quote.Printable(in.Path), strings.TrimSpace(text), report.PipeCommand))
		return
	}
	advice := report.AdviceEnd
	if in.File.IsPipe {
		advice = report.AdvicePipe
	}
	sum.Problem(report.Problem{Code: report.ProblemRecording, File: in.Path, Offset: at, Text: fmt.Sprintf("it ends inside a record, at %#x", at), Advice: advice})
}

// addBuilt adds the results of making objects.
func addBuilt(sum *report.Summary, r build.Result) {
	sum.Objects, sum.ObjectBytes, sum.Unchanged, sum.Replaced = r.Objects, r.Bytes, r.Unchanged, r.Replaced
	for number, counts := range r.Dumps {
		counts.Fill(&sum.Dumps[number])
	}
	sum.Add(r.Found)
}

// addCopied adds the results of rewriting the recording.
func addCopied(sum *report.Summary, r rewrite.Result, traces *calltrace.Traces) {
	sum.Mappings, sum.Tables, sum.Dropped, sum.BytesWritten = r.Mappings, r.Tables, r.Dropped, r.Bytes
	sum.Traces = traces.Summaries
	sum.Add(traces.Found)
}

// addCounted adds the numbers of samples.
func addCounted(sum *report.Summary, r count.Result) {
	sum.Samples, sum.Hottest = r.Samples, r.Hottest
	for i, samples := range r.Dumps {
		sum.Dumps[i].Samples = samples
	}
	sum.Add(r.Found)
}

// addDumps adds data about the dumps that is known only at the end: the names of their processes,
// their sizes, and which quirks were fixed.
func addDumps(sum *report.Summary, rec *recording.Recording, dumps []*model.Dump) {
	for i, d := range dumps {
		s := &sum.Dumps[i]
		s.Command = rec.CommOf(d.PID)
		s.LineAddresses = plan.LineAddresses(d)
		if s.Stacks = rec.Stacks[d.PID]; s.Stacks != nil && rec.Processes[d.PID] != nil {
			s.Stacks.Own = known.Of(rec.Processes[d.PID]).HasOwnStack()
		}
		st, err := d.File.Stat()
		if err == nil {
			s.Bytes = st.Size()
			if g, ok := d.Source.(source.Group); ok {
				s.Bytes = g.Bytes()
			}
			sum.BytesRead += s.Bytes
		}
		for _, r := range d.Source.Fixes() {
			s.Fixes = append(s.Fixes, report.Fix(r))
			if r.Name == source.DisplacedTables {
				s.Unwind.Fixed = int(r.Count)
			}
		}
	}
}

// addUnread adds a problem for each file that could not be read, at least in part, if no problem names it.
// A reader may take what it could not read for something that is not there. code may be nil.
func addUnread(sum *report.Summary, rec *recording.Recording, code *codebytes.Files, dumps []*model.Dump) {
	add := func(path string, err error) { addFailed(sum, path, err) }
	add(rec.In.Path, rec.In.Failed())
	for _, d := range dumps {
		add(d.Path, d.File.Failed())
	}
	code.EachFailed(add)
	for _, name := range slices.Sorted(maps.Keys(rec.Unread)) {
		add(name, rec.Unread[name])
	}
}

// addFailed adds a problem for a file with an error of reading it, which may be nil, if no problem names
// the file.
func addFailed(sum *report.Summary, path string, err error) {
	if err == nil || slices.ContainsFunc(sum.Problems, func(p report.Problem) bool { return p.File == path || strings.Contains(p.Text, quote.Printable(path)) }) {
		return
	}
	if in := (*fs.PathError)(nil); errors.As(err, &in) {
		err = in.Err
	}
	sum.Problem(report.Problem{Code: report.ProblemUnreadable, File: path, Offset: -1, Text: fmt.Sprintf("a part of it could not be read, and is missing: %v", err), Advice: report.AdviceOr(err, "inject again; the disk may be failing")})
}

// strictError returns an error with all that is missing in the result, or nil.
func strictError(sum *report.Summary, opts *config.Options, written bool) error {
	problems := slices.Clone(sum.Problems)
	for i := range sum.Dumps {
		if d := &sum.Dumps[i]; d.Cut >= 0 {
			problems = append(problems, report.Problem{Code: report.ProblemDamage, File: d.Path, Offset: d.Cut, Text: d.CutText(), Advice: d.CutAdvice(opts.Again)})
		}
	}
	if len(problems) == 0 {
		return nil
	}
	strict := report.ErrStrict
	if written {
		strict = report.ErrStrictWritten
	}
	return fmt.Errorf("%w; %w", report.ProblemsError(problems), strict)
}
