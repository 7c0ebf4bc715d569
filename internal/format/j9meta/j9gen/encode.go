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

// Lay gives each part of b its place, in the order of OpenJ9's compiler. It sets offsets, the pointers
// to what is decoded and, if there is an internal pointer map, to the bytes after it, counts, sizes and the flags of wide maps. What is not decoded keeps its bytes:
// the exceptions, of which the header has the number, and all others, in the end. A body without a
// size of header gets the smallest known one with a place for its fields. A stub is a header only.
func Lay(b *j9meta.Body) {
	var exceptions, other []byte
	for _, s := range b.Sections {
		switch s.Kind {
		case j9meta.ExceptionInfo:
			exceptions = s.Bytes
		case j9meta.Other:
			other = append(other[:len(other):len(other)], s.Bytes...)
		}
	}
	h, l := &b.Header, &b.Layout
	if sizes := j9meta.HeaderSizes(l.PointerSize); l.HeaderSize == 0 {
		l.HeaderSize = sizes[0]
		if h.InvokeBasicCallInfo != 0 {
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
	if n := l.ExceptionsSize(h); n != len(exceptions) {
		exceptions = append(slices.Clone(exceptions[:min(n, len(exceptions))]), make([]byte, max(n-len(exceptions), 0))...)
	}
	e := &encoder{Buffer: wire.NewBuffer(l.Order), b: b, l: *l, laying: true}
	section := func(kind j9meta.SectionKind, is bool, pointer *uint64, raw []byte) {
		if *pointer = 0; is {
			*pointer = e.address(e.Len())
			start := e.Len()
			e.section(kind, raw)
			b.Sections = append(b.Sections, j9meta.Section{Kind: kind, Offset: start, Size: e.Len() - start, Bytes: raw})
		}
	}
	none := uint64(0)
	section(j9meta.ExceptionTable, true, &none, nil)
	section(j9meta.ExceptionInfo, len(exceptions) > 0, &none, exceptions)
	section(j9meta.InlineInfo, len(b.Sites) > 0, &h.InlinedCalls, nil)
	section(j9meta.StackAtlasSection, b.Atlas != nil, &h.GCStackAtlas, nil)
	rest := &none
	if b.Atlas != nil && b.Atlas.InternalPointerMap != 0 && len(other) > 0 {
		rest = &b.Atlas.InternalPointerMap
	}
	section(j9meta.Other, len(other) > 0, rest, other)
	h.Size = int32(e.Len())
}

// setCounts sets the fields that say how many entries there are, and how wide.
func setCounts(b *j9meta.Body) {
	a := b.Atlas
	if a == nil {
		return
	}
	a.NumberOfMaps, a.NumberOfMapBytes = uint16(len(a.Maps)), uint16(len(a.Monitors))
	for i := range a.Maps {
		m := &a.Maps[i]
		if m.Shared = m.Info.DoNotProfile; b.Header.EndPC-b.Header.StartPC >= math.MaxUint16 || m.Low > math.MaxUint16 {
			b.Header.Flags |= j9meta.GCMap32BitOffsets
		}
		if n := len(m.Bits); n > 0 && (m.Bits[n-1]&0x80 != 0) != (m.LiveMonitors != nil) {
			m.Bits = slices.Clone(m.Bits) // which may be a part of the blob
			m.Bits[n-1] ^= 0x80
		}
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
