package checkdump

import (
	"bytes"
	"fmt"

	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/words"
	"github.com/jitinject/jitinject/jitdump"
)

// Lines are below maxLine: no source file has more.
const maxLine = 1 << 24

// A lineRecord is a debug record that waits for its load.
type lineRecord struct {
	offset  int64
	addr    uint64 // of the function
	batch   int
	count   uint64 // of entries, as the record has it
	entries int    // that are there
	whole   bool   // the entries add up
	lines   bool   // some entry has a line
	low     uint64 // the least and the greatest address of an entry, if the entries add up
	high    uint64
}

// lineRecords are the debug records that wait, and how the last ones came.
type lineRecords struct {
	byAddr  map[uint64]*lineRecord
	batch   []*lineRecord // since the last load
	batches int
}

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
	if old := c.lines.byAddr[d.CodeAddr]; old != nil {
		c.lines.drop(c, old)
	}
	if d.Count == 0 {
		c.Violation("dump/lines-empty", raw.Offset, "the lines of the function at %#x have no entries", d.CodeAddr)
	}
	t, whole := walkLines(d)
	r := &lineRecord{raw.Offset, d.CodeAddr, c.lines.batches, d.Count, t.entries, whole, t.entries > t.zero, t.low, t.high}
	c.lines.byAddr[d.CodeAddr] = r
	c.lines.batch = append(c.lines.batch, r)
	if whole {
		c.extra(raw, t.left, len(raw.Body))
		c.entries(raw, d.CodeAddr, &t)
	}
}

// A lineTable is what the entries of a debug record say.
type lineTable struct {
	low, high    uint64 // the least and the greatest address
	entries      int
	left         int // bytes behind the entries
	unsorted     int // entries before the one in front of them
	zero, absurd int // lines
	noFile       int
	garbage      []byte // a file name that is no text
	badRepeat    bool
	absurdLine   uint32
}

// walkLines goes from entry to entry. whole is false if they do not add up.
func walkLines(d *jitdump.DebugInfo) (t lineTable, whole bool) {
	used := 0
	last := uint64(0) // address of the entry before
	t.low = ^uint64(0)
	for e, err := range d.Entries() {
		if err != nil {
			return t, false
		}
		if e.Addr < last {
			t.unsorted++
		}
		last = e.Addr
		t.low, t.high = min(t.low, e.Addr), max(t.high, e.Addr)
		switch {
		case e.Line == 0:
			t.zero++
		case e.Line >= maxLine:
			t.absurd++
			t.absurdLine = e.Line
		}
		switch {
		case len(e.Name) == 0 && e.Line != 0:
			t.noFile++
		case string(e.Name) == jitdump.RepeatName:
			t.badRepeat = t.badRepeat || t.entries == 0
		case t.garbage == nil && !verify.IsText(e.Name):
			t.garbage = bytes.Clone(e.Name)
		}
		t.entries++
		used += jitdump.DebugEntryHead + len(e.Name) + 1
	}
	t.left = len(d.Area) - used
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

// linesOf checks the debug record of a load. fixes has the names of the engine's fixes of the function.
func (c *checker) linesOf(raw *jitdump.Raw, l *jitdump.Load, fixes map[string]bool) {
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
	switch {
	case r.whole || fixes["freed-file-names"]:
	case uint64(r.entries) < r.count:
		c.Violation("dump/lines-count", r.offset, "%d entries are announced for the function at %#x, and %s there", r.count, r.addr, words.Plural(r.entries, "is", "are"))
	default:
		c.Violation("dump/lines-count", r.offset, "%d entries are announced for the function at %#x, and do not fill their record", r.count, r.addr)
	}
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
	sorting.By(lost, func(a, b *lineRecord) int { return int(a.offset - b.offset) })
	for _, r := range lost {
		ls.drop(c, r)
	}
}
