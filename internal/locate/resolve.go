package locate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

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
// that the user names. held has the files of a recording that came through a pipe.
func Resolve(ctx context.Context, rec *recording.Recording, held *Held, formats []Format, code *codebytes.Files, opts *config.Options) (*Result, error) {
	f := &Finder{Rec: rec, Opts: opts, Formats: formats, Code: code, held: held}
	r := new(Result)
	defer func() { f.CloseOthers(r.Dumps) }()
	err := f.ListDirs()
	if err != nil {
		return nil, err
	}
	switch err := f.FindAll(ctx, &r.Found); {
	case err != nil && rec.In.IsPipe() && ctx.Err() == nil: // what has come is not lost
		r.Found.Problem(report.Problem{Code: report.ProblemUnused, Offset: -1, Text: err.Error(), Advice: "inject from a file: perf record -o FILE"})
	case err != nil:
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
		f.noteTail(d, &r.Found)
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

// fits returns how sure it is that an open file is the dump d of the recording. The error says what
// refutes it. Times alone hardly do: they may be of another clock. Earlier ones count where neither an address
// nor the file itself tells, and a dump with times that fit takes precedence.
func (f *Finder) fits(d *model.Dump, s *SideFile) (recording.Confidence, error) {
	fits, older := d.Fits(f.Rec), clock.IsOlder(d, f.Rec)
	switch {
	case fits == recording.Refuted:
		err := fmt.Errorf("none of its code is where process %d had executable memory; was it overwritten by another run?", d.PID)
		return fits, report.Advise(err, "if it is the right one nevertheless, name it with %s", report.NamedDump(d.PID))
	case clock.IsLater(d, f.Rec):
		err := fmt.Errorf("all its times come after the end of process %d; was it overwritten by another run?", d.PID)
		return recording.Refuted, report.Advise(err, "if it is the right one nevertheless, name it with %s", report.NamedDump(d.PID))
	case fits == recording.Possible && older && !isMapped(d, s) && !d.IsSampled(f.Rec):
		return recording.Refuted, fmt.Errorf("all its records are older than its mapping in process %d, and no sample is in its functions; was it overwritten by another run?", d.PID)
	case older:
		return recording.Unlikely, nil
	}
	return fits, nil
}

// isMapped reports whether an open file has the inode of a dump's mapping. Numbers of inodes are used
// again, but those of files that were written before the mapping are not.
func isMapped(d *model.Dump, s *SideFile) bool {
	st, ok := s.Info.Sys().(*syscall.Stat_t)
	return ok && slices.ContainsFunc(d.Markers, func(m recording.Marker) bool {
		return m.File.Inode == st.Ino && m.File.Inode != 0 && uint64(m.File.Major) == uint64(unix.Major(st.Dev)) && uint64(m.File.Minor) == uint64(unix.Minor(st.Dev))
	})
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
