package perfdata

import (
	"encoding/binary"
	"fmt"
)

// A layout has the places of fields for one sample_type.
//
// A trailer is read from the end of the record [perf_event.h, struct sample_id]:
//
//	{ u32 pid, tid; } TID, { u64 time; } TIME, { u64 id; } ID, { u64 stream_id; } STREAM_ID,
//	{ u32 cpu, res; } CPU, { u64 id; } IDENTIFIER
//
// A sample is read from the end of its header:
//
//	{ u64 id; } IDENTIFIER, { u64 ip; } IP, { u32 pid, tid; } TID, { u64 time; } TIME,
//	{ u64 addr; } ADDR, { u64 id; } ID, { u64 stream_id; } STREAM_ID, { u32 cpu, res; } CPU,
//	{ u64 period; } PERIOD, ...
//
// Positions are in bytes; 0 means that there is no such field.
type layout struct {
	sampleType SampleType
	trailing   bool // sample_id_all: kernel records have the trailer

	sampleIP, sampleTID  int // from the start of the record
	sampleTime, sampleID int
	samplePeriod         int
	trailerSize          int
	trailerTID           int // this and the following: back from the end of the record
	trailerTime          int
	trailerID            int
	trailerStreamID      int
	trailerCPU           int
	trailerIdentifier    int

	tail sampleTail
}

func compileLayout(t SampleType, trailing bool) layout {
	l := layout{sampleType: t, trailing: trailing}
	pos := recordHead
	for _, f := range []struct {
		field SampleType
		pos   *int
	}{
		{FieldIdentifier, &l.sampleID}, {FieldIP, &l.sampleIP}, {FieldTID, &l.sampleTID}, {FieldTime, &l.sampleTime},
		{FieldAddr, nil}, {FieldID, &l.sampleID},
		{FieldStreamID, nil}, {FieldCPU, nil}, {FieldPeriod, &l.samplePeriod},
	} {
		if t&f.field == 0 {
			continue
		}
		if f.pos != nil && *f.pos == 0 { // IDENTIFIER takes precedence over ID
			*f.pos = pos
		}
		pos += 8
	}
	back := 0
	for _, f := range []struct {
		field SampleType
		pos   *int
	}{
		{FieldIdentifier, &l.trailerIdentifier}, {FieldCPU, &l.trailerCPU}, {FieldStreamID, &l.trailerStreamID},
		{FieldID, &l.trailerID}, {FieldTime, &l.trailerTime}, {FieldTID, &l.trailerTID},
	} {
		if t&f.field != 0 {
			back += 8
			*f.pos = back
		}
	}
	l.trailerSize = back
	return l
}

// idFromEnd returns the place of the attr's id in a trailer, back from its end.
func (l *layout) idFromEnd() int {
	if l.trailerIdentifier != 0 {
		return l.trailerIdentifier
	}
	return l.trailerID
}

// Layouts decodes the records of a recording. It finds the event of a record and the places of its
// fields, which are computed once for each attr. Decoding does not change a Layouts; several
// goroutines may use it at once.
type Layouts struct {
	order   binary.ByteOrder
	little  bool
	layouts []layout // one for each attr
	byID    map[uint64]*layout
	common  *layout // layout of every attr, if they agree where it matters here

	events  map[uint64]int // the attr of each id; nil with one attr
	periods []uint64       // of each attr, for samples without one

	sameTails bool // common is valid for whole samples, too
	minSample int  // size of the smallest possible sample, in bytes
}

// NewLayouts returns the layouts for the attrs of one recording. It fails if the records of the
// attrs cannot be distinguished. perf rejects such attrs too (evlist__valid_sample_type). Without attrs,
// all records are unknown to it.
func NewLayouts(order binary.ByteOrder, attrs []Attr) (*Layouts, error) {
	if len(attrs) == 0 {
		return &Layouts{order: order}, nil
	}
	ls := &Layouts{order: order, little: order == binary.LittleEndian, layouts: make([]layout, len(attrs)), byID: make(map[uint64]*layout)}
	if len(attrs) > 1 {
		ls.events = make(map[uint64]int)
	}
	same, sameTails := true, true
	for i := range attrs {
		a := &attrs[i]
		ls.layouts[i] = compileLayout(a.SampleType(), a.Has(FlagSampleIDAll))
		ls.layouts[i].tail = compileTail(a)
		l, first := &ls.layouts[i], &ls.layouts[0]
		if i == 0 || l.tail.begin < ls.minSample {
			ls.minSample = l.tail.begin
		}
		sameTails = sameTails && *l == *first
		same = same && l.trailing == first.trailing &&
			l.sampleIP == first.sampleIP && l.sampleTID == first.sampleTID && l.sampleTime == first.sampleTime &&
			l.trailerSize == first.trailerSize && l.trailerTime == first.trailerTime && l.trailerTID == first.trailerTID
		if l.sampleID != first.sampleID || l.trailing != first.trailing || l.idFromEnd() != first.idFromEnd() {
			return nil, fmt.Errorf("%s: events 0 and %d of the recording keep their ids in different places, so their records cannot be told apart", FormatName, i)
		}
		for _, id := range a.IDs {
			ls.byID[id] = l
			if len(attrs) > 1 {
				ls.events[id] = i
			}
		}
		ls.periods = append(ls.periods, a.word(attrSamplePeriod))
	}
	if same {
		ls.common, ls.sameTails = &ls.layouts[0], sameTails
	}
	return ls, nil
}

// of returns the layout of a record, or nil if its id is unknown.
func (ls *Layouts) of(rec Record) *layout {
	if ls.common != nil {
		return ls.common
	}
	return ls.byRecordID(rec)
}

// byRecordID returns the layout of the attr with the record's id, or nil.
func (ls *Layouts) byRecordID(rec Record) *layout {
	if len(ls.layouts) == 0 {
		return nil
	}
	first, n := &ls.layouts[0], len(rec.Data)
	at := first.sampleID
	if rec.Type != RecordSample {
		at = n - first.idFromEnd()
	}
	if at < recordHead || at+8 > n {
		return nil
	}
	id := ls.order.Uint64(rec.Data[at:])
	if l := ls.byID[id]; l != nil {
		return l
	}
	if id == 0 { // perf writes it into records that it makes itself
		return first
	}
	return nil
}

// Order returns the byte order of the recording.
func (ls *Layouts) Order() binary.ByteOrder { return ls.order }

// Fields returns the fields of samples of a record's event, or 0 if the event is unknown.
func (ls *Layouts) Fields(rec Record) SampleType {
	if l := ls.wholeLayout(rec); l != nil {
		return l.sampleType
	}
	return 0
}

// EventID returns the id of a record's event, one of its [Attr].IDs. ok is false for records
// without an id: perf's own, damaged ones, and those of recordings without ids. The last are all of
// the first event.
func (ls *Layouts) EventID(rec Record) (id uint64, ok bool) {
	if len(ls.layouts) == 0 || rec.Type >= firstUserType {
		return 0, false
	}
	l, n := &ls.layouts[0], len(rec.Data) // ids are at the same place in all
	at := l.sampleID
	if rec.Type != RecordSample {
		at = n - l.idFromEnd()
		if !l.trailing {
			return 0, false
		}
	}
	if at < recordHead || at+8 > n {
		return 0, false
	}
	return ls.order.Uint64(rec.Data[at:]), true
}

// Time returns a record's time. ok is false for records that have none: perf's own, those of attrs
// without times or trailers, and those that perf synthesized, with a time of 0 or all ones.
func (ls *Layouts) Time(rec Record) (t uint64, ok bool) {
	if rec.Type >= firstUserType {
		return 0, false
	}
	l := ls.of(rec)
	if l == nil {
		return 0, false
	}
	at := l.sampleTime
	if rec.Type != RecordSample {
		if !l.trailing || l.trailerTime == 0 {
			return 0, false
		}
		at = len(rec.Data) - l.trailerTime
	}
	if at < recordHead || at+8 > len(rec.Data) {
		return 0, false
	}
	if ls.little {
		t = binary.LittleEndian.Uint64(rec.Data[at:])
	} else {
		t = ls.order.Uint64(rec.Data[at:])
	}
	return t, t != 0 && t != ^uint64(0)
}

// IsShortSample reports whether a SAMPLE record is shorter than the fields of fixed size that its
// event demands. With several events, those of the event with the fewest count.
func (ls *Layouts) IsShortSample(rec Record) bool { return len(rec.Data) < ls.minSample }

// body returns a kernel record without header and trailer.
func (ls *Layouts) body(rec Record) ([]byte, error) {
	end := len(rec.Data)
	if l := ls.of(rec); l != nil && l.trailing {
		end -= l.trailerSize
	}
	if end < recordHead {
		return nil, fmt.Errorf("%s: a %s record of %d bytes is shorter than its trailer", FormatName, rec.Type, len(rec.Data))
	}
	return rec.Data[recordHead:end], nil
}
