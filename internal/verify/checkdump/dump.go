package checkdump

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/checkproducer"
	"github.com/jitinject/jitinject/internal/verify/jitted"
	"github.com/jitinject/jitinject/internal/words"
	"github.com/jitinject/jitinject/jitdump"
)

// Sizes of the file header and of a record's prefix, in bytes.
const (
	fileHeaderSize = 40
	prefixSize     = 16
)

// A checker is a dump that is being checked.
type checker struct {
	*verify.Reporter
	src     io.ReaderAt
	size    int64
	reader  *jitdump.Reader
	header  *jitdump.Header
	machine elf.Machine
	engine  *engineReader // for fixes; nil for a dump that the engine refuses
	whole   *engineReader // for the report; nil if there is none
	skew    uint64        // what the producer adds to the address of each line
	ticks   bool          // times are counts of the processor

	functions []jitted.Function  // an entry for each place of a function
	loads     int                // number of functions
	byIndex   map[indexKey]int32 // the latest function of a number
	loadedAt  map[uint64]int64   // offset of the latest load, by address
	places    jitted.Places
	lines     lineRecords
	unwind    pendingUnwind
	tree      pendingTree
	j9        []*pendingJ9
	j9Loads   int // that have been
	tiers     [256]bool
	producer  *checkproducer.Summary
	reports   bool // what producer has

	records   int
	first     uint64 // time of the first record that has one
	latest    uint64
	previous  uint64 // of the record before
	closed    bool
	cut       bool // the file ends inside a record
	epochSaid bool
	afterSaid bool
	wrongPIDs map[uint32]bool // that were complained about
}

type indexKey struct {
	index uint64
	pid   uint32
}

func checkFile(ctx context.Context, r *verify.Reporter, path string, opts *verify.Options) error {
	f, size, err := verify.OpenSized(path)
	if err != nil {
		return err
	}
	defer f.Close()
	c := newChecker(r, f, size)
	checked, err := c.isOfRecordings(ctx, path, opts)
	if err != nil || !checked {
		return err
	}
	c.reports = opts.Producer
	if err := c.check(ctx, filepath.Base(path)); err != nil || c.header == nil {
		return err
	}
	if opts.Producer {
		c.producer.Write(r, c.machine)
	}
	return nil
}

func newChecker(r *verify.Reporter, src io.ReaderAt, size int64) *checker {
	return &checker{
		Reporter: r, src: src, size: size,
		byIndex: make(map[indexKey]int32), loadedAt: make(map[uint64]int64), wrongPIDs: make(map[uint32]bool),
		lines: lineRecords{byAddr: make(map[uint64]*lineRecord)}, producer: checkproducer.New(),
	}
}

// check walks the dump. The error is of reading, or ctx's.
func (c *checker) check(ctx context.Context, base string) (err error) {
	ok, err := c.checkHeader(base)
	if err != nil || !ok {
		return err
	}
	if c.engine, err = c.openEngine(ctx, true); err != nil {
		return err
	}
	c.lineAddresses()
	if c.reports {
		if c.whole, err = c.openEngine(ctx, false); err != nil {
			return err
		}
	}
	if c.reader, err = jitdump.NewReader(c.src); err != nil {
		return verify.PlainError(err)
	}
	if err := c.walk(ctx); err != nil {
		return err
	}
	c.end()
	return nil
}

func (c *checker) walk(ctx context.Context) error {
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at := c.reader.Offset()
		raw, err := c.reader.Next()
		switch {
		case err == io.EOF:
			if at < c.size {
				c.Violation("dump/padding-end", at, "%d zero bytes after the last record", c.size-at)
			}
			return nil
		case err != nil:
			if more, err := c.damaged(at, err); !more {
				return err
			}
			continue
		}
		if raw.Offset != at {
			c.Violation("dump/padding", at, "%d zero bytes between two records", raw.Offset-at)
		}
		c.records++
		c.record(&raw)
	}
}

// damaged says what is wrong with a record that cannot be framed, and reports whether
// there is a way past it.
func (c *checker) damaged(at int64, err error) (more bool, failed error) {
	c.tree.forget()
	if errors.Is(err, jitdump.ErrTooLarge) {
		c.Violation("dump/record-size", at, "a record of more than %d bytes", jitdump.MaxRecord)
		return true, nil
	}
	at = c.reader.Offset()
	var text string
	switch isCut := errors.Is(err, jitdump.ErrCut); {
	case isCut:
		text = "a record reaches beyond the end of the file"
	default:
		var b [prefixSize]byte
		if n, _ := c.src.ReadAt(b[:], at); n < len(b) {
			return false, verify.PlainError(err)
		}
		text = fmt.Sprintf("a record of type %d has %d bytes, less than its prefix", c.header.Order.Uint32(b[:]), c.header.Order.Uint32(b[4:]))
	}
	skipped, found := c.reader.Resync()
	switch {
	case found:
		c.Violation("dump/record-size", at, "%s; the next record begins %d bytes later", text, skipped)
	case errors.Is(err, jitdump.ErrCut) && c.size-at < jitdump.MaxRecord:
		c.cut = true
		c.Violation("dump/cut", at, "the file ends inside a record, %d bytes after its start", c.size-at)
	default:
		c.Violation("dump/record-size", at, "%s; no record follows, %d bytes are lost", text, c.size-at)
	}
	return found, nil
}

func (c *checker) record(raw *jitdump.Raw) {
	if c.closed && !c.afterSaid {
		c.afterSaid = true
		c.Violation("dump/after-close", raw.Offset, "%s after JIT_CODE_CLOSE", raw.ID)
	}
	c.checkTime(raw)
	switch raw.ID {
	case jitdump.IDLoad:
		l, err := raw.Load()
		if err != nil {
			c.misfit(raw, err)
			break
		}
		c.load(raw, &l)
	case jitdump.IDMove:
		m, err := raw.Move()
		if err != nil {
			c.misfit(raw, err)
			break
		}
		c.move(raw, &m)
	case jitdump.IDDebugInfo:
		d, err := raw.DebugInfo()
		if err != nil {
			c.misfit(raw, err)
			break
		}
		c.debugInfo(raw, &d)
	case jitdump.IDUnwinding:
		c.unwinding(raw)
	case jitdump.IDClose:
		c.closed = true
		c.producer.Closed = true
		c.extra(raw, len(raw.Body), len(raw.Body))
	case jitdump.IDDebugInfo2:
		c.debugInfo2(raw)
	case jitdump.IDTier:
		t, err := raw.Tier()
		if err != nil {
			c.Violation("dump/extension", raw.Offset, "%s has a payload of another format", raw.ID)
			break
		}
		c.tiers[t.Number&0xff] = true
	case jitdump.IDEmbeddedSource:
		s, err := raw.EmbeddedSource()
		switch {
		case err != nil:
			c.Violation("dump/extension", raw.Offset, "%s has a payload of another format", raw.ID)
		case !verify.IsText(s.Name):
			c.Violation("dump/file-garbage", raw.Offset, "%s has the file name %s", raw.ID, verify.Quoted(s.Name))
		default:
			c.producer.Embed(s.Name)
		}
	case jitdump.IDOpenJ9:
		if raw.IsOpenJ9Metadata() {
			c.openJ9(raw)
			break
		}
		fallthrough
	default:
		c.Violation("dump/unknown-record", raw.Offset, "a record of type %d, %d bytes", uint32(raw.ID), raw.Size())
	}
}

// misfit says that the body of a record does not hold what it has to.
func (c *checker) misfit(raw *jitdump.Raw, err error) {
	if raw.ID == jitdump.IDLoad {
		c.lines.batch = nil
		c.unwind.record = nil
		c.tree.forget()
	}
	c.Violation("dump/record-size", raw.Offset, "%v", err)
}

// extra complains about bytes that are nowhere needed: n of them, from offset from of
// the body on. Up to 7 zeros are padding.
func (c *checker) extra(raw *jitdump.Raw, n, padTo int) {
	if n == 0 {
		return
	}
	rest := raw.Body[padTo-n : padTo]
	if n < 8 && len(bytes.Trim(rest, "\x00")) == 0 {
		return
	}
	c.Violation("dump/extra-bytes", raw.Offset, "%s has %d bytes after its fields", raw.ID, n)
}

func (c *checker) checkTime(raw *jitdump.Raw) {
	t := raw.Timestamp
	if t == 0 {
		c.Violation("dump/time-zero", raw.Offset, "%s has no time", raw.ID)
		return
	}
	if !c.ticks && t >= realTime && !c.epochSaid {
		c.epochSaid = true
		c.Violation("dump/time-epoch", raw.Offset, "%s has the time %d.%09d s: seconds since 1970", raw.ID, t/1e9, t%1e9)
	}
	if c.first == 0 {
		c.first = t
	}
	if t < c.previous {
		c.Violation("dump/time-goes-back", raw.Offset, "%s is %s older than the record before it", raw.ID, verify.Span(c.previous-t))
	}
	c.previous, c.latest = t, max(c.latest, t)
}

// realTime is the first time, in nanoseconds, that is none of CLOCK_MONOTONIC: a machine would have been up for
// 31 years.
const realTime = 1e18

// headerTimeGap is how much older than its first record the header of a dump may be:
// 10 days without compiling anything.
const headerTimeGap = 10 * 24 * 3600 * 1e9

// orphans reports records whose load does not follow.
func (c *checker) orphans() {
	c.lines.orphans(c, true)
	if u := c.unwind.record; u != nil {
		c.Violation("dump/unwind-orphan", u.offset, "no load follows")
	}
	if c.tree.waits {
		c.Violation("dump/tree-order", c.tree.offset, "no load follows")
	}
	for _, p := range c.j9 {
		c.orphanJ9(p)
	}
}

// end checks what can be told only at the end.
func (c *checker) end() {
	if !c.cut { // else their load may be missing
		c.orphans()
	}
	if c.loads == 0 {
		c.Violation("dump/no-load", fileHeaderSize, "there is no JIT_CODE_LOAD in the file")
	}
	if h := c.header.Timestamp; c.first != 0 && (h > c.first || c.first-h > headerTimeGap) && !c.ticks {
		c.Violation("dump/header-time", 24, "the header has the time %d, the first record %d", h, c.first)
	}
	c.Result.Holds = words.Count(int64(c.records), "record") + ", " + words.Count(int64(c.loads), "function")
}
