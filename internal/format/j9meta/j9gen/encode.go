package j9gen

import (
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
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
// pointers into the blob, counts, sizes and the flags of wide entries. It drops gaps. Of sections that
// are not decoded, b.Sections has the bytes. A body without a size of header gets the
// smallest known header with a place for its fields. A stub is a header only.
func Lay(b *j9meta.Body) {
	raw := make(map[j9meta.SectionKind][]byte)
	for _, s := range b.Sections {
		if !s.Kind.Decoded() && s.Kind != j9meta.Gap {
			raw[s.Kind] = s.Bytes
		}
	}
	h, l := &b.Header, &b.Layout
	if sizes := j9meta.HeaderSizes(l.PointerSize); l.HeaderSize == 0 {
		l.HeaderSize = sizes[0]
		if len(raw[j9meta.InvokeBasicSection]) > 0 {
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
			e.section(kind, raw[kind])
			b.Sections = append(b.Sections, j9meta.Section{Kind: kind, Offset: start, Size: e.Len() - start, Bytes: raw[kind]})
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
	for i, pointer := range []*uint64{&a.StackAllocMap, &a.InternalPointerMap, &h.OSRInfo, &h.GPUCode, &h.RIData, &h.InvokeBasicCallInfo} {
		kind := j9meta.StackAllocSection + j9meta.SectionKind(i)
		section(kind, len(raw[kind]) > 0, pointer)
	}
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

func (e *encoder) section(kind j9meta.SectionKind, raw []byte) {
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
	default:
		e.Bytes(raw)
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
		e.u32s(m.RegisterSave, m.RegisterMap)
		if m.Pointers != nil {
			e.U8(uint8(len(m.Pointers)))
			e.Bytes(m.Pointers)
		}
		e.Bytes(m.Bits)
		e.Bytes(m.LiveMonitors)
	}
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

// Description returns the text of X.json that describes a capture.
func Description(d *j9meta.Description) []byte {
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		panic(err) // of text and numbers
	}
	return text
}
