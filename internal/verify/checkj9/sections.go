package checkj9

import (
	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/verify"
)

// What comes behind the stack atlas of OpenJ9's metadata, and bytes that no section accounts for.

// behind checks what comes behind the stack atlas and its maps.
func (c *Metadata) behind() {
	if o := c.Body.OSR; o != nil {
		c.osr(o)
	}
	if g := c.Body.GPU; g != nil {
		for i, k := range g.Kernels {
			if k.Line == 0 || k.Line > maxLine || len(k.Text) == 0 {
				c.Violation("j9/gpu", c.place(g.Offset), "kernel %d has the line %d and %s of code", i, k.Line, verify.Counted(len(k.Text), "byte"))
			}
		}
	}
	if !c.Code.Known {
		return
	}
	if b := c.Body.Bytecodes; b != nil {
		for i, e := range b.Entries {
			if !c.Code.has(e.Instruction - c.Body.Header.StartPC) {
				c.Violation("j9/bytecode-map", c.place(b.Offset), "entry %d is of the instruction at %#x, the code is %s from %#x on", i, e.Instruction, c.extent(), c.Body.Header.StartPC)
			}
		}
	}
	if v := c.Body.InvokeBasic; v != nil {
		if p := c.Body.Layout.PointerSize; c.address(v.Offset)%uint64(p) != 0 {
			c.Violation("j9/invoke-basic", c.place(v.Offset), "it is at %#x, and pointers have %d bytes", c.address(v.Offset), p)
		}
		for i, s := range v.Sites {
			if !c.Code.ends(uint64(s.ReturnOffset)) {
				c.Violation("j9/invoke-basic", c.place(v.Offset), "call %d returns to %#x, the code is %s", i, s.ReturnOffset, c.extent())
			}
		}
	}
}

// osr checks the OSR info.
func (c *Metadata) osr(o *j9meta.OSRInfo) {
	at := c.place(o.Offset)
	for i, m := range o.Mappings {
		if i > 0 && m.PC <= o.Mappings[i-1].PC {
			c.Violation("j9/osr-order", at, "mapping %d is of offset %#x, the one before it of %#x", i, m.PC, o.Mappings[i-1].PC)
		}
		if c.Code.Known && !c.Code.has(uint64(m.PC)) && !c.Code.ends(uint64(m.PC)) {
			c.Violation("j9/osr-offset", at, "mapping %d is of offset %#x, the code is %s", i, m.PC, c.extent())
		}
		for _, s := range m.Slots {
			if s.Site < -1 || int(s.Site) >= len(c.Body.Sites) {
				c.Violation("j9/osr-site", at, "mapping %d has a slot of call site %d, and there are %s", i, s.Site, verify.Counted(len(c.Body.Sites), "call site"))
			}
			if end := uint64(s.ScratchOffset) + uint64(s.Size); end > uint64(o.MaxScratchSize) {
				c.Violation("j9/osr-offset", at, "mapping %d has a slot that ends at %d, the scratch buffer has %d bytes", i, end, o.MaxScratchSize)
			}
		}
	}
	if n, most := len(o.CatchBlocks), len(c.Body.Sites)+1; n > most {
		c.Violation("j9/osr-site", at, "there are %s, for the method and %s", verify.Counted(n, "catch block"), verify.Counted(most-1, "call site"))
	}
	for i, offset := range o.CatchBlocks {
		if c.Code.Known && offset != 0 && !c.Code.has(uint64(offset)) {
			c.Violation("j9/osr-offset", at, "the catch block of call site %d is at %#x, the code is %s", i-1, offset, c.extent())
		}
	}
}

// gaps checks that every byte belongs to a section. Behind the last one counts only
// what is counted in the size.
func (c *Metadata) gaps() {
	sections := c.Body.Sections
	for i, s := range sections {
		if s.Kind != j9meta.Gap || s.Offset >= int(c.Body.Header.Size) {
			continue
		}
		if i+1 < len(sections) && sections[i+1].Kind == j9meta.InvokeBasicSection && s.Size < c.Body.Layout.PointerSize {
			continue // it is aligned
		}
		c.Violation("j9/gap", c.place(s.Offset), "%s after %s have no use", verify.Counted(s.Size, "byte"), sections[i-1].Kind)
	}
}

// padding checks what only aligns. It is one diagnostic: no producer sets it.
func (c *Metadata) padding() {
	var set quirk
	look := func(offset int, pad []byte) {
		if !verify.IsZero(pad) {
			set.add(c.place(offset), "bytes at %#x of the metadata are %#x", offset, pad)
		}
	}
	b := c.Body
	pointer := b.Layout.PointerSize
	look(c.behindHotness()-4, b.Header.HotnessPad[:])
	for i := range b.Sites {
		look(b.Sites[i].Offset+pointer+4, b.Sites[i].Pad[:])
	}
	if a := b.Atlas; a != nil {
		look(a.Offset+2*pointer+12, a.Pad[:])
		for i := range a.Maps {
			look(a.Maps[i].Offset+2, a.Maps[i].LowPad[:])
		}
	}
	if m := b.InternalPointers; m != nil {
		look(m.Offset+pointer+1, m.Pad)
	}
	if v := b.InvokeBasic; v != nil {
		look(v.Offset+4, v.Pad[:])
		for i := range v.Sites {
			look(v.Offset+pointer+i*(8+pointer)+5, v.Sites[i].Pad[:])
		}
	}
	for i, s := range b.Sections {
		if s.Kind == j9meta.Gap && i+1 < len(b.Sections) && b.Sections[i+1].Kind == j9meta.InvokeBasicSection && s.Size < pointer {
			look(s.Offset, s.Bytes)
		}
	}
	if set.n > 0 {
		c.Violation("j9/padding", set.at, "%s", set.String())
	}
}
