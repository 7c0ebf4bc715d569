package j9meta

import (
	"fmt"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// fits says which value has no place in its field, so that it would read back as
// another, or make the reader lose its way. Places are those of the last Lay, or
// of Decode.
func (b *Body) fits() error {
	for _, check := range []func() error{b.headerFits, b.exceptionsFit, b.atlasFits, b.sitesFit, b.laterFit} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func unfit(kind SectionKind, field string, offset int, format string, args ...any) error {
	return &wire.Error{Format: FormatName, Record: kind.String(), Field: field, Offset: int64(offset), Text: fmt.Sprintf(format, args...)}
}

func (b *Body) headerFits() error {
	h, l := &b.Header, b.Layout
	if stub := h.Flags&IsStub != 0; stub && (len(b.Exceptions) > 0 || len(b.Sites) > 0 || b.Atlas != nil || b.OSR != nil || b.GPU != nil || b.Bytecodes != nil || b.InvokeBasic != nil) {
		return unfit(ExceptionTable, "flags", 10*l.PointerSize+16, "%s, but there is more than a header", h.Flags)
	} else if !stub && h.ExceptionCount() != len(b.Exceptions) {
		return unfit(ExceptionTable, "numExcptionRanges", l.exceptionCountOffset(), "%d, there are %d exception ranges", h.ExceptionCount(), len(b.Exceptions))
	}
	tail := l.HeaderSize - l.minHeaderSize()
	if h.InvokeBasicCallInfo != 0 && tail < l.PointerSize {
		return unfit(ExceptionTable, "invokeBasicCallInfo", l.HeaderSize, "%#x, a header of %d bytes does not have the field", h.InvokeBasicCallInfo, l.HeaderSize)
	}
	if h.ConstRefArrays != 0 && tail < 2*l.PointerSize {
		return unfit(ExceptionTable, "constRefArrays", l.HeaderSize, "%#x, a header of %d bytes does not have the field", h.ConstRefArrays, l.HeaderSize)
	}
	if extra := max(0, tail-2*l.PointerSize); len(h.Extra) != extra {
		return unfit(ExceptionTable, "", l.HeaderSize-extra, "%d bytes behind the known fields, a header of %d bytes has %d", len(h.Extra), l.HeaderSize, extra)
	}
	if !l.pointerFits(b.Base) {
		return unfit(ExceptionTable, "", 0, "address %#x has more than %d bytes", b.Base, l.PointerSize)
	}
	for i, w := range h.words() {
		if !l.pointerFits(w.value) {
			offset := i * l.PointerSize
			if i >= 10 { // behind the small fields
				offset += 16
			}
			return unfit(ExceptionTable, w.field, offset, "%#x has more than %d bytes", w.value, l.PointerSize)
		}
	}
	return nil
}

// A headerWord is a field of the header that takes as many bytes as a pointer.
type headerWord struct {
	field string
	value uint64
}

// words returns all of them in order, and hotness, which takes as many with its padding.
func (h *Header) words() [27]headerWord {
	return [...]headerWord{
		{"className", h.ClassName}, {"methodName", h.MethodName}, {"methodSignature", h.MethodSignature}, {"constantPool", h.ConstantPool},
		{"ramMethod", h.RAMMethod}, {"startPC", h.StartPC}, {"endWarmPC", h.EndWarmPC}, {"startColdPC", h.StartColdPC}, {"endPC", h.EndPC},
		{"totalFrameSize", h.TotalFrameSize}, {"flags", uint64(h.Flags)}, {"registerSaveDescription", h.RegisterSaveDescription},
		{"gcStackAtlas", h.GCStackAtlas}, {"inlinedCalls", h.InlinedCalls}, {"bodyInfo", h.BodyInfo}, {"nextMethod", h.NextMethod},
		{"prevMethod", h.PrevMethod}, {"debugSlot1", h.DebugSlot1}, {"debugSlot2", h.DebugSlot2}, {"osrInfo", h.OSRInfo},
		{"runtimeAssumptionList", h.RuntimeAssumptionList}, {"hotness", 0}, {"codeCacheAlloc", h.CodeCacheAlloc}, {"gpuCode", h.GPUCode},
		{"riData", h.RIData}, {"invokeBasicCallInfo", h.InvokeBasicCallInfo}, {"constRefArrays", h.ConstRefArrays},
	}
}

func (l Layout) pointerFits(p uint64) bool { return p <= l.allOnes() }

func (b *Body) exceptionsFit() error {
	h := &b.Header
	for i := range b.Exceptions {
		e := &b.Exceptions[i]
		switch {
		case !h.WideExceptions() && (max(e.Start, e.End, e.Handler, e.CatchType) > math.MaxUint16 || e.Method != 0):
			return unfit(ExceptionInfo, "", e.Offset, "entry %d needs wide fields: the flag for them is not set", i)
		case !h.ExceptionBytecodes() && e.ByteCodeIndex != 0:
			return unfit(ExceptionInfo, "BC index", e.Offset, "entry %d has a bytecode index: the flag for it is not set", i)
		case !b.Layout.pointerFits(e.Method):
			return unfit(ExceptionInfo, "J9Method", e.Offset, "%#x has more than %d bytes", e.Method, b.Layout.PointerSize)
		}
	}
	return nil
}

func (b *Body) sitesFit() error {
	for i := range b.Sites {
		s := &b.Sites[i]
		switch {
		case !s.Info.fits():
			return unfit(InlineInfo, "byteCodeInfo", s.Offset, "site %d: %+v does not fit into 32 bits", i, s.Info)
		case !b.Layout.pointerFits(s.Method):
			return unfit(InlineInfo, "methodInfo", s.Offset, "%#x has more than %d bytes", s.Method, b.Layout.PointerSize)
		case len(s.Monitors) != int(b.Atlas.NumberOfMapBytes):
			return unfit(InlineInfo, "monitor autos map", s.Offset, "site %d has %d bytes, other maps have %d", i, len(s.Monitors), b.Atlas.NumberOfMapBytes)
		}
	}
	return nil
}

func (i ByteCodeInfo) fits() bool {
	return i.CallerIndex >= -MaxCallerIndex-1 && i.CallerIndex <= MaxCallerIndex &&
		i.ByteCodeIndex >= -MaxByteCodeIndex-1 && i.ByteCodeIndex <= MaxByteCodeIndex
}

func (b *Body) atlasFits() error {
	a := b.Atlas
	if a == nil {
		return nil
	}
	n := len(a.Monitors)
	switch {
	case n == 0 || n > math.MaxUint16 || n != int(a.NumberOfMapBytes):
		return unfit(StackAtlasSection, "monitor autos map", a.Offset, "%d bytes, numberOfMapBytes says %d", n, a.NumberOfMapBytes)
	case len(a.Maps) != int(a.NumberOfMaps):
		return unfit(StackAtlasSection, "numberOfMaps", a.Offset, "%d, there are %d maps", a.NumberOfMaps, len(a.Maps))
	case b.StackAlloc != nil && len(b.StackAlloc.Bits) != n:
		return unfit(StackAllocSection, "", b.StackAlloc.Offset, "%d bytes, other maps have %d", len(b.StackAlloc.Bits), n)
	}
	for i := range a.Maps {
		if err := b.mapFits(&a.Maps[i]); err != nil {
			return err
		}
	}
	if p := b.InternalPointers; p != nil {
		if b.Layout.alignedMaps() != (len(p.Pad) == 1) || len(p.Pad) > 1 {
			return unfit(InternalPointerSection, "alignment", p.Offset, "%d bytes", len(p.Pad))
		}
		if n := pinningSize(p.Arrays); n > math.MaxUint8 && uint8(n) == p.Size && len(p.Extra) == 0 {
			return countsFit(p)
		}
		return arraysFit(InternalPointerSection, p.Offset, p.Size, p.Arrays, p.Extra)
	}
	return nil
}

func (b *Body) mapFits(m *StackMap) error {
	bad := func(field, format string, args ...any) error {
		return unfit(StackAtlasSection, field, m.Offset, format, args...)
	}
	switch {
	case m.Low > math.MaxUint16 && b.Header.Flags&GCMap32BitOffsets == 0:
		return bad("lowest code offset", "%#x needs four bytes: the flag for them is not set", m.Low)
	case !m.Info.fits():
		return bad("TR_ByteCodeInfo", "%+v does not fit into 32 bits", m.Info)
	case m.Shared != m.Info.DoNotProfile:
		return bad("TR_ByteCodeInfo", "doNotProfile is %t, but it says whether there is no more to the map", m.Info.DoNotProfile)
	case m.Shared:
		return nil
	}
	n := int(b.Atlas.NumberOfMapBytes)
	if len(m.Bits) != n || m.LiveMonitors != nil && len(m.LiveMonitors) != n {
		return bad("map bits", "%d bytes and %d of live monitors, other maps have %d", len(m.Bits), len(m.LiveMonitors), n)
	}
	if flagged := m.Bits[n-1]&liveMonitors != 0; flagged != (m.LiveMonitors != nil) {
		return bad("map bits", "the highest bit of the last byte says that live monitors follow: %t; there are some: %t", flagged, m.LiveMonitors != nil)
	}
	flagged := m.RegisterMap&b.Layout.internalPointerBit() != 0 && b.InternalPointers != nil
	if flagged != (m.Pointers != nil) {
		return bad("register map", "%#x and the internal pointer map say that register pointers follow: %t; there are some: %t", m.RegisterMap, flagged, m.Pointers != nil)
	}
	if p := m.Pointers; p != nil {
		return arraysFit(StackAtlasSection, m.Offset, p.Size, p.Arrays, p.Extra)
	}
	return nil
}

// countsFit checks a map of more than 255 bytes, see InternalPointerMap.
func countsFit(p *InternalPointerMap) error {
	most := len(p.Arrays)
	for _, a := range p.Arrays {
		most = max(most, len(a.Pointers))
	}
	if most > math.MaxUint8 {
		return unfit(InternalPointerSection, "number of distinct pinning arrays", p.Offset, "%d arrays or pointers into one, the field has room for %d", most, math.MaxUint8)
	}
	return nil
}

func arraysFit(kind SectionKind, offset int, size uint8, arrays []PinningArray, extra []byte) error {
	n := pinningSize(arrays) + len(extra)
	if n == 1 && size == 0 {
		return nil
	}
	if n != int(size) {
		return unfit(kind, "map size", offset, "%d bytes, the arrays have %d and the size is one byte", size, n)
	}
	return nil
}

func (b *Body) laterFit() error {
	if g := b.GPU; g != nil {
		if g.hasNUL() {
			return unfit(GPUSection, "", g.Offset, "a NUL within a string")
		}
	}
	if m := b.Bytecodes; m != nil && m.Eyecatcher == BytecodeEyecatcher && m.Size != uint64(len(m.Entries)) {
		return unfit(BytecodeSection, "map size", m.Offset, "%d, there are %d", m.Size, len(m.Entries))
	}
	return nil
}
