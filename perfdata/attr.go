package perfdata

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/jitinject/jitinject/internal/wire"
)

// A SampleType has a bit for each field of samples and trailers: PERF_SAMPLE_* of
// linux/perf_event.h.
type SampleType uint64

// The fields of samples. IDENTIFIER, TID, TIME, ID, STREAM_ID and CPU are also the fields of a
// sample id.
const (
	FieldIP           SampleType = 1 << 0
	FieldTID          SampleType = 1 << 1
	FieldTime         SampleType = 1 << 2
	FieldAddr         SampleType = 1 << 3
	FieldRead         SampleType = 1 << 4
	FieldCallchain    SampleType = 1 << 5
	FieldID           SampleType = 1 << 6
	FieldCPU          SampleType = 1 << 7
	FieldPeriod       SampleType = 1 << 8
	FieldStreamID     SampleType = 1 << 9
	FieldRaw          SampleType = 1 << 10
	FieldBranchStack  SampleType = 1 << 11
	FieldRegsUser     SampleType = 1 << 12
	FieldStackUser    SampleType = 1 << 13
	FieldWeight       SampleType = 1 << 14
	FieldDataSrc      SampleType = 1 << 15
	FieldIdentifier   SampleType = 1 << 16
	FieldTransaction  SampleType = 1 << 17
	FieldRegsIntr     SampleType = 1 << 18
	FieldPhysAddr     SampleType = 1 << 19
	FieldAux          SampleType = 1 << 20
	FieldCgroup       SampleType = 1 << 21
	FieldDataPageSize SampleType = 1 << 22
	FieldCodePageSize SampleType = 1 << 23
	FieldWeightStruct SampleType = 1 << 24
)

// An AttrFlag is the number of a one-bit field of perf_event_attr, counted from
// "disabled".
type AttrFlag int

// The one-bit fields used here.
const (
	FlagMmap        AttrFlag = 8
	FlagSampleIDAll AttrFlag = 18
	FlagMmap2       AttrFlag = 23
	FlagUseClockID  AttrFlag = 25
)

// attrSizeMin is PERF_ATTR_SIZE_VER0, the perf_event_attr of Linux 2.6.31.
// Later versions only add to the end: 72, 80, 96, 104, 112, 120, 128, 136 bytes.
const attrSizeMin = 64

// attrSizes are the published sizes, PERF_ATTR_SIZE_VER0 to VER9, in bytes.
var attrSizes = []int{attrSizeMin, 72, 80, 96, 104, 112, 120, 128, 136, 144}

// sameSize returns attrs that all have the smallest of attrSizes that is enough for all their bytes that
// are not zero, or the largest size that one of them has. perf takes the size in an attr for that of its
// entry in a table.
func sameSize(attrs []Attr) []Attr {
	most, used := 0, 0
	for _, a := range attrs {
		most, used = max(most, len(a.Raw)), max(used, len(bytes.TrimRight(a.Raw, "\x00")))
	}
	size := most
	if i, _ := slices.BinarySearch(attrSizes, used); i < len(attrSizes) {
		size = attrSizes[i]
	}
	same := make([]Attr, len(attrs))
	for i, a := range attrs {
		raw := make([]byte, size)
		copy(raw, a.Raw)
		a.order.PutUint32(raw[attrOwnSize:], uint32(size))
		same[i] = Attr{Raw: raw, IDs: a.IDs, order: a.order}
	}
	return same
}

// attrSizeMax bounds the size that a header may claim. The kernel rejects attrs larger than a page.
const attrSizeMax = 4096

// An Attr is one event of the recording.
type Attr struct {
	Raw []byte // the perf_event_attr as in the file
	// the kernel's ids of the event
	IDs []uint64

	order binary.ByteOrder
}

// ClockMonotonic is CLOCK_MONOTONIC, a clock id of clock_gettime(2).
const ClockMonotonic = 1

// Offsets in perf_event_attr.
const (
	attrType       = 0
	attrOwnSize    = 4
	attrConfig     = 8
	attrSampleType = 24
	attrReadFormat = 32
	attrFlags      = 40
	attrBranchType = 72
	attrRegsUser   = 80
	attrClockID    = 92
	attrRegsIntr   = 96
)

// Type returns the attr's type: the PMU of the event.
func (a *Attr) Type() uint32 { return a.order.Uint32(a.Raw[attrType:]) }

// Config returns the attr's config: the event's number in its PMU.
func (a *Attr) Config() uint64 { return a.order.Uint64(a.Raw[attrConfig:]) }

// SampleType returns the fields of the event's samples.
func (a *Attr) SampleType() SampleType { return SampleType(a.order.Uint64(a.Raw[attrSampleType:])) }

// ReadFormat returns the format of counts (PERF_FORMAT_*).
func (a *Attr) ReadFormat() uint64 { return a.word(attrReadFormat) }

// BranchType returns the content of branch stacks (PERF_SAMPLE_BRANCH_*).
func (a *Attr) BranchType() uint64 { return a.word(attrBranchType) }

// UserRegs returns a mask of the user space registers in samples.
func (a *Attr) UserRegs() uint64 { return a.word(attrRegsUser) }

// IntrRegs returns a mask of the registers at the interrupt in samples.
func (a *Attr) IntrRegs() uint64 { return a.word(attrRegsIntr) }

// word returns a u64 of the attr, or 0 if the attr is shorter.
func (a *Attr) word(at int) uint64 {
	if len(a.Raw) < at+8 {
		return 0
	}
	return a.order.Uint64(a.Raw[at:])
}

// Has reports whether a one-bit field is set. C compilers place bit fields from the first byte on:
// from its low end on little-endian machines, and from its high end on big-endian ones.
func (a *Attr) Has(f AttrFlag) bool {
	b := a.Raw[attrFlags+int(f)/8]
	if a.order == binary.BigEndian {
		return b>>(7-f%8)&1 != 0
	}
	return b>>(f%8)&1 != 0
}

// ClockID returns the clock of the event's timestamps. ok is false if perf record ran without -k:
// then they are of the kernel's own clock.
func (a *Attr) ClockID() (id int32, ok bool) {
	if len(a.Raw) < attrClockID+4 || !a.Has(FlagUseClockID) {
		return 0, false
	}
	return int32(a.order.Uint32(a.Raw[attrClockID:])), true
}

// readAttrs reads the attr table and the ids of its attrs.
func readAttrs(src io.ReaderAt, h *Header, fileSize int64) ([]Attr, error) {
	table := make([]byte, h.Attrs.Size) // inside the file: readHeader has checked
	if n, err := src.ReadAt(table, int64(h.Attrs.Offset)); n < len(table) {
		return nil, fmt.Errorf("%s: attr table at offset %#x: %w", FormatName, h.Attrs.Offset, err)
	}
	c := wire.NewCursor(FormatName, "attr table", table, h.Order, int64(h.Attrs.Offset))
	attrs := make([]Attr, 0, h.Attrs.Size/h.AttrSize)
	idBytes := uint64(0)
	for c.Len() > 0 {
		a := Attr{Raw: c.Bytes("attr", h.AttrSize-16), order: h.Order}
		// Smaller sizes are common: kernels reject fields that they do not know.
		if own := h.Order.Uint32(a.Raw[attrOwnSize:]); uint64(own) > h.AttrSize-16 {
			return nil, &Error{Format: FormatName, Record: "attr table", Field: "attr.size", Offset: int64(h.Attrs.Offset+uint64(len(attrs))*h.AttrSize) + attrOwnSize,
				Text: fmt.Sprintf("is %d; an entry of the table has %d bytes for it", own, h.AttrSize-16)}
		}
		off, size := c.U64("ids.offset"), c.U64("ids.size")
		if off > uint64(fileSize) || size > uint64(fileSize)-off || size%8 != 0 || idBytes+size > uint64(fileSize) {
			c.Bad("ids", "%d bytes at %#x: not inside the file, %d bytes long, or no whole number of ids", size, off, fileSize)
			return nil, c.Err()
		}
		idBytes += size
		ids := make([]byte, size)
		if n, err := src.ReadAt(ids, int64(off)); n < len(ids) {
			return nil, fmt.Errorf("%s: ids at offset %#x: %w", FormatName, off, err)
		}
		a.IDs = make([]uint64, 0, size/8)
		for ; len(ids) > 0; ids = ids[8:] {
			a.IDs = append(a.IDs, h.Order.Uint64(ids))
		}
		attrs = append(attrs, a)
	}
	return attrs, nil
}
