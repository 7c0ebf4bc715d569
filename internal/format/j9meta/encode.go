package j9meta

import (
	"slices"

	"github.com/jitinject/jitinject/internal/wire"
)

// Encode writes b as a blob, section by section as they are in b.Sections, with
// the pointers and counts that its fields have. Of a Body that Decode made that is
// the blob it was made of; one that was made or changed by hand needs Lay first.
// It does not change b. Errors are of type *wire.Error: of fields that contradict
// each other, or of a section that is not where Sections have it.
func (b *Body) Encode() ([]byte, error) {
	if err := b.Layout.check(); err != nil {
		return nil, err
	}
	if err := b.fits(); err != nil {
		return nil, err
	}
	if err := b.allThere(); err != nil {
		return nil, err
	}
	e := &encoder{Buffer: wire.NewBuffer(b.Layout.Order), body: b, l: b.Layout}
	for _, s := range b.Sections {
		if e.Len() != s.Offset {
			return nil, unfit(s.Kind, "", e.Len(), "the section is to be at offset %#x: call Lay", s.Offset)
		}
		e.section(s)
		if n := e.Len() - s.Offset; n != s.Size {
			return nil, unfit(s.Kind, "", s.Offset, "the section has %d bytes and is to have %d: call Lay", n, s.Size)
		}
	}
	return e.Data, nil
}

// allThere says which section there is that Sections do not have, or the other
// way round.
func (b *Body) allThere() error {
	is := map[SectionKind]bool{
		ExceptionTable: true, ExceptionInfo: len(b.Exceptions) > 0, InlineInfo: len(b.Sites) > 0, StackAtlasSection: b.Atlas != nil,
		StackAllocSection: b.StackAlloc != nil, InternalPointerSection: b.InternalPointers != nil, OSRSection: b.OSR != nil,
		GPUSection: b.GPU != nil, BytecodeSection: b.Bytecodes != nil, InvokeBasicSection: b.InvokeBasic != nil,
	}
	for kind := ExceptionTable; kind < Gap; kind++ {
		i := slices.IndexFunc(b.Sections, func(s Section) bool { return s.Kind == kind })
		// There may be an empty place for sites: a pointer to them, and none.
		if has := i >= 0; has != is[kind] && !(has && b.Sections[i].Size == 0) {
			return unfit(kind, "", 0, "the body has such a section: %t; its list of sections has it: %t: call Lay", is[kind], has)
		}
	}
	return nil
}

// An encoder is a buffer that knows what it is for.
type encoder struct {
	*wire.Buffer
	body *Body
	l    Layout
}

func (e *encoder) pointer(p uint64) { e.Word(p, e.l.PointerSize) }

// pad writes what is there to align to eight bytes.
func (e *encoder) pad(p [4]byte) {
	if e.l.PointerSize == 8 {
		e.Bytes(p[:])
	}
}

func (e *encoder) info(i ByteCodeInfo) { e.U32(i.bits(e.l.Order)) }

func (e *encoder) section(s Section) {
	b := e.body
	switch s.Kind {
	case ExceptionTable:
		e.header(&b.Header)
	case ExceptionInfo:
		e.exceptions()
	case InlineInfo:
		for i := range b.Sites {
			site := &b.Sites[i]
			e.pointer(site.Method)
			e.info(site.Info)
			e.pad(site.Pad)
			e.Bytes(site.Monitors)
		}
	case StackAtlasSection:
		e.atlas(b.Atlas)
	case StackAllocSection:
		e.pointer(b.StackAlloc.FirstMap)
		e.Bytes(b.StackAlloc.Bits)
	case InternalPointerSection:
		e.internalPointers(b.InternalPointers)
	case OSRSection:
		b.OSR.encode(e.Buffer)
	case GPUSection:
		b.GPU.encode(e.Buffer, e.l)
	case BytecodeSection:
		b.Bytecodes.encode(e.Buffer, e.l)
	case InvokeBasicSection:
		b.InvokeBasic.encode(e.Buffer, e.l)
	default:
		e.Bytes(s.Bytes)
	}
}

func (e *encoder) header(h *Header) {
	for _, p := range []uint64{h.ClassName, h.MethodName, h.MethodSignature, h.ConstantPool, h.RAMMethod,
		h.StartPC, h.EndWarmPC, h.StartColdPC, h.EndPC, h.TotalFrameSize} {
		e.pointer(p)
	}
	for _, v := range []uint16{uint16(h.Slots), uint16(h.ScalarTempSlots), uint16(h.ObjectTempSlots), h.ProloguePushes, uint16(h.TempOffset), h.NumExceptionRanges} {
		e.U16(v)
	}
	e.U32(uint32(h.Size))
	for _, p := range []uint64{uint64(h.Flags), h.RegisterSaveDescription, h.GCStackAtlas, h.InlinedCalls, h.BodyInfo, h.NextMethod, h.PrevMethod,
		h.DebugSlot1, h.DebugSlot2, h.OSRInfo, h.RuntimeAssumptionList} {
		e.pointer(p)
	}
	e.U32(uint32(h.Hotness))
	e.pad(h.HotnessPad)
	e.pointer(h.CodeCacheAlloc)
	e.pointer(h.GPUCode)
	e.pointer(h.RIData)
	tail := e.l.HeaderSize - e.l.minHeaderSize()
	if tail > 0 {
		e.pointer(h.InvokeBasicCallInfo)
	}
	if tail > e.l.PointerSize {
		e.pointer(h.ConstRefArrays)
	}
	e.Bytes(h.Extra)
}

func (e *encoder) exceptions() {
	h := &e.body.Header
	for i := range e.body.Exceptions {
		x := &e.body.Exceptions[i]
		fields := []uint32{x.Start, x.End, x.Handler, x.CatchType}
		if h.WideExceptions() {
			for _, v := range fields {
				e.U32(v)
			}
			e.pointer(x.Method)
		} else {
			for _, v := range fields {
				e.U16(uint16(v))
			}
		}
		if h.ExceptionBytecodes() {
			e.U32(x.ByteCodeIndex)
		}
	}
}

func (e *encoder) atlas(a *StackAtlas) {
	e.pointer(a.StackAllocMap)
	e.pointer(a.InternalPointerMap)
	for _, v := range []uint16{a.NumberOfMaps, a.NumberOfMapBytes, uint16(a.ParmBaseOffset), a.NumberOfParmSlots, uint16(a.LocalBaseOffset), a.SyncObjectTempOffset} {
		e.U16(v)
	}
	e.pad(a.Pad)
	e.Bytes(a.Monitors)
	for i := range a.Maps {
		e.stackMap(&a.Maps[i])
	}
}

func (e *encoder) stackMap(m *StackMap) {
	if e.body.Header.Flags&GCMap32BitOffsets != 0 {
		e.U32(m.Low)
	} else {
		e.U16(uint16(m.Low))
		if e.l.alignedMaps() {
			e.Bytes(m.LowPad[:])
		}
	}
	e.info(m.Info)
	if m.Shared {
		return
	}
	if e.l.HighWords {
		e.U32(m.HighWord)
	}
	e.U32(m.RegisterSave)
	e.U32(m.RegisterMap)
	if p := m.Pointers; p != nil {
		e.U8(p.Size)
		e.arrays(p.Size, p.Arrays, p.Extra)
	}
	e.Bytes(m.Bits)
	e.Bytes(m.LiveMonitors)
}

func (e *encoder) internalPointers(m *InternalPointerMap) {
	e.pointer(m.FirstMap)
	e.U8(m.Size)
	e.Bytes(m.Pad)
	e.U16(uint16(m.FirstIndex))
	e.U16(uint16(m.FirstOffset))
	e.arrays(m.Size, m.Arrays, m.Extra)
}

func (e *encoder) arrays(size uint8, arrays []PinningArray, extra []byte) {
	if size == 0 && len(arrays) == 0 {
		return
	}
	e.U8(uint8(len(arrays)))
	for _, a := range arrays {
		e.U8(a.Index)
		e.U8(uint8(len(a.Pointers)))
		e.Bytes(a.Pointers)
	}
	e.Bytes(extra)
}
