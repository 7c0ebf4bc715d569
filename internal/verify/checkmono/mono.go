package checkmono

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/jitted"
	"github.com/jitinject/jitinject/internal/wire"
)

// A checker is a log of Mono's profiler that is being checked.
type checker struct {
	*verify.Reporter
	reader  *monolog.Reader
	header  *monolog.Header
	gzip    bool
	changed uint64 // when the file was written last, in this machine's CLOCK_MONOTONIC; 0 if that is not known

	functions []jitted.Function // of JIT events with code
	noCode    []noCode          // of those without
	calls     bool              // there are events of calls
	seen      map[codeKey]bool
	places    jitted.Places
	threads   map[uint64]*threadState

	buffers, events, jits int
	first, latest         uint64
	epochSaid             bool
}

// A codeKey is what tells JIT events apart.
type codeKey struct{ method, addr, size uint64 }

// isGzipLog reports whether a file is a log that gzip has packed, as far as its magic tells.
func isGzipLog(f io.ReaderAt, _ string) bool {
	z, err := gzip.NewReader(io.NewSectionReader(f, 0, 1<<62))
	if err != nil {
		return false
	}
	var magic [4]byte
	_, err = io.ReadFull(z, magic[:])
	return err == nil && string(magic[:]) == logMagic
}

// Magic bytes.
const (
	logMagic  = "\x01ZPM"
	gzipMagic = "\x1f\x8b"
)

// checkFile checks a log, by itself and beside its recordings.
func checkFile(ctx context.Context, r *verify.Reporter, path string, opts *verify.Options) error {
	f, err := verify.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	c := newChecker(r)
	if c.changed, err = verify.WrittenAt(f, opts.Now); err != nil {
		return err
	}
	var magic [2]byte
	if _, err := f.ReadAt(magic[:], 0); err != nil && err != io.EOF {
		return verify.PlainError(err)
	}
	c.gzip = string(magic[:]) == gzipMagic
	if err := c.check(ctx, f); err != nil || c.header == nil {
		return err
	}
	return c.besideRecordings(ctx, opts)
}

func newChecker(r *verify.Reporter) *checker {
	return &checker{Reporter: r, seen: make(map[codeKey]bool), threads: make(map[uint64]*threadState)}
}

// check walks the log. The error is of reading, or ctx's.
func (c *checker) check(ctx context.Context, src io.Reader) (err error) {
	c.Result.Holds = "nothing"
	if c.reader, err = monolog.NewReader(src); err != nil {
		return c.badHeader(err)
	}
	c.header = c.reader.Header()
	if c.header.PID == 0 {
		c.Violation("mono/pid", -1, "the process is number 0")
	}
	at := c.header.Size
	for {
		b, err := c.reader.NextBuffer()
		if err == io.EOF {
			break
		}
		if err != nil {
			if err := c.damaged(at, err); err != nil {
				return err
			}
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.buffer(b)
		if at, err = c.eventsOf(ctx, b); err != nil {
			return err
		}
	}
	c.end()
	return nil
}

// badHeader says what is wrong with the header, as far as the log is to blame.
func (c *checker) badHeader(err error) error {
	var at *wire.Error
	switch {
	case errors.As(err, &at):
		rules := map[string]string{"data version": "mono/version", "ptrsize": "mono/pointer-size", "flags": "mono/flags"}
		switch rules[at.Field] {
		case "mono/version":
			c.Violation("mono/version", at.Offset, "the data version %s", at.Text)
		case "mono/pointer-size":
			c.Violation("mono/pointer-size", at.Offset, "the size of pointers %s", at.Text)
		case "mono/flags":
			c.Violation("mono/flags", at.Offset, "flags: %s", at.Text)
		default:
			c.Violation("mono/header-cut", at.Offset, "%v", err)
		}
	case errors.Is(err, monolog.ErrCut), c.gzip && !errors.Is(err, monolog.ErrNotMonoLog):
		c.Violation("mono/header-cut", 0, "%v", err)
	default:
		return verify.PlainError(err)
	}
	return nil
}

// damaged says what is wrong between or inside buffers. at is where the log was good
// last.
func (c *checker) damaged(at int64, err error) error {
	var field *wire.Error
	if errors.As(err, &field) {
		at = field.Offset
	}
	switch {
	case errors.Is(err, monolog.ErrCut) && c.gzip:
		c.Violation("mono/gzip", at, "%v", err)
	case errors.Is(err, monolog.ErrCut):
		c.Violation("mono/cut", at, "%v", err)
	case field == nil:
		return verify.PlainError(err)
	case field.Record == "buffer header":
		c.Violation("mono/buffer-id", at, "%s %s", field.Field, field.Text)
	case slices.Contains([]string{"type", "exinfo", "mtype"}, field.Field):
		c.Violation("mono/unknown-event", at, "%s: %s %s", field.Record, field.Field, field.Text)
	default:
		c.Violation("mono/buffer-events", at, "%s: %s: %s", field.Record, field.Field, field.Text)
	}
	return nil
}

// buffer checks a buffer's header.
func (c *checker) buffer(b *monolog.BufferHeader) {
	c.buffers++
	if b.Thread == 0 {
		c.Violation("mono/buffer-thread", b.Offset, "the buffer is of thread 0")
	}
	if t := c.thread(b.Thread); t != nil {
		if b.Time < t.latest {
			c.Violation("mono/buffer-order", b.Offset, "the buffer begins %s before the thread's last event", verify.Span(t.latest-b.Time))
		}
		t.latest = max(t.latest, b.Time)
	}
	c.time(b.Offset, b.Time)
}

// eventsOf walks the events of a buffer, and returns how far that went.
func (c *checker) eventsOf(ctx context.Context, b *monolog.BufferHeader) (at int64, err error) {
	at = b.Offset
	thread := c.thread(b.Thread)
	latest := b.Time
	for {
		e, err := c.reader.Next()
		if err == io.EOF {
			return at, nil
		}
		if err != nil {
			return at, c.damaged(at, err)
		}
		if c.events++; c.events%(1<<16) == 0 && ctx.Err() != nil {
			return at, ctx.Err()
		}
		at = e.Offset + e.Length
		if !writtenLate(e.Kind, c.header.Version) {
			if e.Time < latest {
				c.Violation("mono/time-goes-back", e.Offset, "%s is %s older than the event before it", e.Kind, verify.Span(latest-e.Time))
			}
			latest = max(latest, e.Time)
			if thread != nil {
				thread.latest = max(thread.latest, latest)
			}
		}
		c.time(e.Offset, e.Time)
		c.event(e, thread)
	}
}

// writtenLate reports whether events of a kind may stand behind later ones: the profiler's
// own threads write them down, some from version 11 on.
func writtenLate(k monolog.Kind, version uint8) bool {
	switch k {
	case monolog.KindJIT:
		return version >= 11
	case monolog.KindSampleHit, monolog.KindCounters:
		return true
	}
	return false
}

// time takes in a time.
func (c *checker) time(offset int64, t uint64) {
	if t >= verify.RealTime && !c.epochSaid {
		c.epochSaid = true
		c.Violation("mono/time-epoch", offset, "the time is %d.%09d s: seconds since 1970", t/1e9, t%1e9)
	}
	if c.first == 0 {
		c.first = t
	}
	c.latest = max(c.latest, t)
}

// soonest is how long a machine has run when a program runs on it, at least, in
// nanoseconds.
const soonest = 1e9

// end checks what can be told only at the end.
func (c *checker) end() {
	c.endNoCode()
	switch {
	case c.events == 0:
		c.Violation("mono/no-events", c.header.Size, "there are %s, without an event", verify.Counted(c.buffers, "buffer"))
	case c.jits == 0:
		c.Violation("mono/no-code", -1, "there is no JIT event among %s", verify.Counted(c.events, "event"))
	}
	switch {
	case c.events > 0 && c.latest < soonest:
		c.Violation("mono/time-null", -1, "the last event has the time %d ns: no machine has run a program so soon after its start", c.latest)
	case c.changed != 0 && c.latest > c.changed+verify.WrittenSlack && !c.epochSaid:
		c.Violation("mono/time-future", -1, "the last event has the time %d.%09d s; the file was written last when CLOCK_MONOTONIC was at %d.%09d s", c.latest/1e9, c.latest%1e9, c.changed/1e9, c.changed%1e9)
	}
	c.Result.Holds = verify.Counted(c.buffers, "buffer") + ", " + verify.Counted(c.events, "event") + ", " + verify.Counted(c.jits, "JIT event")
}
