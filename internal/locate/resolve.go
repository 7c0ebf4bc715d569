package locate

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/jitinject/jitinject/internal/clock"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/source"
)

// A Find looks for side files of one format.
type Find func(ctx context.Context, f *Finder, sum *report.Summary) error

// Resolve finds, opens and scans the dumps that the recording's markers name,
// each once. Those that cannot be used become problems; their markers stay in the
// output, so that a later run can do better. The error is ctx's, or of options
// that cannot be followed.
//
// Before that, each of finds adds markers for side files that no mapping tells of.
func Resolve(ctx context.Context, rec *recording.Recording, finds []Find, opts *config.Options, sum *report.Summary) (dumps []*model.Dump, err error) {
	f := &Finder{Rec: rec, Opts: opts}
	defer func() { f.CloseOthers(dumps) }()
	if err := f.ListDirs(); err != nil {
		return nil, err
	}
	for _, find := range finds {
		if err := find(ctx, f, sum); err != nil {
			return nil, err
		}
	}
	sum.Markers = len(rec.Markers)
	claims := claimsOf(rec)
	var pending []*clock.Evidence // about clocks
	for _, c := range claims {
		if err := f.Search(ctx, c); err != nil {
			return nil, err
		}
	}
	f.Settle(claims)
	for _, c := range claims {
		d := c.Dump
		if d == nil {
			if p, ok := c.Problem(); ok {
				sum.Problem(p)
			} else if !c.gone {
				sum.Problem(f.Missing(c))
			}
			continue
		}
		if err := d.KnowsMachine(); err != nil {
			sum.Problem(report.ProblemOf(d.Path, err, ""))
			continue
		}
		e, err := clock.Match(d, rec, opts.Clock)
		if err != nil {
			sum.Problem(f.checked(d.Path, d.PID, err))
			continue
		}
		if e != nil {
			pending = append(pending, e)
		}
		d.NoteAssumed(sum)
		opts.Logf(1, "%s: dump of process %d", quote.Printable(d.Path), d.PID)
		dumps = append(dumps, d)
	}
	if err := clock.Estimate(ctx, rec, pending, opts, sum); err != nil {
		return nil, err
	}
	return dumps, nil
}

func CloseDumps(dumps []*model.Dump) {
	for _, d := range dumps {
		d.File.Close()
	}
}

// UsedMarkers returns the markers whose dumps are in use.
func UsedMarkers(dumps []*model.Dump) (used []recording.Marker) {
	for _, d := range dumps {
		used = append(used, d.Markers...)
	}
	return used
}

// isRecordings checks that the dump can be of the recorded process: producers map
// it before they write to it. A process of another run, or container, may have
// had the same pid.
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
	return fmt.Errorf("all that is in it happened before process %d mapped it; was it overwritten by another run?", d.PID)
}

// dumpAdvice adds to an error what may be done about it.
func dumpAdvice(err error) error {
	switch {
	case errors.Is(err, source.ErrNotJitdump):
		return fmt.Errorf("%w; was it overwritten by a later run?", err)
	case errors.Is(err, syscall.EIO):
		return fmt.Errorf("%w; the disk may be failing", err)
	}
	return err
}
