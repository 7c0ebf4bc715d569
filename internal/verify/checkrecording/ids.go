package checkrecording

import (
	"encoding/binary"
	"fmt"

	"github.com/jitinject/jitinject/perfdata"
)

// What holds between records: their order, and the ids of their events.

// rounds knows what readers of a recording have been told that they may use.
//
// At the end of a round, perf hands out what is no later than the latest record before
// the round in front of it ended [perf, ordered_events__flush].
type rounds struct {
	off      bool
	latest   uint64 // of all so far
	previous uint64 // latest at the end of the last round
	handed   uint64 // up to this time, records have been handed out
}

func (r *rounds) finished() {
	r.handed = max(r.handed, r.previous)
	r.previous = r.latest
}

// record returns by how much a record comes too late, or 0.
func (r *rounds) record(time uint64) uint64 {
	r.latest = max(r.latest, time)
	if r.off || time >= r.handed {
		return 0
	}
	return r.handed - time
}

// sampleIDs knows where records have the id of their event. It is worked out here once
// more, from [perf_event.h, struct sample_id].
type sampleIDs struct {
	order    binary.ByteOrder
	known    map[uint64]bool
	trailer  int // bytes; 0 if records have none
	fromEnd  int // where the id begins; 0 if there is none
	inSample int // the same in samples, from the start
	uniform  bool
}

func sampleIDsOf(order binary.ByteOrder, attrs []perfdata.Attr) (s sampleIDs) {
	s.order, s.known = order, make(map[uint64]bool)
	if len(attrs) == 0 {
		return s
	}
	for i := range attrs {
		a := &attrs[i]
		for _, id := range a.IDs {
			s.known[id] = true
		}
		if i > 0 && (a.SampleType() != attrs[0].SampleType() || a.Has(perfdata.FlagSampleIDAll) != attrs[0].Has(perfdata.FlagSampleIDAll)) {
			return sampleIDs{} // perfdata tells them apart
		}
	}
	s.uniform = true
	t := attrs[0].SampleType()
	at := 8
	for _, f := range []perfdata.SampleType{perfdata.FieldIdentifier, perfdata.FieldIP, perfdata.FieldTID, perfdata.FieldTime, perfdata.FieldAddr, perfdata.FieldID} {
		if t&f == 0 {
			continue
		}
		if s.inSample == 0 && (f == perfdata.FieldIdentifier || f == perfdata.FieldID) {
			s.inSample = at
		}
		at += 8
	}
	if !attrs[0].Has(perfdata.FlagSampleIDAll) {
		return s
	}
	var fields []perfdata.SampleType
	for _, f := range []perfdata.SampleType{perfdata.FieldTID, perfdata.FieldTime, perfdata.FieldID, perfdata.FieldStreamID, perfdata.FieldCPU, perfdata.FieldIdentifier} {
		if t&f != 0 {
			fields = append(fields, f)
		}
	}
	s.trailer = 8 * len(fields)
	for i, f := range fields {
		if f == perfdata.FieldIdentifier || f == perfdata.FieldID {
			s.fromEnd = 8 * (len(fields) - i)
		}
	}
	return s
}

// check returns what is wrong with the id of a record, or "".
func (s *sampleIDs) check(rec perfdata.Record) string {
	if !s.uniform {
		return ""
	}
	n := len(rec.Data)
	at := s.inSample
	if rec.Type != perfdata.RecordSample {
		if n < 8+s.trailer {
			return fmt.Sprintf("%d bytes have no room for the trailer of %d", n, s.trailer)
		}
		at = n - s.fromEnd
	}
	if n%8 != 0 {
		return fmt.Sprintf("its size, %d, is no multiple of 8", n)
	}
	if at == 0 || at == n || len(s.known) == 0 {
		return ""
	}
	if at+8 > n {
		return fmt.Sprintf("%d bytes have no room for an id at %d", n, at)
	}
	if id := s.order.Uint64(rec.Data[at:]); id != 0 && !s.known[id] {
		return fmt.Sprintf("no event has the id %d", id)
	}
	return ""
}
