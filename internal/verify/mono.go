package verify

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/wire"
)

// A monoCheck is a log of Mono's profiler that is being checked.
type monoCheck struct {
	*reporter
	reader  *monolog.Reader
	header  *monolog.Header
	gzip    bool
	changed uint64 // as dumpCheck has it

	functions []function // of JIT events with code
	noCode    []noCode   // of those without
	calls     bool       // there are events of calls
	seen      map[monoCode]bool
	places    places
	threads   map[uint64]*monoThread

	buffers, events, jits int
	first, latest         uint64
	epochSaid             bool
}

// A monoCode is what tells JIT events apart.
type monoCode struct{ method, addr, size uint64 }

// isGzipLog reports whether a file is a log that gzip has packed, as far as its magic tells.
func isGzipLog(f io.ReaderAt, _ string) bool {
	z, err := gzip.NewReader(io.NewSectionReader(f, 0, 1<<62))
	if err != nil {
		return false
	}
	var magic [4]byte
	_, err = io.ReadFull(z, magic[:])
	return err == nil && string(magic[:]) == monoMagic
}

// Magic bytes.
const (
	monoMagic = "\x01ZPM"
	gzipMagic = "\x1f\x8b"
)

// checkMono checks a log, by itself and beside its recordings.
func checkMono(ctx context.Context, r *reporter, path string, opts *Options) error {
	f, err := openChecked(path)
	if err != nil {
		return err
	}
	defer f.Close()
	c := newMonoCheck(r)
	if c.changed, err = changedAt(f, opts.Now); err != nil {
		return err
	}
	var magic [2]byte
	if _, err := f.ReadAt(magic[:], 0); err != nil && err != io.EOF {
		return plainError(err)
	}
	c.gzip = string(magic[:]) == gzipMagic
	if err := c.check(ctx, f); err != nil || c.header == nil {
		return err
	}
	return c.besideRecordings(ctx, opts)
}

func newMonoCheck(r *reporter) *monoCheck {
	return &monoCheck{reporter: r, seen: make(map[monoCode]bool), threads: make(map[uint64]*monoThread)}
}

// check walks the log. The error is of reading, or ctx's.
func (c *monoCheck) check(ctx context.Context, src io.Reader) (err error) {
	c.result.Holds = "nothing"
	if c.reader, err = monolog.NewReader(src); err != nil {
		return c.badHeader(err)
	}
	c.header = c.reader.Header()
	if c.header.PID == 0 {
		c.broken("mono/pid", -1, "the process is number 0")
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
func (c *monoCheck) badHeader(err error) error {
	var at *wire.Error
	switch {
	case errors.As(err, &at):
		rules := map[string]string{"data version": "mono/version", "ptrsize": "mono/pointer-size", "flags": "mono/flags"}
		switch rules[at.Field] {
		case "mono/version":
			c.broken("mono/version", at.Offset, "the data version %s", at.Text)
		case "mono/pointer-size":
			c.broken("mono/pointer-size", at.Offset, "the size of pointers %s", at.Text)
		case "mono/flags":
			c.broken("mono/flags", at.Offset, "flags: %s", at.Text)
		default:
			c.broken("mono/header-cut", at.Offset, "%v", err)
		}
	case errors.Is(err, monolog.ErrCut), c.gzip && !errors.Is(err, monolog.ErrNotMonoLog):
		c.broken("mono/header-cut", 0, "%v", err)
	default:
		return plainError(err)
	}
	return nil
}

// damaged says what is wrong between or inside buffers. at is where the log was good
// last.
func (c *monoCheck) damaged(at int64, err error) error {
	var field *wire.Error
	if errors.As(err, &field) {
		at = field.Offset
	}
	switch {
	case errors.Is(err, monolog.ErrCut) && c.gzip:
		c.broken("mono/gzip", at, "%v", err)
	case errors.Is(err, monolog.ErrCut):
		c.broken("mono/cut", at, "%v", err)
	case field == nil:
		return plainError(err)
	case field.Record == "buffer header":
		c.broken("mono/buffer-id", at, "%s %s", field.Field, field.Text)
	case slices.Contains([]string{"type", "exinfo", "mtype"}, field.Field):
		c.broken("mono/unknown-event", at, "%s: %s %s", field.Record, field.Field, field.Text)
	default:
		c.broken("mono/buffer-events", at, "%s: %s: %s", field.Record, field.Field, field.Text)
	}
	return nil
}

// buffer checks a buffer's header.
func (c *monoCheck) buffer(b *monolog.BufferHeader) {
	c.buffers++
	if b.Thread == 0 {
		c.broken("mono/buffer-thread", b.Offset, "the buffer is of thread 0")
	}
	if t := c.thread(b.Thread); t != nil {
		if b.Time < t.latest {
			c.broken("mono/buffer-order", b.Offset, "the buffer begins %s before the thread's last event", span(t.latest-b.Time))
		}
		t.latest = max(t.latest, b.Time)
	}
	c.time(b.Offset, b.Time)
}

// eventsOf walks the events of a buffer, and returns how far that went.
func (c *monoCheck) eventsOf(ctx context.Context, b *monolog.BufferHeader) (at int64, err error) {
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
				c.broken("mono/time-goes-back", e.Offset, "%s is %s older than the event before it", e.Kind, span(latest-e.Time))
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
func (c *monoCheck) time(offset int64, t uint64) {
	if t >= realTime && !c.epochSaid {
		c.epochSaid = true
		c.broken("mono/time-epoch", offset, "the time is %d.%09d s: seconds since 1970", t/1e9, t%1e9)
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
func (c *monoCheck) end() {
	c.endNoCode()
	switch {
	case c.events == 0:
		c.broken("mono/no-events", c.header.Size, "there are %s, without an event", counted(c.buffers, "buffer"))
	case c.jits == 0:
		c.broken("mono/no-code", -1, "there is no JIT event among %s", counted(c.events, "event"))
	}
	switch {
	case c.events > 0 && c.latest < soonest:
		c.broken("mono/time-null", -1, "the last event has the time %d ns: no machine has run a program so soon after its start", c.latest)
	case c.changed != 0 && c.latest > c.changed+changedSlack && !c.epochSaid:
		c.broken("mono/time-future", -1, "the last event has the time %d.%09d s; the file was written last when CLOCK_MONOTONIC was at %d.%09d s", c.latest/1e9, c.latest%1e9, c.changed/1e9, c.changed%1e9)
	}
	c.result.Holds = counted(c.buffers, "buffer") + ", " + counted(c.events, "event") + ", " + counted(c.jits, "JIT event")
}
