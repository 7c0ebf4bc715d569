package checkdump

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/jitdump"
)

// Lines are below maxLine: no source file has more.
const maxLine = 1 << 24

// A lineRecord is a debug record that waits for its load.
type lineRecord struct {
	offset int64
	addr   uint64 // of the function
	addrs  []uint64
	batch  int
	walked int                // number of entries that were found, if they do not add up
	freed  *jitdump.DebugInfo // its names have to be seen beside the function's
	area   []byte             // memory of freed
}

// lineRecords are the debug records that wait, and how the last ones came.
type lineRecords struct {
	byAddr  map[uint64]*lineRecord
	batch   []*lineRecord // since the last load
	batches int
	addrs   int // kept of all that wait
}

// maxWaiting bounds the addresses of entries that are kept until loads come.
const maxWaiting = 4 << 20

// debugInfo checks a debug record by itself, and keeps what has to be seen beside the
// load.
func (c *checker) debugInfo(raw *jitdump.Raw, d *jitdump.DebugInfo) {
	if raw.Missized != 0 {
		c.Violation("dump/record-size", raw.Offset, "%s announces %d bytes, and its entries end with %d", raw.ID, raw.Size()+raw.Missized, raw.Size())
	}
	if len(c.lines.batch) == 0 {
		c.lines.batches++
		c.lines.orphans(c, false)
	}
	r := &lineRecord{offset: raw.Offset, addr: d.CodeAddr, batch: c.lines.batches}
	if old := c.lines.byAddr[d.CodeAddr]; old != nil {
		c.lines.drop(c, old)
	}
	c.lines.byAddr[d.CodeAddr] = r
	c.lines.batch = append(c.lines.batch, r)
	if d.Count == 0 {
		c.Violation("dump/lines-empty", raw.Offset, "the lines of the function at %#x have no entries", d.CodeAddr)
	}
	t, whole := walkLines(d, raw.Order)
	if !whole {
		// Told at the load: the function's name shows whether this is V8's.
		if d.Count <= uint64(len(d.Area))/jitdump.DebugEntryHead && len(d.Area) < 1<<20 {
			r.area = bytes.Clone(d.Area)
			r.freed = &jitdump.DebugInfo{CodeAddr: d.CodeAddr, Count: d.Count, Area: r.area}
			r.walked = t.entries
		} else {
			c.Violation("dump/lines-count", raw.Offset, "%d entries are announced for the function at %#x, and %s there", d.Count, d.CodeAddr, areThere(t.entries))
		}
		return
	}
	c.extra(raw, t.left, len(raw.Body))
	c.entries(raw, d.CodeAddr, &t)
	if c.lines.addrs < maxWaiting {
		r.addrs = t.addrs
		c.lines.addrs += len(t.addrs)
	}
}

// areThere returns "1 is" or "N are".
func areThere(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}

// A lineTable is what the entries of a debug record say.
type lineTable struct {
	addrs          []uint64
	entries        int
	left           int // bytes behind the entries
	unsorted       int // entries before the one in front of them
	zero, absurd   int // lines
	noFile         int
	garbage        []byte // a file name that is no text
	badRepeat      bool
	lastLineIsZero bool
	absurdLine     uint32
}

// walkLines goes from entry to entry. whole is false if they do not add up.
func walkLines(d *jitdump.DebugInfo, order binary.ByteOrder) (t lineTable, whole bool) {
	area := d.Area
	t.addrs = make([]uint64, 0, min(d.Count, uint64(len(area))/(jitdump.DebugEntryHead+1)))
	for i := uint64(0); i < d.Count; i++ {
		if len(area) <= jitdump.DebugEntryHead {
			return t, false
		}
		n := bytes.IndexByte(area[jitdump.DebugEntryHead:], 0)
		if n < 0 {
			return t, false
		}
		addr, line, name := order.Uint64(area), order.Uint32(area[8:]), area[jitdump.DebugEntryHead:jitdump.DebugEntryHead+n]
		if i > 0 && addr < t.addrs[i-1] {
			t.unsorted++
		}
		t.addrs = append(t.addrs, addr)
		t.lastLineIsZero = line == 0
		switch {
		case line == 0:
			t.zero++
		case line >= maxLine:
			t.absurd++
			t.absurdLine = line
		}
		switch {
		case len(name) == 0 && line != 0:
			t.noFile++
		case string(name) == jitdump.RepeatName:
			t.badRepeat = t.badRepeat || i == 0
		case t.garbage == nil && !verify.IsText(name):
			t.garbage = bytes.Clone(name)
		}
		t.entries++
		area = area[jitdump.DebugEntryHead+n+1:]
	}
	t.left = len(area)
	return t, t.left < 8
}

// entries reports errors of entries that do not depend on their function.
func (c *checker) entries(raw *jitdump.Raw, addr uint64, t *lineTable) {
	if t.unsorted > 0 {
		c.Violation("dump/lines-unsorted", raw.Offset, "%d of the %d entries of the function at %#x have a lower address than the one before", t.unsorted, t.entries, addr)
	}
	if t.zero > 0 {
		c.Violation("dump/line-zero", raw.Offset, "%d of the %d entries of the function at %#x have line 0", t.zero, t.entries, addr)
	}
	if t.absurd > 0 {
		c.Violation("dump/line-absurd", raw.Offset, "%d of the %d entries of the function at %#x have lines such as %d", t.absurd, t.entries, addr, t.absurdLine)
	}
	if t.noFile > 0 {
		c.Violation("dump/file-missing", raw.Offset, "%d of the %d entries of the function at %#x have no file name", t.noFile, t.entries, addr)
	}
	if t.garbage != nil {
		c.Violation("dump/file-garbage", raw.Offset, "the function at %#x has the file name %s", addr, verify.Quoted(t.garbage))
	}
	if t.badRepeat {
		c.Violation("dump/file-repeat", raw.Offset, "the first entry of the function at %#x repeats the name of none", addr)
	}
}

// linesOf checks the debug record of a load.
func (c *checker) linesOf(raw *jitdump.Raw, l *jitdump.Load) {
	batch := c.lines.batch
	c.lines.batch = batch[:0]
	r := c.lines.byAddr[l.CodeAddr]
	if n := len(batch); n > 0 && (n > 1 || batch[0] != r) {
		// perf gives the last one to this load and drops the others.
		last := batch[n-1]
		c.Violation("dump/lines-order", last.offset, "%d debug records come before the load at offset %#x of the function at %#x; the last is about %#x", n, raw.Offset, l.CodeAddr, last.addr)
	}
	if r == nil {
		return
	}
	delete(c.lines.byAddr, l.CodeAddr)
	c.lines.addrs -= len(r.addrs)
	if r.freed != nil && !c.freedNames(r, l, raw.Order) || len(r.addrs) == 0 {
		return
	}
	if c.quirks.bytecode && isBaseline(l.Name, c.header.Pad == v8Pad) {
		c.Violation("dump/lines-bytecode", r.offset, "the %d entries of %s are offsets in its bytecode", len(r.addrs), nameOf(l))
		return
	}
	skew := c.quirks.skew
	low := slices.Min(r.addrs)
	if skew > 0 {
		c.Violation("dump/lines-skewed", r.offset, "the %d entries of %s are %#x too high: the first is at %#x, the code at %#x", len(r.addrs), nameOf(l), skew, low, l.CodeAddr)
	}
	if c.quirks.misplaced[raw.Offset] {
		c.Violation("dump/lines-misplaced", r.offset, "the %d entries of %s are not where its instructions start, and those of other functions are; the first is at %#x, the code at %#x", len(r.addrs), nameOf(l), low, l.CodeAddr)
	}
	outside := 0
	for i, a := range r.addrs {
		off := int64(a - l.CodeAddr - skew)
		end := int64(l.CodeSize)
		if off < 0 || off > end || off == end && i < len(r.addrs)-1 {
			outside++
		}
	}
	if outside > 0 {
		c.Violation("dump/lines-outside", r.offset, "%d of the %d entries of %s are outside of its code, %#x to %#x; the first is at %#x", outside, len(r.addrs), nameOf(l), l.CodeAddr, l.CodeAddr+l.CodeSize, r.addrs[0])
	}
}

// freedNames says what is wrong with entries that cannot be walked, and reports whether
// their addresses are known nevertheless; r has them then.
func (c *checker) freedNames(r *lineRecord, l *jitdump.Load, order binary.ByteOrder) bool {
	d := r.freed
	stride := strideOf(d, l.Name)
	if stride == 0 {
		if uint64(r.walked) < d.Count {
			c.Violation("dump/lines-count", r.offset, "%d entries are announced for %s, and %s there", d.Count, nameOf(l), areThere(r.walked))
		} else {
			c.Violation("dump/lines-count", r.offset, "%d entries are announced for %s, and do not fill their %d bytes", d.Count, nameOf(l), len(d.Area))
		}
		return false
	}
	r.addrs = strideAddrs(d, stride, order)
	c.Violation("dump/file-freed", r.offset, "the names in the %d entries of %s begin with %s", d.Count, nameOf(l), verify.Quoted(d.Area[jitdump.DebugEntryHead:min(stride, jitdump.DebugEntryHead+8)]))
	return true
}

// strideOf returns the length of the entries of V8's optimized code, with names that were
// freed: all have the same length, and NULs at its multiples. For others it returns 0.
func strideOf(d *jitdump.DebugInfo, name []byte) int {
	n := int(d.Count)
	if n <= 0 || n > len(d.Area) || !bytes.HasPrefix(name, []byte("JS:")) {
		return 0
	}
	for stride := len(d.Area) / n; stride > jitdump.DebugEntryHead && (n*stride+7)&^7 >= len(d.Area); stride-- {
		ends := true
		for i := 1; ends && i <= n; i++ {
			ends = d.Area[i*stride-1] == 0
		}
		if ends {
			return stride
		}
	}
	return 0
}

// strideAddrs returns the addresses of entries of one length.
func strideAddrs(d *jitdump.DebugInfo, stride int, order binary.ByteOrder) []uint64 {
	addrs := make([]uint64, d.Count)
	for i := range addrs {
		addrs[i] = order.Uint64(d.Area[i*stride:])
	}
	return addrs
}

// nameOf returns what a function is called, or where it is if it is not.
func nameOf(l *jitdump.Load) string {
	if len(l.Name) == 0 {
		return fmt.Sprintf("the function at %#x", l.CodeAddr)
	}
	return verify.Quoted(l.Name)
}

// drop forgets a record without its load.
func (ls *lineRecords) drop(c *checker, r *lineRecord) {
	delete(ls.byAddr, r.addr)
	ls.addrs -= len(r.addrs)
	if load, ok := c.loadedAt[r.addr]; ok && load < r.offset {
		c.Violation("dump/lines-order", r.offset, "the function at %#x was loaded before, at offset %#x, and none after it", r.addr, load)
		return
	}
	c.Violation("dump/lines-orphan", r.offset, "no function is loaded at %#x after it", r.addr)
}

// orphans drops the records for which no load came, all of them or those from before
// the last batch.
func (ls *lineRecords) orphans(c *checker, all bool) {
	var lost []*lineRecord
	for _, r := range ls.byAddr {
		if all || r.batch+1 < ls.batches {
			lost = append(lost, r)
		}
	}
	slices.SortFunc(lost, func(a, b *lineRecord) int { return int(a.offset - b.offset) })
	for _, r := range lost {
		ls.drop(c, r)
	}
}
