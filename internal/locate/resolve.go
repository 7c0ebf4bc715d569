package locate

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/jitinject/jitinject/internal/clock"
	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/jitdump"
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
// that the user names.
func Resolve(ctx context.Context, rec *recording.Recording, formats []Format, code *codebytes.Files, opts *config.Options) (*Result, error) {
	f := &Finder{Rec: rec, Opts: opts, Formats: formats, Code: code}
	r := new(Result)
	defer func() { f.CloseOthers(r.Dumps) }()
	err := f.ListDirs()
	if err != nil {
		return nil, err
	}
	if err := f.FindAll(ctx, &r.Found); err != nil {
		return nil, err
	}
	references := referencesOf(rec)
	var dumps []*model.Dump
	var pending []*clock.Constraints // with clocks that need samples
	for _, c := range references {
		if err := f.Search(ctx, c); err != nil {
			return nil, err
		}
	}
	f.Assign(references)
	if references, err = f.substitute(ctx, references); err != nil {
		return nil, err
	}
	r.Found.Add(f.Unreadable)
	for _, c := range references {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d := c.Dump
		if d == nil {
			if p, ok := c.Problem(); ok {
				r.Found.Problem(p)
			} else if !c.gone {
				r.Found.Problem(f.Missing(c))
			}
			continue
		}
		if err := d.KnowsMachine(); err != nil {
			r.Found.Problem(report.ProblemOf(d.Path, err, ""))
			continue
		}
		e, err := clock.Match(d, rec, opts.Clock)
		if err != nil {
			r.Found.Problem(f.checked(d.Path, d.PID, err))
			continue
		}
		if e != nil {
			pending = append(pending, e)
		}
		d.NoteAssumed(&r.Found)
		opts.Logf(1, "%s: %s of process %d", quote.Printable(d.Path), d.Noun(), d.PID)
		dumps = append(dumps, d)
	}
	if err := clock.Estimate(ctx, rec, pending, opts, &r.Found); err != nil {
		return nil, err
	}
	for _, d := range dumps {
		for _, format := range formats {
			if format.Check != nil {
				format.Check(rec, d, &r.Found)
			}
		}
	}
	r.Dumps, r.Left = dumps, f.Left
	return r, nil
}

// CloseDumps closes the files of dumps.
func CloseDumps(dumps []*model.Dump) {
	for _, d := range dumps {
		d.File.Close()
	}
}

// UsedMarkers returns the markers of dumps that are in use.
func UsedMarkers(dumps []*model.Dump) (used []recording.Marker) {
	for _, d := range dumps {
		used = append(used, d.Markers...)
	}
	return used
}

// isRecordings fails if the dump cannot be of the recorded process: producers map it before they
// write to it. A process of another run, or container, may have had the same pid.
func isRecordings(d *model.Dump) error {
	since := d.Markers[0].Time
	for _, m := range d.Markers {
		since = min(since, m.Time)
	}
	for i := range d.Source.Scanned().Events {
		if d.Clock(d.Source.Scanned().Events[i].Time) >= since {
			return nil
		}
	}
	if len(d.Source.Scanned().Events) == 0 {
		return nil
	}
	return fmt.Errorf("all its records are older than its mapping in process %d; was it overwritten by another run?", d.PID)
}

// dumpAdvice adds advice to an error of opening a dump, if there is some.
func dumpAdvice(err error) error {
	switch {
	case errors.Is(err, jitdump.ErrNotJitdump):
		return fmt.Errorf("%w; was it overwritten by a later run?", err)
	case errors.Is(err, syscall.EIO):
		return fmt.Errorf("%w; the disk may be failing", err)
	}
	return err
}
