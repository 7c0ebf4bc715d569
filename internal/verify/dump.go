package verify

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/jitdump"
)

// Sizes of the file header and of a record's prefix, in bytes.
const (
	dumpHeaderSize = 40
	dumpPrefixSize = 16
)

// A dumpCheck is a dump that is being checked.
type dumpCheck struct {
	*reporter
	src     io.ReaderAt
	size    int64
	reader  *jitdump.Reader
	header  *jitdump.Header
	machine elf.Machine
	habits  habits
	now     uint64

	functions []function
	byIndex   map[indexKey]int32 // the latest function of a number
	places    places
	lines     lineRecords
	unwind    pendingUnwind
	tree      pendingTree
	tiers     [256]bool

	records   int
	first     uint64 // time of the first record that has one
	latest    uint64
	closed    bool
	epochSaid bool
	afterSaid bool
	wrongPIDs map[uint32]bool // that were complained about
}

// A function is what is kept of a load.
type function struct {
	addr, size, index uint64
	time              uint64
	offset            int64
	pid               uint32
	gone              bool // other code lies at its place
}

type indexKey struct {
	index uint64
	pid   uint32
}

// checkDump checks a jitdump file.
func checkDump(ctx context.Context, r *reporter, path string, opts *Options) error {
	f, err := openChecked(path)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	c := &dumpCheck{reporter: r, src: f, size: st.Size(), now: opts.Now}
	if err := c.check(ctx, filepath.Base(path)); err != nil {
		return err
	}
	if opts.Recording == "" || c.header == nil {
		return nil
	}
	return c.besideRecording(ctx, path, opts.Recording)
}

// check walks the dump. The error is of reading, or ctx's.
func (c *dumpCheck) check(ctx context.Context, base string) (err error) {
	c.byIndex = make(map[indexKey]int32)
	c.places = make(places)
	c.wrongPIDs = make(map[uint32]bool)
	c.lines.byAddr = make(map[uint64]*lineRecord)
	ok, err := c.checkHeader(base)
	if err != nil || !ok {
		return err
	}
	if c.habits, err = findHabits(ctx, c.src, c.machine); err != nil {
		return err
	}
	if c.reader, err = jitdump.NewReader(c.src); err != nil {
		return plainError(err)
	}
	if err := c.walk(ctx); err != nil {
		return err
	}
	c.end()
	return nil
}

// checkHeader checks the file header, and mends in c.src what would keep the reader
// from the records. ok is false if there is no way to them.
func (c *dumpCheck) checkHeader(base string) (ok bool, err error) {
	c.result.Holds = "nothing"
	var b [dumpHeaderSize]byte
	n, err := c.src.ReadAt(b[:], 0)
	if err != nil && err != io.EOF {
		return false, plainError(err)
	}
	if n < dumpHeaderSize {
		c.broken("dump/header-cut", 0, "the file ends after %d bytes of its header", n)
		return false, nil
	}
	order := binary.ByteOrder(binary.LittleEndian)
	switch {
	case binary.LittleEndian.Uint32(b[:]) == 0x4A695444:
	case binary.BigEndian.Uint32(b[:]) == 0x4A695444:
		order = binary.BigEndian
	default:
		c.broken("dump/magic", 0, "the file begins with % x", b[:4])
		return false, nil
	}
	mended := b
	switch v := order.Uint32(b[4:]); {
	case v > 2:
		c.broken("dump/version", 4, "the version is %d", v)
		order.PutUint32(mended[4:], 1)
	case v != 1:
		c.broken("dump/version-not-1", 4, "the version is %d", v)
	}
	switch size := order.Uint32(b[8:]); {
	case size < dumpHeaderSize || size > 1<<20 || int64(size) > c.size:
		c.broken("dump/header-size", 8, "the header says that it has %d bytes; the file has %d", size, c.size)
		order.PutUint32(mended[8:], dumpHeaderSize)
	case size > dumpHeaderSize:
		c.broken("dump/header-long", 8, "the header has %d bytes, %d more than its fields need", size, size-dumpHeaderSize)
	}
	machine := order.Uint32(b[12:])
	if c.machine = elf.Machine(machine); machine == 0 || machine > 0xffff || strings.HasPrefix(c.machine.String(), "elf.Machine(") || isNumber(c.machine.String()) {
		c.broken("dump/machine", 12, "elf_mach is %d, which is no machine", machine)
	}
	if pad := order.Uint32(b[16:]); pad != 0 {
		c.broken("dump/pad", 16, "pad1 is %#x", pad)
	}
	pid := order.Uint32(b[20:])
	if pid == 0 {
		c.broken("dump/pid", 20, "the process is number 0")
	} else if n, ok := numberOfDump(base); ok && n != pid {
		c.broken("dump/pid-name", 20, "the process is number %d, the file's name has %d", pid, n)
	}
	flags := order.Uint64(b[32:])
	if flags&^1 != 0 {
		c.broken("dump/flags", 32, "flags are %#x", flags)
	}
	if flags&1 != 0 {
		c.broken("dump/tsc", 32, "times are counts of the processor")
	}
	c.src = &mendedFile{c.src, mended}
	c.header = &jitdump.Header{Order: order, Machine: machine, PID: pid, Timestamp: order.Uint64(b[24:]), Flags: jitdump.Flags(flags)}
	return true, nil
}

// isNumber reports whether s is one: what debug/elf prints for machines it has no name
// for.
func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 0, 64)
	return err == nil
}

// numberOfDump returns the number in the name jit-NUMBER.dump.
func numberOfDump(base string) (uint32, bool) {
	base, ok := strings.CutPrefix(base, "jit-")
	digits, found := strings.CutSuffix(base, ".dump")
	n, err := strconv.ParseUint(digits, 10, 32)
	return uint32(n), ok && found && err == nil
}

// A mendedFile is a dump whose header is put right.
type mendedFile struct {
	io.ReaderAt
	header [dumpHeaderSize]byte
}

// ReadAt implements io.ReaderAt.
func (m *mendedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := m.ReaderAt.ReadAt(p, off)
	if off >= 0 && off < dumpHeaderSize {
		copy(p[:n], m.header[off:])
	}
	return n, err
}

// walk goes through the records.
func (c *dumpCheck) walk(ctx context.Context) error {
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at := c.reader.Offset()
		raw, err := c.reader.Next()
		switch {
		case err == io.EOF:
			if at < c.size {
				c.broken("dump/padding-end", at, "%d zero bytes behind the last record", c.size-at)
			}
			return nil
		case err != nil:
			if more, err := c.damaged(at, err); !more {
				return err
			}
			continue
		}
		if raw.Offset != at {
			c.broken("dump/padding", at, "%d zero bytes between two records", raw.Offset-at)
		}
		c.records++
		c.record(&raw)
	}
}

// damaged says what is wrong with a record that cannot be framed, and reports whether
// there is a way past it.
func (c *dumpCheck) damaged(at int64, err error) (more bool, failed error) {
	c.tree.forget()
	if errors.Is(err, jitdump.ErrTooLarge) {
		c.broken("dump/record-size", at, "a record of more than %d bytes", jitdump.MaxRecord)
		return true, nil
	}
	at = c.reader.Offset()
	var text string
	switch isCut := errors.Is(err, jitdump.ErrCut); {
	case isCut:
		text = "a record reaches beyond the end of the file"
	default:
		var b [dumpPrefixSize]byte
		if n, _ := c.src.ReadAt(b[:], at); n < len(b) {
			return false, plainError(err)
		}
		text = fmt.Sprintf("a record of type %d has %d bytes, less than its prefix", c.header.Order.Uint32(b[:]), c.header.Order.Uint32(b[4:]))
	}
	skipped, found := c.reader.Resync()
	switch {
	case found:
		c.broken("dump/record-size", at, "%s; the next record begins %d bytes behind", text, skipped)
	case errors.Is(err, jitdump.ErrCut) && c.size-at < jitdump.MaxRecord:
		c.broken("dump/cut", at, "the file ends inside a record, %d bytes behind its start", c.size-at)
	default:
		c.broken("dump/record-size", at, "%s; there is no record behind it, %d bytes are lost", text, c.size-at)
	}
	return found, nil
}

// record checks one record.
func (c *dumpCheck) record(raw *jitdump.Raw) {
	if c.closed && !c.afterSaid {
		c.afterSaid = true
		c.broken("dump/after-close", raw.Offset, "%s after JIT_CODE_CLOSE", raw.ID)
	}
	c.time(raw)
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
		c.extra(raw, len(raw.Body), len(raw.Body))
	case jitdump.IDDebugInfo2:
		c.debugInfo2(raw)
	case jitdump.IDTier:
		if raw.IsEarlyDebugInfo() {
			break
		}
		t, err := raw.Tier()
		if err != nil {
			c.broken("dump/extension", raw.Offset, "%s has a payload that is none of it", raw.ID)
			break
		}
		c.tiers[t.Number&0xff] = true
	case jitdump.IDEmbeddedSource:
		if _, err := raw.EmbeddedSource(); err != nil {
			c.broken("dump/extension", raw.Offset, "%s has a payload that is none of it", raw.ID)
		}
	default:
		c.broken("dump/unknown-record", raw.Offset, "a record of type %d, %d bytes", uint32(raw.ID), raw.Size())
	}
}

// misfit says that the body of a record does not hold what it has to.
func (c *dumpCheck) misfit(raw *jitdump.Raw, err error) {
	if raw.ID == jitdump.IDLoad {
		c.lines.batch = nil
		c.unwind.record = nil
		c.tree.forget()
	}
	c.broken("dump/record-size", raw.Offset, "%v", err)
}

// extra complains about bytes that are nowhere needed: n of them, from offset from of
// the body on. Up to 7 zeros are padding.
func (c *dumpCheck) extra(raw *jitdump.Raw, n, padTo int) {
	if n == 0 {
		return
	}
	rest := raw.Body[padTo-n : padTo]
	if n < 8 && allZero(rest) {
		return
	}
	c.broken("dump/extra-bytes", raw.Offset, "%s has %d bytes that belong to nothing", raw.ID, n)
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// Times of CLOCK_MONOTONIC from realTime on would be of a machine that has been up
// for 31 years.
const realTime = 1e18

// time checks the time of a record.
func (c *dumpCheck) time(raw *jitdump.Raw) {
	t := raw.Timestamp
	if t == 0 {
		c.broken("dump/time-zero", raw.Offset, "%s has no time", raw.ID)
		return
	}
	if c.header.Flags&jitdump.ArchTimestamps == 0 && t >= realTime && !c.epochSaid {
		c.epochSaid = true
		c.broken("dump/time-epoch", raw.Offset, "%s has the time %d.%09d s: seconds since 1970", raw.ID, t/1e9, t%1e9)
	}
	if c.first == 0 {
		c.first = t
	}
	if t < c.latest {
		c.broken("dump/time-goes-back", raw.Offset, "%s is %d ns older than a record before it", raw.ID, c.latest-t)
	}
	c.latest = max(c.latest, t)
}

// headerTimeGap is how much older than its first record the header of a dump may be:
// 10 days without compiling anything.
const headerTimeGap = 10 * 24 * 3600 * 1e9

// end checks what can be told only at the end.
func (c *dumpCheck) end() {
	c.lines.orphans(c, true)
	if u := c.unwind.record; u != nil {
		c.broken("dump/unwind-orphan", u.offset, "no load follows")
	}
	if c.tree.waits {
		c.broken("dump/tree-order", c.tree.offset, "no load follows")
	}
	if len(c.functions) == 0 {
		c.broken("dump/no-load", dumpHeaderSize, "there is no JIT_CODE_LOAD in the file")
	}
	if h := c.header.Timestamp; c.first != 0 && (h > c.first || c.first-h > headerTimeGap) && c.header.Flags&jitdump.ArchTimestamps == 0 {
		c.broken("dump/header-time", 24, "the header has the time %d, the first record %d", h, c.first)
	}
	if c.now != 0 && c.latest > c.now && !c.epochSaid && c.header.Flags&jitdump.ArchTimestamps == 0 {
		c.broken("dump/time-future", -1, "the last record has the time %d.%09d s, and CLOCK_MONOTONIC is at %d.%09d s", c.latest/1e9, c.latest%1e9, c.now/1e9, c.now%1e9)
	}
	c.result.Holds = fmt.Sprintf("%d records, %d functions", c.records, len(c.functions))
}
