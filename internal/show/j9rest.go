package show

import (
	"slices"

	"github.com/jitinject/jitinject/internal/format/j9meta"
)

// Sections that are about neither lines nor inlined calls: maps of the whole frame,
// on-stack replacement, GPUs, hardware profiling, method handles.

// stackAlloc shows the stack alloc map.
func (b *j9Body) stackAlloc() {
	if m := b.body.StackAlloc; m != nil {
		b.out.hex("first_stack_map", m.FirstMap)
		b.out.id("stack_alloc_map_bits", m.Bits)
	}
}

// internalPointers shows the internal pointer map.
func (b *j9Body) internalPointers() {
	m, o := b.body.InternalPointers, b.out
	if m == nil {
		return
	}
	o.hex("first_stack_map", m.FirstMap)
	o.num("map_size", uint64(m.Size))
	if len(m.Pad) > 0 {
		o.id("alignment", m.Pad)
	}
	o.signed("index_of_first_internal_pointer", int64(m.FirstIndex))
	o.signed("offset_of_first_internal_pointer", int64(m.FirstOffset))
	b.pinningArrays(m.Arrays)
	if len(m.Extra) > 0 {
		o.id("extra", m.Extra)
	}
}

// Sizes of parts of the OSR info in bytes.
const (
	j9OSRSize    = 4  // of section 0, where it has nothing but its size
	j9OSRHead    = 12 // of section 0, else
	j9OSRMapping = 8
	j9OSRSlot    = 16
	j9OSRTail    = 8 // of section 1
)

// osr shows the heads of both sections of the OSR info.
func (b *j9Body) osr() {
	i, o := b.body.OSR, b.out
	if i == nil {
		return
	}
	size := j9OSRSize
	if !i.SizeOnly {
		size = j9OSRHead
		for _, m := range i.Mappings {
			size += j9OSRMapping + j9OSRSlot*len(m.Slots)
		}
	}
	o.num("section_0_size", uint64(size))
	if !i.SizeOnly {
		o.num("max_scratch_buffer_size", uint64(i.MaxScratchSize))
		o.num("section_0_mappings", uint64(len(i.Mappings)))
	}
	o.num("section_1_size", uint64(j9OSRTail+4*len(i.CatchBlocks)))
	o.num("section_1_mappings", uint64(len(i.CatchBlocks)))
}

// osrLists shows the mappings of sections 0 and 1 of the OSR info.
func (b *j9Body) osrLists() []j9List {
	shared, catch := j9List{name: "section_0"}, j9List{name: "section_1"}
	i := b.body.OSR
	if i == nil {
		return nil
	}
	at := uint64(i.Offset) + j9OSRSize
	if !i.SizeOnly {
		at = uint64(i.Offset) + j9OSRHead
	}
	for n := range i.Mappings {
		m, offset := &i.Mappings[n], at
		at += j9OSRMapping + j9OSRSlot*uint64(len(m.Slots))
		about := func(f *Filter) bool {
			return slices.ContainsFunc(m.Slots, func(s j9meta.OSRSlot) bool { return f.name([]byte(b.siteName(int(s.Site)))) })
		}
		if b.chosen(uint64(m.PC), uint64(m.PC), about) {
			shared.rows = append(shared.rows, func() { b.osrMapping(offset, m) })
		}
	}
	at += j9OSRTail
	for n, pc := range i.CatchBlocks {
		offset := at + 4*uint64(n)
		name := b.siteName(n - 1)
		if none := pc == 0 && b.filter != nil && b.filter.Address.Set; !none && b.chosen(uint64(pc), uint64(pc), func(f *Filter) bool { return f.name([]byte(name)) }) {
			catch.rows = append(catch.rows, func() {
				b.out.offset(offset)
				b.out.signed("inlined_site_index", int64(n)-1)
				b.out.hex("start_pc_offset", uint64(pc))
				b.method(name)
			})
		}
	}
	return []j9List{shared, catch}
}

func (b *j9Body) osrMapping(offset uint64, m *j9meta.OSRMapping) {
	o := b.out
	o.offset(offset)
	o.hex("instruction_pc_offset", uint64(m.PC))
	o.num("scratch_buffer_infos", uint64(len(m.Slots)))
	o.list("slots")
	for n, s := range m.Slots {
		o.row()
		o.offset(offset + j9OSRMapping + j9OSRSlot*uint64(n))
		o.signed("inlined_site_index", int64(s.Site))
		o.num("osr_buffer_offset", uint64(s.BufferOffset))
		o.num("scratch_buffer_offset", uint64(s.ScratchOffset))
		o.num("sym_size", uint64(s.Size))
	}
	o.endList()
}

// gpu shows struct GpuMetaData.
func (b *j9Body) gpu() {
	g, o := b.body.GPU, b.out
	if g == nil {
		return
	}
	o.hex("methodSignature", g.MethodSignature)
	o.num("numPtxKernels", uint64(len(g.Kernels)))
	o.num("maxNumCachedDevices", uint64(g.MaxCachedDevices))
	o.hex("lineNumberArray", g.LineNumberArray)
	o.hex("ptxArray", g.PTXArray)
	o.hex("cuModuleArray", g.CUModuleArray)
	o.str("method_signature", g.Signature)
	if len(g.CUModules) > 0 {
		o.id("cu_module_array", g.CUModules)
	}
}

// kernels shows the kernels of a GPU: the offset is that of the line, with the text elsewhere.
func (b *j9Body) kernels() j9List {
	l := j9List{name: "kernels"}
	g := b.body.GPU
	if g == nil || b.picky() {
		return l
	}
	p := uint64(b.body.Layout.PointerSize)
	lines := uint64(g.Offset) + 4*p + 8 + uint64(len(g.Signature)) + 1
	texts := lines + uint64(len(g.Kernels))*(4+p)
	for i := range g.Kernels {
		k, text := &g.Kernels[i], texts
		texts += uint64(len(k.Text)) + 1
		l.rows = append(l.rows, func() {
			o := b.out
			o.offset(lines + 4*uint64(i))
			o.num("line_number", uint64(k.Line))
			o.hex("ptx_array_entry_location", k.PTX)
			o.hex("ptx_array_entry_offset", text)
			o.str("ptx_array_entry", k.Text)
		})
	}
	return l
}

// bytecodeMap shows the head of the map for hardware profiling.
func (b *j9Body) bytecodeMap() {
	if m := b.body.Bytecodes; m != nil {
		b.out.hex("eyecatcher", m.Eyecatcher)
		b.out.num("map_size", m.Size)
		if m.Eyecatcher != j9meta.BytecodeEyecatcher {
			b.out.word("map", "not filled in")
		}
	}
}

// bytecodes shows that map.
func (b *j9Body) bytecodes() j9List {
	l := j9List{name: "entries"}
	m := b.body.Bytecodes
	if m == nil {
		return l
	}
	p := uint64(b.body.Layout.PointerSize)
	for i := range m.Entries {
		e := &m.Entries[i]
		if at := e.Instruction - b.body.Header.StartPC; !b.chosen(at, at, func(*Filter) bool { return false }) {
			continue
		}
		l.rows = append(l.rows, func() {
			b.out.offset(uint64(m.Offset) + 2*p*uint64(i+1))
			b.out.hex("bytecode_pc", e.BytecodePC)
			b.out.hex("instruction_address", e.Instruction)
		})
	}
	return l
}

// invokeBasicHead shows how many invokeBasic knows of.
func (b *j9Body) invokeBasicHead() {
	if v := b.body.InvokeBasic; v != nil {
		b.out.num("numSites", uint64(len(v.Sites)))
		b.spare("padding", v.Pad[:])
	}
}

// invokeBasic shows the calls that may end in MethodHandle.invokeBasic.
func (b *j9Body) invokeBasic() j9List {
	l := j9List{name: "sites"}
	v := b.body.InvokeBasic
	if v == nil {
		return l
	}
	p := uint64(b.body.Layout.PointerSize)
	for i := range v.Sites {
		s := &v.Sites[i]
		if !b.chosen(uint64(s.ReturnOffset), uint64(s.ReturnOffset), func(*Filter) bool { return false }) {
			continue
		}
		l.rows = append(l.rows, func() {
			b.out.offset(uint64(v.Offset) + p + (8+p)*uint64(i))
			b.out.hex("jitReturnAddressOffset", uint64(s.ReturnOffset))
			b.out.num("numArgSlots", uint64(s.ArgSlots))
			b.spare("padding", s.Pad[:])
			b.out.hex("j2iThunk", s.J2IThunk)
		})
	}
	return l
}
