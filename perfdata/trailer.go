package perfdata

import "github.com/jitinject/jitinject/internal/wire"

// A SampleID has the fields in the trailer of a kernel record. Fields that an attr's sample_type
// does not have are zero.
type SampleID struct {
	Fields   SampleType // the decoded fields
	PID, TID uint32
	Time     uint64 // nanoseconds of the recording's clock; 0 in records that perf record made itself
	ID       uint64 // of the event
	StreamID uint64 // of the event, on one CPU or in one thread
	CPU      uint32 // from 0
}

// SampleID decodes the trailer of a kernel record other than SAMPLE. ok is false if there is none,
// and for records of an unknown event.
func (ls *Layouts) SampleID(rec Record) (id SampleID, ok bool) {
	if rec.Type >= firstUserType || rec.Type == RecordSample {
		return SampleID{}, false
	}
	l, n := ls.of(rec), len(rec.Data)
	if l == nil || !l.trailing || n < recordHead+l.trailerSize {
		return SampleID{}, false
	}
	id.Fields = l.sampleType & trailerFields
	word := func(fromEnd int) uint64 {
		if fromEnd == 0 {
			return 0
		}
		return ls.order.Uint64(rec.Data[n-fromEnd:])
	}
	if l.trailerTID != 0 {
		id.PID, id.TID = ls.order.Uint32(rec.Data[n-l.trailerTID:]), ls.order.Uint32(rec.Data[n-l.trailerTID+4:])
	}
	if l.trailerCPU != 0 {
		id.CPU = ls.order.Uint32(rec.Data[n-l.trailerCPU:])
	}
	id.Time, id.ID, id.StreamID = word(l.trailerTime), word(l.idFromEnd()), word(l.trailerStreamID)
	return id, true
}

// trailerFields are the fields of a sample id.
const trailerFields = FieldTID | FieldTime | FieldID | FieldStreamID | FieldCPU | FieldIdentifier

// A Trailer writes the sample ids of one attr's records.
type Trailer struct {
	layout layout
	id     uint64
}

// TrailerOf returns the trailer for new records of the given attr, with the first of its ids.
func TrailerOf(attr *Attr) Trailer {
	t := Trailer{layout: compileLayout(attr.SampleType(), attr.Has(FlagSampleIDAll))}
	if len(attr.IDs) > 0 {
		t.id = attr.IDs[0]
	}
	return t
}

// Size returns the trailer's length in bytes, 0 if the records have none.
func (t *Trailer) Size() int {
	if !t.layout.trailing {
		return 0
	}
	return t.layout.trailerSize
}

// append encodes the fields of id that the attr has. The ID is the attr's, not that of id.
func (t *Trailer) append(b *wire.Buffer, id SampleID) {
	l := &t.layout
	if !l.trailing {
		return
	}
	if l.trailerTID != 0 {
		b.U32(id.PID)
		b.U32(id.TID)
	}
	if l.trailerTime != 0 {
		b.U64(id.Time)
	}
	if l.trailerID != 0 {
		b.U64(t.id)
	}
	if l.trailerStreamID != 0 {
		b.U64(id.StreamID)
	}
	if l.trailerCPU != 0 {
		b.U32(id.CPU)
		b.U32(0)
	}
	if l.trailerIdentifier != 0 {
		b.U64(t.id)
	}
}
