package showj9

import (
	"slices"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/show"
)

// Sections that are about neither lines nor inlined calls: maps of the whole frame,
// on-stack replacement, GPUs, hardware profiling, method handles.

// stackAlloc shows the stack alloc map.
func (b *Body) stackAlloc() {
	if m := b.Decoded.StackAlloc; m != nil {
		b.Out.Hex("first_stack_map", m.FirstMap)
		b.Out.ID("stack_alloc_map_bits", m.Bits)
	}
}

// internalPointers shows the internal pointer map.
func (b *Body) internalPointers() {
	m, o := b.Decoded.InternalPointers, b.Out
	if m == nil {
		return
	}
	o.Hex("first_stack_map", m.FirstMap)
	o.Num("map_size", uint64(m.Size))
	if len(m.Pad) > 0 {
		o.ID("alignment", m.Pad)
	}
	o.Signed("index_of_first_internal_pointer", int64(m.FirstIndex))
	o.Signed("offset_of_first_internal_pointer", int64(m.FirstOffset))
	b.pinningArrays(m.Arrays)
	if len(m.Extra) > 0 {
		o.ID("extra", m.Extra)
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
func (b *Body) osr() {
	i, o := b.Decoded.OSR, b.Out
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
	o.Num("section_0_size", uint64(size))
	if !i.SizeOnly {
		o.Num("max_scratch_buffer_size", uint64(i.MaxScratchSize))
		o.Num("section_0_mappings", uint64(len(i.Mappings)))
	}
	o.Num("section_1_size", uint64(j9OSRTail+4*len(i.CatchBlocks)))
	o.Num("section_1_mappings", uint64(len(i.CatchBlocks)))
}

// osrLists shows the mappings of sections 0 and 1 of the OSR info.
func (b *Body) osrLists() []rowList {
	shared, catch := rowList{name: "section_0"}, rowList{name: "section_1"}
	i := b.Decoded.OSR
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
		about := func(f *show.Filter) bool {
			return slices.ContainsFunc(m.Slots, func(s j9meta.OSRSlot) bool { return f.MatchesName([]byte(b.siteName(int(s.Site)))) })
		}
		if b.chosen(uint64(m.PC), uint64(m.PC), about) {
			shared.rows = append(shared.rows, func() { b.osrMapping(offset, m) })
		}
	}
	at += j9OSRTail
	for n, pc := range i.CatchBlocks {
		offset := at + 4*uint64(n)
		name := b.siteName(n - 1)
		if none := pc == 0 && b.Filter != nil && b.Filter.Address.Set; !none && b.chosen(uint64(pc), uint64(pc), func(f *show.Filter) bool { return f.MatchesName([]byte(name)) }) {
			catch.rows = append(catch.rows, func() {
				b.Out.Offset(offset)
				b.Out.Signed("inlined_site_index", int64(n)-1)
				b.Out.Hex("start_pc_offset", uint64(pc))
				b.method(name)
			})
		}
	}
	return []rowList{shared, catch}
}

func (b *Body) osrMapping(offset uint64, m *j9meta.OSRMapping) {
	o := b.Out
	o.Offset(offset)
	o.Hex("instruction_pc_offset", uint64(m.PC))
	o.Num("scratch_buffer_infos", uint64(len(m.Slots)))
	o.List("slots")
	for n, s := range m.Slots {
		o.Row()
		o.Offset(offset + j9OSRMapping + j9OSRSlot*uint64(n))
		o.Signed("inlined_site_index", int64(s.Site))
		o.Num("osr_buffer_offset", uint64(s.BufferOffset))
		o.Num("scratch_buffer_offset", uint64(s.ScratchOffset))
		o.Num("sym_size", uint64(s.Size))
	}
	o.EndList()
}

// gpu shows struct GpuMetaData.
func (b *Body) gpu() {
	g, o := b.Decoded.GPU, b.Out
	if g == nil {
		return
	}
	o.Hex("methodSignature", g.MethodSignature)
	o.Num("numPtxKernels", uint64(len(g.Kernels)))
	o.Num("maxNumCachedDevices", uint64(g.MaxCachedDevices))
	o.Hex("lineNumberArray", g.LineNumberArray)
	o.Hex("ptxArray", g.PTXArray)
	o.Hex("cuModuleArray", g.CUModuleArray)
	o.Str("method_signature", g.Signature)
	if len(g.CUModules) > 0 {
		o.ID("cu_module_array", g.CUModules)
	}
}

// kernels shows the kernels of a GPU: the offset is that of the line, with the text elsewhere.
func (b *Body) kernels() rowList {
	l := rowList{name: "kernels"}
	g := b.Decoded.GPU
	if g == nil || b.picky() {
		return l
	}
	p := uint64(b.Decoded.Layout.PointerSize)
	lines := uint64(g.Offset) + 4*p + 8 + uint64(len(g.Signature)) + 1
	texts := lines + uint64(len(g.Kernels))*(4+p)
	for i := range g.Kernels {
		k, text := &g.Kernels[i], texts
		texts += uint64(len(k.Text)) + 1
		l.rows = append(l.rows, func() {
			o := b.Out
			o.Offset(lines + 4*uint64(i))
			o.Num("line_number", uint64(k.Line))
			o.Hex("ptx_array_entry_location", k.PTX)
			o.Hex("ptx_array_entry_offset", text)
			o.Str("ptx_array_entry", k.Text)
		})
	}
	return l
}

// bytecodeMap shows the head of the map for hardware profiling.
func (b *Body) bytecodeMap() {
	if m := b.Decoded.Bytecodes; m != nil {
		b.Out.Hex("eyecatcher", m.Eyecatcher)
		b.Out.Num("map_size", m.Size)
		if m.Eyecatcher != j9meta.BytecodeEyecatcher {
			b.Out.Word("map", "not filled in")
		}
	}
}

// bytecodes shows that map.
func (b *Body) bytecodes() rowList {
	l := rowList{name: "entries"}
	m := b.Decoded.Bytecodes
	if m == nil {
		return l
	}
	p := uint64(b.Decoded.Layout.PointerSize)
	for i := range m.Entries {
		e := &m.Entries[i]
		if at := e.Instruction - b.Decoded.Header.StartPC; !b.chosen(at, at, func(*show.Filter) bool { return false }) {
			continue
		}
		l.rows = append(l.rows, func() {
			b.Out.Offset(uint64(m.Offset) + 2*p*uint64(i+1))
			b.Out.Hex("bytecode_pc", e.BytecodePC)
			b.Out.Hex("instruction_address", e.Instruction)
		})
	}
	return l
}

// invokeBasicHead shows how many invokeBasic knows of.
func (b *Body) invokeBasicHead() {
	if v := b.Decoded.InvokeBasic; v != nil {
		b.Out.Num("numSites", uint64(len(v.Sites)))
		b.spare("padding", v.Pad[:])
	}
}

// invokeBasic shows the calls that may end in MethodHandle.invokeBasic.
func (b *Body) invokeBasic() rowList {
	l := rowList{name: "sites"}
	v := b.Decoded.InvokeBasic
	if v == nil {
		return l
	}
	p := uint64(b.Decoded.Layout.PointerSize)
	for i := range v.Sites {
		s := &v.Sites[i]
		if !b.chosen(uint64(s.ReturnOffset), uint64(s.ReturnOffset), func(*show.Filter) bool { return false }) {
			continue
		}
		l.rows = append(l.rows, func() {
			b.Out.Offset(uint64(v.Offset) + p + (8+p)*uint64(i))
			b.Out.Hex("jitReturnAddressOffset", uint64(s.ReturnOffset))
			b.Out.Num("numArgSlots", uint64(s.ArgSlots))
			b.spare("padding", s.Pad[:])
			b.Out.Hex("j2iThunk", s.J2IThunk)
		})
	}
	return l
}
