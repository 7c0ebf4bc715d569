package checkdump

import (
	"bytes"

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
	if n := len(p.info.Extra); n > 7 || !verify.IsZero(p.info.Extra) {
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
