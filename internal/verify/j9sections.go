package verify

import "github.com/jitinject/jitinject/internal/format/j9meta"

// What comes behind the stack atlas of OpenJ9's metadata, and bytes that no section accounts for.

// behind checks what comes behind the stack atlas and its maps.
func (c *j9Check) behind() {
	if o := c.body.OSR; o != nil {
		c.osr(o)
	}
	if g := c.body.GPU; g != nil {
		for i, k := range g.Kernels {
			if k.Line == 0 || k.Line > j9MaxLine || len(k.Text) == 0 {
				c.broken("j9/gpu", c.place(g.Offset), "kernel %d has the line %d and %s of code", i, k.Line, counted(len(k.Text), "byte"))
			}
		}
	}
	if !c.code.known {
		return
	}
	if b := c.body.Bytecodes; b != nil {
		for i, e := range b.Entries {
			if !c.code.has(e.Instruction - c.body.Header.StartPC) {
				c.broken("j9/bytecode-map", c.place(b.Offset), "entry %d is of the instruction at %#x, the code is %s from %#x on", i, e.Instruction, c.extent(), c.body.Header.StartPC)
			}
		}
	}
	if v := c.body.InvokeBasic; v != nil {
		if p := c.body.Layout.PointerSize; c.address(v.Offset)%uint64(p) != 0 {
			c.broken("j9/invoke-basic", c.place(v.Offset), "it is at %#x, and pointers have %d bytes", c.address(v.Offset), p)
		}
		for i, s := range v.Sites {
			if !c.code.ends(uint64(s.ReturnOffset)) {
				c.broken("j9/invoke-basic", c.place(v.Offset), "call %d returns to %#x, the code is %s", i, s.ReturnOffset, c.extent())
			}
		}
	}
}

// osr checks the OSR info.
func (c *j9Check) osr(o *j9meta.OSRInfo) {
	at := c.place(o.Offset)
	for i, m := range o.Mappings {
		if i > 0 && m.PC <= o.Mappings[i-1].PC {
			c.broken("j9/osr-order", at, "mapping %d is of offset %#x, the one in front of it of %#x", i, m.PC, o.Mappings[i-1].PC)
		}
		if c.code.known && !c.code.has(uint64(m.PC)) && !c.code.ends(uint64(m.PC)) {
			c.broken("j9/osr-offset", at, "mapping %d is of offset %#x, the code is %s", i, m.PC, c.extent())
		}
		for _, s := range m.Slots {
			if s.Site < -1 || int(s.Site) >= len(c.body.Sites) {
				c.broken("j9/osr-site", at, "mapping %d has a slot of call site %d, and there are %s", i, s.Site, counted(len(c.body.Sites), "call site"))
			}
			if end := uint64(s.ScratchOffset) + uint64(s.Size); end > uint64(o.MaxScratchSize) {
				c.broken("j9/osr-offset", at, "mapping %d has a slot that ends at %d, the scratch buffer has %d bytes", i, end, o.MaxScratchSize)
			}
		}
	}
	if n, most := len(o.CatchBlocks), len(c.body.Sites)+1; n > most {
		c.broken("j9/osr-site", at, "there are %s, for the method and %s", counted(n, "catch block"), counted(most-1, "call site"))
	}
	for i, offset := range o.CatchBlocks {
		if c.code.known && offset != 0 && !c.code.has(uint64(offset)) {
			c.broken("j9/osr-offset", at, "the catch block of call site %d is at %#x, the code is %s", i-1, offset, c.extent())
		}
	}
}

// gaps checks that every byte belongs to a section. Behind the last one counts only
// what is counted in the size.
func (c *j9Check) gaps() {
	sections := c.body.Sections
	for i, s := range sections {
		if s.Kind != j9meta.Gap || s.Offset >= int(c.body.Header.Size) {
			continue
		}
		if i+1 < len(sections) && sections[i+1].Kind == j9meta.InvokeBasicSection && s.Size < c.body.Layout.PointerSize {
			continue // it is aligned
		}
		c.broken("j9/gap", c.place(s.Offset), "%s behind %s belong to nothing", counted(s.Size, "byte"), sections[i-1].Kind)
	}
}

// padding checks what only aligns. It is one complaint: nobody sets it.
func (c *j9Check) padding() {
	var set habit
	look := func(offset int, pad []byte) {
		if !allZero(pad) {
			set.add(c.place(offset), "bytes at %#x of the metadata are %#x", offset, pad)
		}
	}
	b := c.body
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
		c.broken("j9/padding", set.at, "%s", set.String())
	}
}
