package j9meta

import (
	"cmp"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/wire"
)

// FormatName is the format's name in errors.
const FormatName = "OpenJ9 metadata"

// A Body is the metadata of one compiled method.
type Body struct {
	Layout Layout // with HeaderSize as it was found
	Base   uint64 // address of the blob in its process; pointers into it count from there
	Header Header

	Sites []InlinedSite // (2) of the document
	Atlas *StackAtlas   // (3), nil: a stub

	// Sections tile the blob in its order, beginning with the header. Those that are for the VM alone
	// have their bytes here.
	Sections []Section
}

// A Section is a part of the blob.
type Section struct {
	Kind   SectionKind
	Offset int // in the blob
	Size   int // in bytes
	// Bytes are those of a section that is not decoded, and nil for all others.
	Bytes []byte
}

// A SectionKind says what a Section holds.
type SectionKind uint8

// The sections in the order of the blob, by the names that OpenJ9's document
// J9JITExceptionTable.md has for them.
const (
	ExceptionTable SectionKind = iota // the header, struct J9JITExceptionTable
	ExceptionInfo
	InlineInfo
	StackAtlasSection
	Other // all other bytes: later sections, and those that nothing accounts for
)

var sectionNames = [...]string{"J9JITExceptionTable", "Exception Info", "Inline Info", "Stack Atlas", "Other"}

// Decoded reports whether the Body has what is in the section.
func (k SectionKind) Decoded() bool {
	return k == ExceptionTable || k == InlineInfo || k == StackAtlasSection
}

// String returns the document's name of the section.
func (k SectionKind) String() string {
	if int(k) < len(sectionNames) {
		return sectionNames[k]
	}
	return "unknown"
}

// An InlinedSite is a call that the compiler replaced by the code of its callee: struct TR_InlinedCallSite with its monitors.
type InlinedSite struct {
	Offset int    `show:"offset,offset,row:index"` // of the site in the blob
	Method uint64 `show:"methodInfo,hex,known"`    // the J9Method that was inlined; see Layout.Unloaded
	// Info is the call: its CallerIndex the site that it is in, its ByteCodeIndex
	// the bytecode that calls.
	Info ByteCodeInfo `show:""`
	Pad  [4]byte      // with 8-byte pointers; what was in memory
	// Monitors has a bit for each slot of the stack maps that holds an object which
	// the inlined method synchronizes on; numberOfMapBytes, lowest bit first.
	Monitors []byte `show:"monitor_autos_map,id"`
}

// sites reads as many sites as c has room for.
func (d *decoder) sites(c *wire.Cursor, mapBytes int) []InlinedSite {
	list := make([]InlinedSite, c.Len()/(d.layout.siteSize()+mapBytes))
	for i := range list {
		s := &list[i]
		s.Offset = int(c.Offset())
		s.Method = d.pointer(c, "methodInfo")
		s.Info = d.byteCodeInfo(c)
		if d.layout.PointerSize == 8 {
			copy(s.Pad[:], c.Bytes("padding", 4))
		}
		s.Monitors = c.Bytes("monitor autos map", uint64(mapBytes))
	}
	return list
}

// A Frame is a method that was running: the compiled one, or one that was inlined.
type Frame struct {
	Site          int    // index of the inlined site, -1: the compiled method itself
	Method        uint64 // J9Method; of the compiled method Header.RAMMethod
	ByteCodeIndex int    // in Method
	Unloaded      bool   // Method means nothing, see Layout.Unloaded
}

// Stack appends to dst the frames of a bytecode, the innermost first, and returns
// it. The last frame is of Site -1, unless a caller is no earlier site, which no compiler writes:
// then what is known so far is all.
func (b *Body) Stack(dst []Frame, info ByteCodeInfo) []Frame {
	last := len(b.Sites)
	for info.CallerIndex >= 0 {
		if info.CallerIndex >= last {
			return dst
		}
		last = info.CallerIndex
		s := &b.Sites[last]
		dst = append(dst, Frame{Site: last, Method: s.Method, ByteCodeIndex: info.ByteCodeIndex, Unloaded: b.Layout.Unloaded(s.Method)})
		info = s.Info
	}
	return append(dst, Frame{Site: -1, Method: b.Header.RAMMethod, ByteCodeIndex: info.ByteCodeIndex})
}

// A Range is a part of the code that one stack map is for.
type Range struct {
	Start, End uint32 // offsets from startPC, half open
	Map        int    // index of the map
	Info       ByteCodeInfo
	Shared     bool // the map says nothing about objects, see StackMap.Shared
}

// Ranges returns the ranges of all maps, by growing Start and without overlap;
// code before the first map has none. A range lasts up to the next map's, the
// last one to the end of the code. Ranges of no code are left out.
func (b *Body) Ranges() []Range {
	if b.Atlas == nil {
		return nil
	}
	ranges := make([]Range, len(b.Atlas.Maps))
	for i := range ranges {
		m := &b.Atlas.Maps[i]
		ranges[i] = Range{Start: m.Low, Map: i, Info: m.Info, Shared: m.Shared}
	}
	byStart := func(a, b Range) int { return cmp.Compare(a.Start, b.Start) }
	if !slices.IsSortedFunc(ranges, byStart) { // no compiler writes such maps
		sorting.Stable(ranges, byStart)
	}
	for i := range ranges {
		if ranges[i].End = b.codeSize(); i+1 < len(ranges) {
			ranges[i].End = ranges[i+1].Start
		}
	}
	return slices.DeleteFunc(ranges, func(r Range) bool { return r.Start >= r.End })
}

// codeSize is the distance from startPC to endPC, as far as offsets reach.
func (b *Body) codeSize() uint32 {
	h := &b.Header
	if h.EndPC <= h.StartPC {
		return 0
	}
	return uint32(min(h.EndPC-h.StartPC, math.MaxUint32))
}
