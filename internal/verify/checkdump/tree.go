package checkdump

import (
	"bytes"
	"slices"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/jitdump"
)

// A pendingTree is a record of inlined calls that waits for its load.
type pendingTree struct {
	waits  bool
	sound  bool // the lists add up
	offset int64
	info   jitdump.DebugInfo2 // without names, which are gone with the record
	name   []byte             // of the outer function
	named  bool
	before []byte // name of the last load
	had    bool   // a record came before that
}

func (p *pendingTree) forget() { p.waits = false }

// debugInfo2 checks the lists of a record.
func (c *checker) debugInfo2(raw *jitdump.Raw) {
	p := &c.tree
	if p.waits {
		c.Violation("dump/tree-order", p.offset, "another record of inlined calls follows at offset %#x, and no load", raw.Offset)
	}
	p.waits, p.offset = true, raw.Offset
	err := raw.DebugInfo2(&p.info)
	if p.sound = err == nil; !p.sound {
		c.Violation("dump/tree-size", raw.Offset, "%v", err)
		return
	}
	if n := len(p.info.Extra); n > 7 || len(bytes.Trim(p.info.Extra, "\x00")) > 0 {
		c.Violation("dump/extra-bytes", raw.Offset, "%s has %d bytes after its fields", raw.ID, n)
	}
	p.name, p.named = p.name[:0], false
	if f := p.info.Functions; len(f) > 0 && uint64(f[0].Name) < uint64(len(p.info.Names)) {
		p.name, p.named = append(p.name, p.info.Names[f[0].Name]...), true
	}
	for _, name := range p.info.Names {
		if !verify.IsText(name) {
			c.Violation("dump/name-text", raw.Offset, "%s has the function name %s, which is no text", raw.ID, verify.Quoted(name))
			break
		}
	}
	for _, name := range p.info.Files {
		if !verify.IsText(name) {
			c.Violation("dump/file-garbage", raw.Offset, "%s has the file name %s", raw.ID, verify.Quoted(name))
			break
		}
	}
	for i, f := range p.info.Functions {
		tier := f.Flags.Tier()
		c.producer.User = c.producer.User || f.Flags&jitdump.UserFunction != 0
		c.producer.Tiered = c.producer.Tiered || i == 0 && tier != 0
		switch known := jitdump.UserFunction | jitdump.TierFlags(tier); {
		case f.Flags&^known != 0 || i > 0 && tier != 0:
			c.Violation("dump/tree-flags", raw.Offset, "function %d has flags %#x", i, uint32(f.Flags))
		case tier != 0 && !c.tiers[tier]:
			c.Violation("dump/tier-unknown", raw.Offset, "no %s before it names tier %d", jitdump.IDTier, tier)
		}
	}
}

// treeOf checks the record in front of a load.
func (c *checker) treeOf(l *jitdump.Load) {
	p := &c.tree
	isLate := p.waits && p.named && len(p.name) > 0 && !bytes.Contains(l.Name, p.name) && !p.had && bytes.Equal(p.name, p.before)
	p.before, p.had = append(p.before[:0], l.Name...), p.waits
	if !p.waits {
		return
	}
	p.waits = false
	if !p.sound {
		return
	}
	if isLate {
		c.Violation("dump/tree-order", p.offset, "it is about %s, which was loaded before it; the load after it is that of %s", verify.Quoted(p.name), verify.Quoted(l.Name))
		return
	}
	if p.named && !bytes.Equal(p.name, l.Name) {
		c.Violation("dump/tree-name", p.offset, "its function is called %s, the load %s", verify.Quoted(p.name), verify.Quoted(l.Name))
	}
	if err := p.info.CheckTree(l.CodeSize); err != nil {
		c.Violation("dump/tree-calls", verify.FaultAt(err, p.offset), "%s: %v", verify.Quoted(l.Name), err)
	}
	err := p.info.CheckLines()
	if err != nil {
		c.Violation("dump/tree-lines", verify.FaultAt(err, p.offset), "%s: %v", verify.Quoted(l.Name), err)
		return
	}
	for _, line := range p.info.Lines {
		if line.Line > maxLine {
			c.Violation("dump/line-absurd", p.offset, "%s has lines such as %d", verify.Quoted(l.Name), line.Line)
			break
		}
	}
	for _, line := range p.info.Lines {
		if uint64(line.Offset) >= l.CodeSize {
			c.Violation("dump/tree-lines", p.offset, "%s has a line at offset %#x, and %#x bytes of code", verify.Quoted(l.Name), line.Offset, l.CodeSize)
			return
		}
	}
}

// A pendingJ9 is a record of OpenJ9's metadata that waits for its load.
type pendingJ9 struct {
	offset int64
	addr   uint64
	loads  int // that had come before it
}

// maxPendingJ9 is how many records may wait for their loads, and for how many loads, as
// readers have it.
const maxPendingJ9 = 64

// openJ9 checks a record of OpenJ9's metadata.
func (c *checker) openJ9(raw *jitdump.Raw) {
	m, err := raw.OpenJ9Metadata()
	if err != nil {
		c.Violation("dump/j9-record", min(verify.FaultAt(err, raw.Offset), raw.Offset+raw.Size()-1), "%v", err)
		return
	}
	for i := range m.Methods {
		c.producer.User = c.producer.User || m.Methods[i].Flags&jitdump.UserFunction != 0
	}
	if n := len(m.Extra); n > 7 || len(bytes.Trim(m.Extra, "\x00")) > 0 {
		c.Violation("dump/extra-bytes", raw.Offset, "%s has %d bytes after its fields", raw.ID, n)
	}
	if old := c.takeJ9(m.CodeAddr); old != nil {
		c.orphanJ9(old)
	}
	if len(c.j9) == maxPendingJ9 {
		c.orphanJ9(c.j9[0])
		c.j9 = slices.Delete(c.j9, 0, 1)
	}
	c.j9 = append(c.j9, &pendingJ9{raw.Offset, m.CodeAddr, c.j9Loads})
}

// j9Of takes the metadata of a load, which the engine decodes with the function: see fixed.
func (c *checker) j9Of(l *jitdump.Load) {
	for len(c.j9) > 0 && c.j9Loads-c.j9[0].loads >= maxPendingJ9 {
		c.orphanJ9(c.j9[0])
		c.j9 = slices.Delete(c.j9, 0, 1)
	}
	c.j9Loads++
	c.takeJ9(l.CodeAddr)
}

// takeJ9 returns the record that waits for the load at an address, which it does no more.
func (c *checker) takeJ9(addr uint64) *pendingJ9 {
	i := slices.IndexFunc(c.j9, func(p *pendingJ9) bool { return p.addr == addr })
	if i < 0 {
		return nil
	}
	p := c.j9[i]
	c.j9 = slices.Delete(c.j9, i, i+1)
	return p
}

// orphanJ9 reports a record without its load.
func (c *checker) orphanJ9(p *pendingJ9) {
	c.Violation("dump/j9-orphan", p.offset, "no function is loaded at %#x", p.addr)
}
