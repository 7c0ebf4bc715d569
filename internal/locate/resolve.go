package locate

import (
	"context"
	"fmt"

	"github.com/jitinject/jitinject/internal/clock"
	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A Result has the dumps that were found, the files without a process, and findings.
type Result struct {
	Dumps []*model.Dump
	Left  Left
	Found report.Findings
}

// Left are files of formats without a marker that belong to no process.
type Left struct {
	// Logs are the logs that were refused.
	Logs []RefusedLog
	// Maps are the perf maps that were found for a process and refused.
	Maps     []RefusedLog
	Captures int // number of captures that the user named and that have a problem
}

// A RefusedLog is a log, or a perf map, that was opened and not used.
type RefusedLog struct {
	Path string
	PID  uint32 // the process in its name or header; 0 for none
	// Err is the reason.
	Err error
}

// Resolve finds, opens and scans the dumps that the recording's markers name, each once. Dumps
// that cannot be used become problems. Their markers stay in the output, so that a later run can
// do better. The error is ctx's, or of options that cannot be followed. The caller closes the
// dumps.
//
// First, each format adds markers for its side files that no mapping describes. code has the memories
// that the user names. held has the files of a recording that came through a pipe.
func Resolve(ctx context.Context, rec *recording.Recording, held *Held, formats []Format, code *codebytes.Files, opts *config.Options) (*Result, error) {
	f := &Finder{Rec: rec, Opts: opts, Formats: formats, Code: code, held: held, given: make(map[string]*SideFile)}
	result := new(Result)
	defer func() { f.CloseOthers(result.Dumps) }()
	err := f.listDirs()
	if err != nil {
		return nil, err
	}
	f.markMapped()
	switch err := f.FindAll(ctx, &result.Found); {
	case err != nil && rec.In.IsPipe() && ctx.Err() == nil: // what has come is not lost
		result.Found.Problem(report.Problem{Code: report.ProblemUnused, Offset: -1, Text: err.Error(), Advice: "inject from a file: perf record -o FILE"})
	case err != nil:
		return nil, err
	}
	references := referencesOf(rec)
	if err := f.assign(ctx, references); err != nil {
		return nil, err
	}
	if references, err = f.substitute(ctx, references); err != nil {
		return nil, err
	}
	result.Found.Add(f.Unreadable)
	var dumps []*model.Dump
	var pending []*clock.Constraints // with clocks that need samples
	missing := 0
	for _, r := range references {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.Dump == nil {
			if p, ok := r.Problem(); ok {
				result.Found.Problem(p)
			} else if !r.gone {
				if missing++; missing <= maxMissing {
					result.Found.Problem(f.missing(r))
				}
			}
			continue
		}
		constraints, ok := f.use(r.Dump, &result.Found)
		if ok {
			dumps = append(dumps, r.Dump)
		}
		if constraints != nil {
			pending = append(pending, constraints)
		}
	}
	if missing > maxMissing {
		result.Found.Problem(report.Problem{Code: report.ProblemNoDump, Offset: -1, Text: fmt.Sprintf("%d more dumps are gone", missing-maxMissing), Advice: adviceMissing()})
	}
	if err := clock.Estimate(ctx, rec, pending, opts, &result.Found); err != nil {
		return nil, err
	}
	for _, d := range dumps {
		for _, format := range formats {
			if format.Check != nil {
				format.Check(rec, d, &result.Found)
			}
		}
	}
	result.Dumps, result.Left = dumps, f.Left
	return result, nil
}

// use matches the clock of a dump that has its processes. ok says that the dump can be used.
func (f *Finder) use(d *model.Dump, found *report.Findings) (constraints *clock.Constraints, ok bool) {
	if err := d.KnowsMachine(); err != nil {
		found.Problem(report.ProblemOf(d.Path, err, ""))
		return nil, false
	}
	times, err := clock.Read(d, f.Rec)
	if err == nil {
		constraints, err = times.Match(f.Opts.Clock)
	}
	if err != nil {
		found.Problem(f.checked(d.Path, d.PID, err))
		return nil, false
	}
	d.NoteAssumed(found)
	f.noteTail(d, found)
	f.Opts.Logf(1, "%s: %s of process %d", quote.Printable(d.Path), d.Noun(), d.PID)
	return constraints, true
}

// CloseDumps closes the files of dumps.
func CloseDumps(dumps []*model.Dump) {
	for _, d := range dumps {
		d.File.Close()
	}
}

// Attached are files of one format that describe functions in dumps of another. Its owner closes it.
type Attached struct {
	Files []*sys.File // they stay open until the last function is read
	Found report.Findings
}

// Close closes the files. Functions of the dumps must not be read afterwards.
func (a *Attached) Close() {
	for _, f := range a.Files {
		f.Close()
	}
}

// EachFailed calls f for each file that could not be read, at least in part, with the first error.
func (a *Attached) EachFailed(f func(path string, err error)) {
	for _, file := range a.Files {
		if err := file.Failed(); err != nil {
			f(file.Name(), err)
		}
	}
}
