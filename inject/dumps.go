package inject

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/jitinject/jitinject/internal/source"
)

// A dump is a side file with the process it is about.
type dump struct {
	path    string   // where it was found
	live    bool     // that path is gone when the process is
	note    string   // why this file was taken, if that needs to be said
	untimed bool     // it had no times when its clock was matched
	assumed string   // what was assumed of its times against its header, or ""
	pid     uint32   // the process in the recording that mapped it
	markers []marker // that named it; the first is that process's
	file    *os.File
	source  source.Dump
	clock   func(uint64) uint64 // from its times to the recording's
	match   Clock               // how that was found

	leftOut map[int]bool // functions that cannot be told from others without a clock
	strays  map[int]bool // what is said to be functions, and is not

	codeFiles int // of Options.CodeFrom that are of its process
	late      int // functions that were loaded when all of them had been made

	number  int    // of its line in the summary
	objects string // the directory for its objects, absolute
	placed  int    // source files that have been written
}

// A find looks for side files of one format.
type find func(ctx context.Context, f *finder, sum *Summary) error

// findDumps finds, opens and scans the dumps that the recording's markers name,
// each once. Those that cannot be used become problems; their markers stay in the
// output, so that a later run can do better. The error is ctx's, or of options
// that cannot be followed.
//
// Before that, each of finds adds markers for side files that no mapping tells of.
func findDumps(ctx context.Context, rec *recording, finds []find, opts *Options, sum *Summary) (dumps []*dump, err error) {
	f := &finder{rec: rec, opts: opts}
	defer func() { f.closeOthers(dumps) }()
	if err := f.listDirs(); err != nil {
		return nil, err
	}
	for _, find := range finds {
		if err := find(ctx, f, sum); err != nil {
			return nil, err
		}
	}
	sum.Markers = len(rec.markers)
	claims := claimsOf(rec)
	var pending []*evidence // about clocks
	for _, c := range claims {
		if err := f.search(ctx, c); err != nil {
			return nil, err
		}
	}
	f.settle(claims)
	for _, c := range claims {
		d := c.dump
		if d == nil {
			if p, ok := c.problem(); ok {
				sum.problem(p)
			} else if !c.gone {
				sum.problem(f.missing(c))
			}
			continue
		}
		if err := d.knowsMachine(); err != nil {
			sum.problem(problemOf(d.path, err, ""))
			continue
		}
		e, err := d.matchClock(rec, opts.Clock)
		if err != nil {
			sum.problem(f.checked(d.path, d.pid, err))
			continue
		}
		if e != nil {
			pending = append(pending, e)
		}
		d.noteAssumed(sum)
		opts.logf(1, "%s: dump of process %d", Printable(d.path), d.pid)
		dumps = append(dumps, d)
	}
	if err := estimateClocks(ctx, rec, pending, opts, sum); err != nil {
		return nil, err
	}
	return dumps, nil
}

// knowsMachine fails if it is unknown what machine the dump's code is for.
func (d *dump) knowsMachine() error {
	if d.source.Target().Machine != uint32(elf.EM_NONE) {
		return nil
	}
	err := errors.New("neither it nor the recording says what machine its code is for")
	if captureDump(d.source) != nil {
		return advise(err, `say "machine" in its JSON, as uname -m does`)
	}
	return advise(err, "record into a file: perf record -o FILE")
}

// noteAssumed says what was assumed of the dump's times.
func (d *dump) noteAssumed(sum *Summary) {
	if d.assumed != "" {
		sum.note(Printable(d.path) + ": " + d.assumed)
	}
}

func closeDumps(dumps []*dump) {
	for _, d := range dumps {
		d.file.Close()
	}
}

// usedMarkers returns the markers whose dumps are in use.
func usedMarkers(dumps []*dump) (used []marker) {
	for _, d := range dumps {
		used = append(used, d.markers...)
	}
	return used
}

// isRecordings checks that the dump can be of the recorded process: producers map
// it before they write to it. A process of another run, or container, may have
// had the same pid.
func (d *dump) isRecordings() error {
	since := d.markers[0].time
	for _, m := range d.markers {
		since = min(since, m.time)
	}
	for i := range d.source.Scanned().Events {
		if d.clock(d.source.Scanned().Events[i].Time) >= since {
			return nil
		}
	}
	if len(d.source.Scanned().Events) == 0 {
		return nil
	}
	return fmt.Errorf("all that is in it happened before process %d mapped it; was it overwritten by another run?", d.pid)
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
