package j9gen

import (
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/wire"
)

// Encode returns b as a blob: the sections of b.Sections, with the pointers and counts
// of b's fields. A decoded body becomes the blob that it was decoded from; a body made
// or changed by hand needs Lay first. Values that do not fit into their fields are cut
// off. It is an error if a section is not where b.Sections has it.
func Encode(b *j9meta.Body) ([]byte, error) {
	e := &encoder{Buffer: wire.NewBuffer(b.Layout.Order), b: b, l: b.Layout}
	for _, s := range b.Sections {
		start := e.Len()
		e.section(s.Kind, s.Bytes)
		if start != s.Offset || e.Len()-start != s.Size {
			return nil, fmt.Errorf("%s: %d bytes at %#x, its section has %d at %#x: call Lay", s.Kind, e.Len()-start, start, s.Size, s.Offset)
		}
	}
	return e.Data, nil
}

// Lay gives each part of b its place, in the order of OpenJ9's compiler. It sets offsets,
// pointers into the blob, counts, sizes and the flags of wide entries. It drops gaps and
// the bytes after the arrays of pointer maps. A body without a size of header gets the
// smallest known header with a place for its fields. A stub is a header only.
func Lay(b *j9meta.Body) {
	h, l := &b.Header, &b.Layout
	if sizes := j9meta.HeaderSizes(l.PointerSize); l.HeaderSize == 0 {
		l.HeaderSize = sizes[0]
		if b.InvokeBasic != nil {
			l.HeaderSize = sizes[1]
		}
		if h.ConstRefArrays != 0 {
			l.HeaderSize = sizes[2]
		}
	}
	b.Sections = nil
	if h.Flags&j9meta.IsStub != 0 {
		b.Sections = []j9meta.Section{{Kind: j9meta.ExceptionTable, Size: l.HeaderSize}}
		return
	}
	setCounts(b)
	e := &encoder{Buffer: wire.NewBuffer(l.Order), b: b, l: *l, laying: true}
	section := func(kind j9meta.SectionKind, is bool, pointer *uint64) {
		if *pointer = 0; is {
			*pointer = e.address(e.Len())
			start := e.Len()
			e.section(kind, nil)
			b.Sections = append(b.Sections, j9meta.Section{Kind: kind, Offset: start, Size: e.Len() - start})
		}
	}
	none, a := uint64(0), b.Atlas
	if a == nil {
		a = &j9meta.StackAtlas{}
	}
	section(j9meta.ExceptionTable, true, &none)
	section(j9meta.ExceptionInfo, len(b.Exceptions) > 0, &none)
	section(j9meta.InlineInfo, len(b.Sites) > 0, &h.InlinedCalls)
	section(j9meta.StackAtlasSection, b.Atlas != nil, &h.GCStackAtlas)
	section(j9meta.StackAllocSection, b.StackAlloc != nil, &a.StackAllocMap)
	section(j9meta.InternalPointerSection, b.InternalPointers != nil, &a.InternalPointerMap)
	section(j9meta.OSRSection, b.OSR != nil, &h.OSRInfo)
	section(j9meta.GPUSection, b.GPU != nil, &h.GPUCode)
	section(j9meta.BytecodeSection, b.Bytecodes != nil, &h.RIData)
	if gap := -e.Len() & (l.PointerSize - 1); gap > 0 && b.InvokeBasic != nil {
		b.Sections = append(b.Sections, j9meta.Section{Kind: j9meta.Gap, Offset: e.Len(), Size: gap, Bytes: make([]byte, gap)})
		e.Bytes(make([]byte, gap))
	}
	section(j9meta.InvokeBasicSection, b.InvokeBasic != nil, &h.InvokeBasicCallInfo)
	h.Size = int32(e.Len())
}

// setCounts sets the fields that say how many entries there are, and how wide.
func setCounts(b *j9meta.Body) {
	h := &b.Header
	wide := h.EndPC-h.StartPC >= math.MaxUint16
	if a := b.Atlas; a != nil {
		a.NumberOfMaps, a.NumberOfMapBytes = uint16(len(a.Maps)), uint16(len(a.Monitors))
		for i := range a.Maps {
			m := &a.Maps[i]
			if m.Shared = m.Info.DoNotProfile; wide || m.Low > math.MaxUint16 {
				h.Flags |= j9meta.GCMap32BitOffsets
			}
			if n := len(m.Bits); n > 0 && (m.Bits[n-1]&0x80 != 0) != (m.LiveMonitors != nil) {
				m.Bits = slices.Clone(m.Bits) // which may be a part of the blob
				m.Bits[n-1] ^= 0x80
			}
		}
	}
	wide = wide || h.WideExceptions()
	indexes := h.ExceptionBytecodes() || h.Flags&j9meta.IsFSDComp != 0
	for _, x := range b.Exceptions {
		wide = wide || max(x.Start, x.End, x.Handler, x.CatchType) > math.MaxUint16 || x.Method != 0
		indexes = indexes || x.ByteCodeIndex != 0
	}
	h.NumExceptionRanges = uint16(len(b.Exceptions))
	if wide && len(b.Exceptions) > 0 {
		h.NumExceptionRanges |= 0x8000
	}
	if indexes && len(b.Exceptions) > 0 {
		h.NumExceptionRanges |= 0x4000
	}
	if m := b.Bytecodes; m != nil && (m.Eyecatcher == 0 || len(m.Entries) > 0) {
		m.Eyecatcher, m.Size = j9meta.BytecodeEyecatcher, uint64(len(m.Entries))
	}
}

// An encoder writes a body. While laying, it sets the offsets and pointers of what it
// writes; then only the number of bytes written counts.
type encoder struct {
	*wire.Buffer
	b      *j9meta.Body
	l      j9meta.Layout
	laying bool
}

// address is where in the process an offset of the blob is.
func (e *encoder) address(offset int) uint64 {
	if e.l.PointerSize == 4 {
		return uint64(uint32(e.b.Base) + uint32(offset))
	}
	return e.b.Base + uint64(offset)
}

// here sets the offset or pointer of what is written next.
func (e *encoder) here(offset *int, pointers ...*uint64) {
	if e.laying && offset != nil {
		*offset = e.Len()
	}
	for _, p := range pointers {
		if e.laying {
			*p = e.address(e.Len())
		}
	}
}

func (e *encoder) pointers(list ...uint64) {
	for _, p := range list {
		e.Word(p, e.l.PointerSize)
	}
}

func (e *encoder) u32s(list ...uint32) {
	for _, v := range list {
		e.U32(v)
	}
}

func (e *encoder) u16s(list ...uint16) {
	for _, v := range list {
		e.U16(v)
	}
}

// pad writes the padding to eight bytes.
func (e *encoder) pad(p [4]byte) {
	if e.l.PointerSize == 8 {
		e.Bytes(p[:])
	}
}

func (e *encoder) section(kind j9meta.SectionKind, gap []byte) {
	b := e.b
	switch kind {
	case j9meta.ExceptionTable:
		e.header(&b.Header)
	case j9meta.ExceptionInfo:
		for i := range b.Exceptions {
			e.exception(&b.Exceptions[i])
		}
	case j9meta.InlineInfo:
		for i := range b.Sites {
			s := &b.Sites[i]
			e.here(&s.Offset)
			e.pointers(s.Method)
			e.info(s.Info)
			e.pad(s.Pad)
			e.Bytes(s.Monitors)
		}
	case j9meta.StackAtlasSection:
		e.atlas(b.Atlas)
	case j9meta.StackAllocSection:
		e.firstMap(&b.StackAlloc.Offset, &b.StackAlloc.FirstMap)
		e.Bytes(b.StackAlloc.Bits)
	case j9meta.InternalPointerSection:
		m := b.InternalPointers
		e.firstMap(&m.Offset, &m.FirstMap)
		if e.laying && e.l.Machine == elf.EM_ARM && len(m.Pad) == 0 {
			m.Pad = make([]byte, 1)
		}
		e.setSize(&m.Size, &m.Extra, m.Arrays)
		e.U8(m.Size)
		e.Bytes(m.Pad)
		e.u16s(uint16(m.FirstIndex), uint16(m.FirstOffset))
		e.arrays(m.Size, m.Arrays, m.Extra)
	case j9meta.OSRSection:
		e.osr(b.OSR)
	case j9meta.GPUSection:
		e.gpu(b.GPU)
	case j9meta.BytecodeSection:
		m := b.Bytecodes
		e.here(&m.Offset)
		e.pointers(m.Eyecatcher, m.Size)
		for _, x := range m.Entries {
			e.pointers(x.BytecodePC, x.Instruction)
		}
	case j9meta.InvokeBasicSection:
		v := b.InvokeBasic
		e.here(&v.Offset)
		e.U32(uint32(len(v.Sites)))
		e.pad(v.Pad)
		for _, s := range v.Sites {
			e.U32(s.ReturnOffset)
			e.U8(s.ArgSlots)
			e.Bytes(s.Pad[:])
			e.pointers(s.J2IThunk)
		}
	default:
		e.Bytes(gap)
	}
}

func (e *encoder) header(h *j9meta.Header) {
	e.pointers(h.ClassName, h.MethodName, h.MethodSignature, h.ConstantPool, h.RAMMethod, h.StartPC, h.EndWarmPC, h.StartColdPC, h.EndPC, h.TotalFrameSize)
	e.u16s(uint16(h.Slots), uint16(h.ScalarTempSlots), uint16(h.ObjectTempSlots), h.ProloguePushes, uint16(h.TempOffset), h.NumExceptionRanges)
	e.U32(uint32(h.Size))
	e.pointers(uint64(h.Flags), h.RegisterSaveDescription, h.GCStackAtlas, h.InlinedCalls, h.BodyInfo, h.NextMethod, h.PrevMethod,
		h.DebugSlot1, h.DebugSlot2, h.OSRInfo, h.RuntimeAssumptionList)
	e.U32(uint32(h.Hotness))
	e.pad(h.HotnessPad)
	e.pointers(h.CodeCacheAlloc, h.GPUCode, h.RIData)
	tail := (e.l.HeaderSize - j9meta.HeaderSizes(e.l.PointerSize)[0]) / e.l.PointerSize
	e.pointers([]uint64{h.InvokeBasicCallInfo, h.ConstRefArrays}[:min(tail, 2)]...)
	e.Bytes(h.Extra)
}

func (e *encoder) exception(x *j9meta.Exception) {
	e.here(&x.Offset)
	if e.b.Header.WideExceptions() {
		e.u32s(x.Start, x.End, x.Handler, x.CatchType)
		e.pointers(x.Method)
	} else {
		e.u16s(uint16(x.Start), uint16(x.End), uint16(x.Handler), uint16(x.CatchType))
	}
	if e.b.Header.ExceptionBytecodes() {
		e.U32(x.ByteCodeIndex)
	}
}

func (e *encoder) atlas(a *j9meta.StackAtlas) {
	e.here(&a.Offset)
	e.pointers(a.StackAllocMap, a.InternalPointerMap)
	e.u16s(a.NumberOfMaps, a.NumberOfMapBytes, uint16(a.ParmBaseOffset), a.NumberOfParmSlots, uint16(a.LocalBaseOffset), a.SyncObjectTempOffset)
	e.pad(a.Pad)
	e.Bytes(a.Monitors)
	for i := range a.Maps {
		m := &a.Maps[i]
		e.here(&m.Offset)
		if e.b.Header.Flags&j9meta.GCMap32BitOffsets != 0 {
			e.U32(m.Low)
		} else if e.U16(uint16(m.Low)); e.l.Machine == elf.EM_ARM {
			e.Bytes(m.LowPad[:])
		}
		if e.info(m.Info); m.Shared {
			continue
		}
		if e.l.HighWords {
			e.U32(m.HighWord)
		}
		e.u32s(m.RegisterSave, m.RegisterMap)
		if p := m.Pointers; p != nil {
			e.setSize(&p.Size, &p.Extra, p.Arrays)
			e.U8(p.Size)
			e.arrays(p.Size, p.Arrays, p.Extra)
		}
		e.Bytes(m.Bits)
		e.Bytes(m.LiveMonitors)
	}
}

// firstMap writes the pointer to the first map, with which two sections begin.
func (e *encoder) firstMap(offset *int, first *uint64) {
	if e.here(offset); e.laying {
		*first = 0
		if maps := e.b.Atlas.Maps; len(maps) > 0 {
			*first = e.address(maps[0].Offset)
		}
	}
	e.pointers(*first)
}

// setSize sets the size of arrays with their number, which overflows.
func (e *encoder) setSize(size *uint8, extra *[]byte, arrays []j9meta.PinningArray) {
	if e.laying {
		*size, *extra = 1, nil
		for _, a := range arrays {
			*size += uint8(2 + len(a.Pointers))
		}
	}
}

func (e *encoder) arrays(size uint8, arrays []j9meta.PinningArray, extra []byte) {
	if size == 0 && len(arrays) == 0 {
		return
	}
	e.U8(uint8(len(arrays)))
	for _, a := range arrays {
		e.Bytes([]byte{a.Index, uint8(len(a.Pointers))})
		e.Bytes(a.Pointers)
	}
	e.Bytes(extra)
}

// info writes struct TR_ByteCodeInfo, see [j9meta.ByteCodeInfo].
func (e *encoder) info(i j9meta.ByteCodeInfo) {
	caller, index := uint32(i.CallerIndex)&0x1fff, uint32(i.ByteCodeIndex)&0x1ffff
	v, bits := caller<<2|index<<15, [2]uint32{1, 2}
	if e.l.Order == binary.ByteOrder(binary.BigEndian) {
		v, bits = caller<<17|index, [2]uint32{1 << 31, 1 << 30}
	}
	if i.DoNotProfile {
		v |= bits[0]
	}
	if i.SameReceiver {
		v |= bits[1]
	}
	e.U32(v)
}

func (e *encoder) osr(o *j9meta.OSRInfo) {
	e.here(&o.Offset)
	size := uint32(4)
	if !o.SizeOnly {
		size = 12
		for _, m := range o.Mappings {
			size += uint32(8 + 16*len(m.Slots))
		}
	}
	if e.U32(size); !o.SizeOnly {
		e.u32s(o.MaxScratchSize, uint32(len(o.Mappings)))
		for _, m := range o.Mappings {
			e.u32s(m.PC, uint32(len(m.Slots)))
			for _, s := range m.Slots {
				e.u32s(uint32(s.Site), s.BufferOffset, s.ScratchOffset, s.Size)
			}
		}
	}
	e.u32s(uint32(8+4*len(o.CatchBlocks)), uint32(len(o.CatchBlocks)))
	e.u32s(o.CatchBlocks...)
}

func (e *encoder) gpu(g *j9meta.GPUInfo) {
	e.here(&g.Offset)
	e.pointers(g.MethodSignature)
	e.u32s(uint32(len(g.Kernels)), g.MaxCachedDevices)
	e.pointers(g.LineNumberArray, g.PTXArray, g.CUModuleArray)
	e.here(nil, &g.MethodSignature)
	e.Bytes(g.Signature)
	e.U8(0)
	e.here(nil, &g.LineNumberArray)
	for _, k := range g.Kernels {
		e.U32(k.Line)
	}
	e.here(nil, &g.PTXArray)
	for _, k := range g.Kernels {
		e.pointers(k.PTX)
	}
	for i := range g.Kernels {
		e.here(nil, &g.Kernels[i].PTX)
		e.Bytes(g.Kernels[i].Text)
		e.U8(0)
	}
	e.here(nil, &g.CUModuleArray)
	e.Bytes(g.CUModules)
}

// Description returns the text of X.json that describes a capture. Of CodePath and
// ColdCodePath only the last components count.
func Description(c *j9meta.Capture) []byte {
	hex := func(v uint64) string { return fmt.Sprintf("%#x", v) }
	d := map[string]any{"base": hex(c.Base), "startPC": hex(c.StartPC), "epoch": c.Layout.HeaderSize, "pointer_size": c.Layout.PointerSize,
		"machine": c.Layout.MachineName(), "pid": c.PID}
	if c.Layout.Order != nil {
		d["byte_order"] = map[bool]string{false: "little", true: "big"}[c.Layout.Order == binary.ByteOrder(binary.BigEndian)]
	}
	if c.HasTime {
		d["time"] = c.Time
	}
	for key, path := range map[string]string{"code": c.CodePath, "cold_code": c.ColdCodePath} {
		if path != "" {
			d[key] = filepath.Base(path)
		}
	}
	var methods []map[string]any
	for _, m := range c.Methods {
		lines := [][2]uint32{}
		for _, l := range m.Lines {
			lines = append(lines, [2]uint32{l.ByteCodeIndex, l.Line})
		}
		methods = append(methods, map[string]any{"method": hex(m.Method), "class": m.Class, "name": m.Name, "signature": m.Signature, "file": m.File,
			"user": m.User, "lines": lines})
	}
	d["methods"] = methods
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		panic(err) // of text and numbers
	}
	return text
}
