package j9meta

import (
	"fmt"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/wire"
)

// Lay gives every part of b its place in the blob, in the order that OpenJ9's
// compiler writes them: it sets all offsets, the pointers from Base on, Size, the
// counts, the sizes of pointer maps, the bit that says that live monitors follow a
// map, and the flags that say how wide entries are. Offsets are wide where the code
// has 65,535 bytes or more, as for the compiler, where one does not fit otherwise,
// and where the flags say so already.
//
// A header that the layout has no size for becomes the smallest known one that
// holds what there is. Of a stub only the header has a place, and no field of it is
// changed. What a decoded Body had in gaps, and behind the arrays of pointer maps,
// is left out. Errors are of type *wire.Error and tell of values that have no
// place in the format.
func (b *Body) Lay() error {
	if err := b.Layout.check(); err != nil {
		return err
	}
	if b.Layout.HeaderSize == 0 {
		b.Layout.HeaderSize = b.smallestHeader()
	}
	if b.Header.Flags&IsStub != 0 {
		b.Sections = []Section{{Kind: ExceptionTable, Size: b.Layout.HeaderSize}}
		return b.fits()
	}
	b.layCounts()
	y := &layer{body: b}
	y.section(ExceptionTable, b.Layout.HeaderSize)
	y.exceptions()
	y.sites()
	y.atlas()
	y.later()
	b.Sections = y.sections
	if y.err == nil && y.at > math.MaxInt32 {
		y.fail(ExceptionTable, "size", "%d bytes do not fit into 31 bits", y.at)
	}
	b.Header.Size = int32(y.at)
	if y.err != nil {
		return y.err
	}
	return b.fits()
}

func (b *Body) smallestHeader() int {
	sizes := HeaderSizes(b.Layout.PointerSize)
	switch {
	case b.Header.ConstRefArrays != 0:
		return sizes[2]
	case b.InvokeBasic != nil:
		return sizes[1]
	}
	return sizes[0]
}

// layCounts sets what says how many there are of something, and how wide.
func (b *Body) layCounts() {
	h := &b.Header
	if b.Atlas != nil {
		a := b.Atlas
		a.NumberOfMaps = uint16(len(a.Maps))
		a.NumberOfMapBytes = uint16(len(a.Monitors))
		if h.EndPC-h.StartPC >= math.MaxUint16 {
			h.Flags |= GCMap32BitOffsets
		}
		for i := range a.Maps {
			m := &a.Maps[i]
			m.Shared = m.Info.DoNotProfile
			if m.Low > math.MaxUint16 {
				h.Flags |= GCMap32BitOffsets
			}
			if n := len(m.Bits); n > 0 && (m.Bits[n-1]&liveMonitors != 0) != (m.LiveMonitors != nil) {
				m.Bits = slices.Clone(m.Bits) // which may be a part of the blob
				m.Bits[n-1] ^= liveMonitors
			}
			if p := m.Pointers; p != nil {
				p.Size, p.Extra = uint8(pinningSize(p.Arrays)), nil
			}
		}
	}
	if p := b.InternalPointers; p != nil {
		p.Size, p.Extra = uint8(pinningSize(p.Arrays)), nil
	}
	flags := h.NumExceptionRanges &^ 0x3fff
	if h.Flags&IsFSDComp != 0 {
		flags |= exceptionBytecodes
	}
	if h.EndPC-h.StartPC >= math.MaxUint16 {
		flags |= wideExceptions
	}
	for i := range b.Exceptions {
		e := &b.Exceptions[i]
		if max(e.Start, e.End, e.Handler, e.CatchType) > math.MaxUint16 || e.Method != 0 {
			flags |= wideExceptions
		}
		if e.ByteCodeIndex != 0 {
			flags |= exceptionBytecodes
		}
	}
	if len(b.Exceptions) == 0 {
		flags = 0
	}
	h.NumExceptionRanges = flags | uint16(min(len(b.Exceptions), 0x3fff))
	if m := b.Bytecodes; m != nil && (m.Eyecatcher == 0 || len(m.Entries) > 0) {
		m.Eyecatcher, m.Size = BytecodeEyecatcher, uint64(len(m.Entries))
	}
}

// A layer lays sections one behind the other.
type layer struct {
	body     *Body
	at       int // where the next one begins
	sections []Section
	err      error
}

func (y *layer) fail(kind SectionKind, field, format string, args ...any) {
	if y.err == nil {
		y.err = &wire.Error{Format: FormatName, Record: kind.String(), Field: field, Offset: int64(y.at), Text: fmt.Sprintf(format, args...)}
	}
}

// section lays one and returns the pointer to it.
func (y *layer) section(kind SectionKind, size int) (pointer uint64) {
	pointer = y.body.Layout.address(y.body.Base, y.at)
	y.sections = append(y.sections, Section{Kind: kind, Offset: y.at, Size: size})
	y.at += size
	return pointer
}

func (y *layer) exceptions() {
	b := y.body
	if len(b.Exceptions) == 0 {
		return
	}
	if len(b.Exceptions) > 0x3fff {
		y.fail(ExceptionTable, "numExcptionRanges", "%d exception ranges, the field has room for %d", len(b.Exceptions), 0x3fff)
		return
	}
	size := b.Layout.exceptionSize(&b.Header)
	for i := range b.Exceptions {
		b.Exceptions[i].Offset = y.at + i*size
	}
	y.section(ExceptionInfo, len(b.Exceptions)*size)
}

func (y *layer) sites() {
	b := y.body
	b.Header.InlinedCalls = 0
	if len(b.Sites) == 0 {
		return
	}
	if b.Atlas == nil {
		y.fail(InlineInfo, "", "inlined sites without a stack atlas, which ends them")
		return
	}
	size := b.Layout.siteSize() + int(b.Atlas.NumberOfMapBytes)
	for i := range b.Sites {
		b.Sites[i].Offset = y.at + i*size
	}
	b.Header.InlinedCalls = y.section(InlineInfo, len(b.Sites)*size)
}

// atlas lays the stack atlas, its maps, and the two sections that it points to.
func (y *layer) atlas() {
	b, l, a := y.body, y.body.Layout, y.body.Atlas
	b.Header.GCStackAtlas = 0
	if a == nil {
		if b.StackAlloc != nil || b.InternalPointers != nil {
			y.fail(StackAtlasSection, "", "a stack alloc map or internal pointer map, but no stack atlas, which points to it")
		}
		return
	}
	if len(a.Maps) > math.MaxUint16 {
		y.fail(StackAtlasSection, "numberOfMaps", "%d maps, the field has room for %d", len(a.Maps), math.MaxUint16)
	}
	a.Offset = y.at
	size := l.atlasSize() + len(a.Monitors)
	for i := range a.Maps {
		a.Maps[i].Offset = y.at + size
		size += l.mapSize(b.Header.Flags, &a.Maps[i])
	}
	b.Header.GCStackAtlas = y.section(StackAtlasSection, size)
	firstMap := uint64(0)
	if len(a.Maps) > 0 {
		firstMap = l.address(b.Base, a.Maps[0].Offset)
	}
	a.StackAllocMap, a.InternalPointerMap = 0, 0
	if m := b.StackAlloc; m != nil {
		m.Offset, m.FirstMap = y.at, firstMap
		a.StackAllocMap = y.section(StackAllocSection, m.size(l))
	}
	if m := b.InternalPointers; m != nil {
		m.Offset, m.FirstMap = y.at, firstMap
		if l.alignedMaps() && len(m.Pad) == 0 {
			m.Pad = make([]byte, 1)
		}
		a.InternalPointerMap = y.section(InternalPointerSection, m.size(l))
	}
}

// later lays the sections behind those of the atlas.
func (y *layer) later() {
	b, l, h := y.body, y.body.Layout, &y.body.Header
	h.OSRInfo, h.GPUCode, h.RIData, h.InvokeBasicCallInfo = 0, 0, 0, 0
	if o := b.OSR; o != nil {
		o.Offset = y.at
		h.OSRInfo = y.section(OSRSection, o.size())
	}
	if g := b.GPU; g != nil {
		g.lay(l, b.Base, y.at)
		h.GPUCode = y.section(GPUSection, g.size(l))
	}
	if m := b.Bytecodes; m != nil {
		m.Offset = y.at
		h.RIData = y.section(BytecodeSection, m.size(l))
	}
	if v := b.InvokeBasic; v != nil {
		if l.HeaderSize == l.minHeaderSize() {
			y.fail(InvokeBasicSection, "", "a header of %d bytes has no pointer to this section", l.HeaderSize)
		}
		if gap := -y.at & (l.PointerSize - 1); gap > 0 {
			y.section(Gap, gap)
			y.sections[len(y.sections)-1].Bytes = make([]byte, gap)
		}
		v.Offset = y.at
		h.InvokeBasicCallInfo = y.section(InvokeBasicSection, v.size(l))
	}
}

// pinningSize is the number of bytes of arrays with their number in front.
func pinningSize(arrays []PinningArray) int {
	n := 1
	for _, a := range arrays {
		n += 2 + len(a.Pointers)
	}
	return n
}

// mapSize is the number of bytes of a stack map.
func (l Layout) mapSize(f Flags, m *StackMap) int {
	n := l.lowSize(f) + 4
	if m.Shared {
		return n
	}
	n += 8 + len(m.Bits) + len(m.LiveMonitors)
	if l.HighWords {
		n += 4
	}
	if m.Pointers != nil {
		n += 1 + int(m.Pointers.Size)
	}
	return n
}

func (m *StackAllocMap) size(l Layout) int { return l.PointerSize + len(m.Bits) }

func (m *InternalPointerMap) size(l Layout) int {
	n := int(m.Size)
	if n > 0 || len(m.Arrays) > 0 { // not what m.Size says: that is modulo 256
		n = pinningSize(m.Arrays) + len(m.Extra)
	}
	return l.PointerSize + 1 + len(m.Pad) + 4 + n
}
