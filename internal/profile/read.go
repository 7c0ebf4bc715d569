package profile

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jitinject/jitinject/internal/words"
	"github.com/jitinject/jitinject/perfdata"
)

// Options say what to read.
type Options struct {
	Perf  string // the perf program; "" for perf
	Path  string // of the recording: a file or a directory
	Force bool   // read the recording of another user, too

	Command string // for errors: the command that needs the recording

	// NativeLines adds lines and inlined calls of native code. It runs addr2line for each file, which
	// takes seconds for large ones.
	NativeLines bool
}

// Read reads the samples of a recording that jitinject or perf record wrote.
//
// It runs perf script, which decides about symbols and callers, and reads the recording for all else.
// It fails if perf is missing or fails, if the recording cannot be read, and with the context's error
// if that ends. Objects that are missing are no error: their frames have no lines, and a warning says
// so.
func Read(ctx context.Context, opts Options) (*Profile, error) {
	rec, err := readRecording(ctx, &opts)
	if err != nil {
		return nil, err
	}
	t := newTables(rec)
	perf := cmp.Or(opts.Perf, "perf")
	if err := t.readScript(ctx, perf, &opts); err != nil {
		return nil, err
	}
	t.lines, t.placeOf, t.stackOf = nil, nil, nil // with many stacks, they are most of the memory
	if err := t.expandJIT(ctx); err != nil {
		return nil, err
	}
	if opts.NativeLines {
		if err := t.expandNative(ctx); err != nil {
			return nil, err
		}
	}
	t.build()
	p := t.profile // a copy: a pointer into the tables would keep all of them
	p.Recording = rec.about
	p.Recording.Path = opts.Path
	p.Recording.Date = rec.date(p.Samples)
	p.Recording.Warnings = t.warnings()
	return &p, nil
}

func (t *tables) warnings() (texts []string) {
	if n := len(t.profile.Samples); uint64(n) != t.rec.samples {
		texts = append(texts, fmt.Sprintf("perf script shows %s; the recording has %s", words.Count(int64(n), "sample"), words.Number(int64(t.rec.samples))))
	}
	if t.unreadable > 0 {
		texts = append(texts, fmt.Sprintf("%d lines of perf script could not be read", t.unreadable))
	}
	return append(texts, t.faults...)
}

// date returns when the first sample was taken, as perf prints dates: in local time. Without perf
// record's clock data (option -k), it is the time of the last change of the file, as in perf's header.
func (rec *recorded) date(samples []Sample) string {
	at := rec.changed
	if c := rec.clock; c != (perfdata.ClockData{}) && len(samples) > 0 {
		at = time.Unix(0, int64(c.Wall-c.Clock+samples[0].Time))
	}
	if at.IsZero() {
		return ""
	}
	return at.Local().Format(time.ANSIC)
}

// This file corrects where samples were taken: a sample has an address beside its stack, and perf report
// and perf annotate count that.
//
//   - perf drops a whole stack if one of its addresses is no address, as code without frame pointers
//     leaves them. perf script then prints the sample without any frame.
//   - Events with precise addresses (cycles:P, the default on many machines) have the instruction at
//     which the event happened. The stack of such a sample begins some instructions later, where the
//     processor was interrupted.

// Bits of perf_event_attr: precise_ip, of two bits [perf_event.h].
const (
	flagPrecise    perfdata.AttrFlag = 15
	flagPreciseTop perfdata.AttrFlag = 16
)

// needsAddresses reports whether a sample's stack does not say where it was taken.
func (t *tables) needsAddresses() bool {
	if t.rec.precise && t.rec.fields&perfdata.FieldCallchain != 0 {
		return true
	}
	for i := range t.profile.Samples {
		if t.profile.Samples[i].Stack < 0 {
			return true
		}
	}
	return false
}

// setAddress sets where a sample was taken, by perf script's text about its address alone. i is the
// sample's index. If the stack begins in another function, that is taken for the caller: so perf report
// counts it.
func (t *tables) setAddress(i int, of *scriptSample, d dialect) {
	if i >= len(t.profile.Samples) || of.head == nil {
		return
	}
	s := &t.profile.Samples[i]
	if s.Time != of.time || s.Thread != t.thread(threadID{of.pid, of.tid}) || s.Stack >= 0 && !t.rec.precise {
		return
	}
	t.chain = t.chain[:0]
	t.addFrame(of, of.head, d, false)
	if len(t.chain) == 0 {
		return
	}
	own := t.chain[0]
	caller := s.Stack
	if caller >= 0 {
		innermost := t.stacks[caller]
		if t.places[innermost.Frame].function == t.places[own].function {
			caller = innermost.Caller
		}
	}
	s.Stack = intern(&t.stacks, t.stackOf, Stack{Caller: caller, Frame: own})
}
