package checkdump

import (
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/jitted"
	"github.com/jitinject/jitinject/jitdump"
)

// maxTID is the largest thread id there can be (PID_MAX_LIMIT of linux/threads.h).
const maxTID = 1 << 22

// load checks a function and what was said about it before.
func (c *checker) load(raw *jitdump.Raw, l *jitdump.Load) {
	c.owner(raw, l.PID, l.TID)
	if l.VMA != l.CodeAddr {
		c.Violation("dump/vma", raw.Offset, "vma is %#x, code_addr %#x", l.VMA, l.CodeAddr)
	}
	switch {
	case len(l.Name) == 0:
		c.Violation("dump/name-missing", raw.Offset, "the function at %#x has no name", l.CodeAddr)
	case !verify.IsText(l.Name):
		c.Violation("dump/name-text", raw.Offset, "the name %s is no text", verify.Quoted(l.Name))
	}
	c.extra(raw, len(l.Extra), len(raw.Body)-len(l.Code))
	f := jitted.Function{Addr: l.CodeAddr, Size: l.CodeSize, Offset: raw.Offset, PID: l.PID}
	f.Gone = !c.address(raw, f.Addr, f.Size)
	if l.LacksCode() {
		c.Violation("dump/code-missing", raw.Offset, "%s has code_size %d, and the record ends with the name", verify.Quoted(l.Name), l.CodeSize)
	}
	if f.Size == 0 {
		c.Violation("dump/size-zero", raw.Offset, "%s has no code", verify.Quoted(l.Name))
	}
	key := indexKey{l.CodeIndex, l.PID}
	if i, twice := c.byIndex[key]; twice {
		c.Violation("dump/index-twice", raw.Offset, "%s has code_index %d, which the function at offset %#x has", verify.Quoted(l.Name), l.CodeIndex, c.functions[i].Offset)
	}
	c.byIndex[key] = int32(len(c.functions))
	c.functions = append(c.functions, f)
	if !f.Gone {
		c.place(int32(len(c.functions)-1), raw)
	}
	c.loads++
	c.loadedAt[l.CodeAddr] = raw.Offset
	if fn, ok := c.whole.function(raw); ok {
		lines := c.lines.byAddr[l.CodeAddr]
		c.producer.Function(fn, lines != nil && lines.lines, c.unwind.record != nil)
	}
	c.linesOf(raw, l, c.fixes(raw, l))
	c.unwindOf(raw, l)
	c.treeOf(l)
	c.j9Of(l)
}

// owner checks the record's process.
func (c *checker) owner(raw *jitdump.Raw, pid, tid uint32) {
	if pid != c.header.PID && !c.wrongPIDs[pid] && len(c.wrongPIDs) < 1000 {
		c.wrongPIDs[pid] = true
		c.Violation("dump/load-pid", raw.Offset, "%s of process %d in the dump of process %d", raw.ID, pid, c.header.PID)
	}
	if tid == 0 || tid > maxTID {
		c.Violation("dump/load-tid", raw.Offset, "%s of thread %d", raw.ID, tid)
	}
}

func (c *checker) address(raw *jitdump.Raw, addr, size uint64) bool {
	switch {
	case addr == 0:
		c.Violation("dump/address", raw.Offset, "%s at address 0", raw.ID)
		return false
	case addr+size < addr:
		c.Violation("dump/address", raw.Offset, "%s of %d bytes at %#x: that is beyond the end of all addresses", raw.ID, size, addr)
		return false
	}
	return true
}

// move checks that a function is moved from where it is.
func (c *checker) move(raw *jitdump.Raw, m *jitdump.Move) {
	c.owner(raw, m.PID, m.TID)
	if m.VMA != m.NewCodeAddr {
		c.Violation("dump/vma", raw.Offset, "vma is %#x, new_code_addr %#x", m.VMA, m.NewCodeAddr)
	}
	c.extra(raw, len(m.Extra), len(raw.Body))
	i, ok := c.byIndex[indexKey{m.CodeIndex, m.PID}]
	if !ok {
		c.Violation("dump/move-unknown", raw.Offset, "no function with code_index %d was loaded in process %d", m.CodeIndex, m.PID)
		return
	}
	f := &c.functions[i]
	if m.OldCodeAddr != f.Addr {
		c.Violation("dump/move-from", raw.Offset, "function %d is moved from %#x, but it is at %#x", m.CodeIndex, m.OldCodeAddr, f.Addr)
	}
	if m.CodeSize != f.Size {
		c.Violation("dump/move-size", raw.Offset, "function %d has %d bytes when it is moved, it was loaded with %d", m.CodeIndex, m.CodeSize, f.Size)
	}
	if !c.address(raw, m.NewCodeAddr, f.Size) {
		return
	}
	if !f.Gone {
		c.places.Remove(f)
		f.Gone = true
	}
	moved := *f
	moved.Addr, moved.Offset, moved.Gone = m.NewCodeAddr, raw.Offset, false
	c.byIndex[indexKey{m.CodeIndex, m.PID}] = int32(len(c.functions))
	c.functions = append(c.functions, moved)
	c.place(int32(len(c.functions)-1), raw)
}

// place puts a function where it says it is, and what lay there out of the way. Code
// that begins where older code began took its place: it was compiled again, or the
// older is gone. Where it begins elsewhere, one of the two may be wrong.
func (c *checker) place(i int32, raw *jitdump.Raw) {
	f := &c.functions[i]
	said := false
	c.places.Put(c.functions, i, func(other int32) {
		o := &c.functions[other]
		if o.Addr != f.Addr && !said {
			said = true
			c.Violation("dump/overlap", raw.Offset, "%d bytes of code at %#x lie over a part of %d bytes at %#x, from offset %#x", f.Size, f.Addr, o.Size, o.Addr, o.Offset)
		}
		o.Gone = true
	})
}
