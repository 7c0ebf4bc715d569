package calltrace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jitinject/jitinject/perfdata"
)

// Events of one recording may have different fields in their samples only on one condition: the
// id of the event is at the same place in all of them [perf, evlist__valid_sample_type].
// IDENTIFIER ensures that: it comes first in samples, and last in the trailers of other records.

// A relay adds the identifier to records.
type relay struct {
	order binary.ByteOrder
	attrs []perfdata.Attr // the events with identifiers
	// old are the layouts of records without identifiers.
	old *perfdata.Layouts
	// needed says that records need identifiers.
	needed bool
	id     uint64 // for records that have none
}

// errTooLong says that a record has no room for eight more bytes.
var errTooLong = errors.New("the record has no room for the id of its event")

// newRelay returns a relay for the records of some events. It fails if there are none, or if only
// some have identifiers. If the records of several events have no ids at all, perf assigns every record to
// the first one, and so does the relay.
func newRelay(order binary.ByteOrder, attrs []perfdata.Attr) (*relay, error) {
	if len(attrs) == 0 {
		return nil, fmt.Errorf("%s: the recording has no event, and no call can be put in", perfdata.FormatName)
	}
	old, err := perfdata.NewLayouts(order, attrs)
	if err != nil {
		return nil, err
	}
	r := &relay{order: order, old: old}
	r.needed = attrs[0].SampleType()&perfdata.FieldIdentifier == 0
	for i := range attrs {
		if r.needed != (attrs[i].SampleType()&perfdata.FieldIdentifier == 0) {
			return nil, fmt.Errorf("%s: some events of the recording have identifiers and others have none", perfdata.FormatName)
		}
		r.attrs = append(r.attrs, attrs[i].WithField(perfdata.FieldIdentifier))
	}
	if len(r.attrs[0].IDs) == 0 {
		r.attrs[0].IDs = r.freeIDs(1)
	}
	r.id = r.attrs[0].IDs[0]
	return r, nil
}

// freeIDs returns n ids that no event has.
func (r *relay) freeIDs(n int) (ids []uint64) {
	taken := make(map[uint64]bool)
	highest := uint64(0)
	for i := range r.attrs {
		for _, id := range r.attrs[i].IDs {
			taken[id] = true
			highest = max(highest, id)
		}
	}
	for id := highest + 1; len(ids) < n; id++ {
		if id != 0 && !taken[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// append appends a record in its new form. If the record would get too long, the copy of its
// stack loses 8 bytes at the outermost end. Without a copy, nothing is appended and the error is
// errTooLong.
func (r *relay) append(dst []byte, rec perfdata.Record) ([]byte, error) {
	isSample := rec.Type == perfdata.RecordSample
	if !r.needed || !rec.Type.IsKernel() || !isSample && !r.attrs[0].Has(perfdata.FlagSampleIDAll) {
		return append(dst, rec.Data...), nil
	}
	id, ok := r.old.EventID(rec)
	if !ok {
		id = r.id
	}
	data := rec.Data
	if len(data)+8 > math.MaxUint16 {
		if !isSample {
			return dst, errTooLong
		}
		if data, ok = r.shorten(rec); !ok {
			return dst, errTooLong
		}
	}
	begin := len(dst)
	if isSample {
		dst = append(dst, data[:recordHead]...)
		dst = r.appendU64(dst, id)
		dst = append(dst, data[recordHead:]...)
	} else {
		dst = append(dst, data...)
		dst = r.appendU64(dst, id)
	}
	r.order.PutUint16(dst[begin+6:], uint16(len(dst)-begin))
	return dst, nil
}

// recordHead is the length of the header of every record, in bytes.
const recordHead = 8

func (r *relay) appendU64(dst []byte, v uint64) []byte {
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	r.order.PutUint64(dst[len(dst)-8:], v)
	return dst
}

// shorten returns a sample with a copy of the stack that is 8 bytes shorter. Its layout is u64
// size, bytes, u64 dyn_size.
func (r *relay) shorten(rec perfdata.Record) ([]byte, bool) {
	var s perfdata.Sample
	if r.old.DecodeSample(rec, perfdata.FieldStackUser, &s) != nil || s.UserStack.Size < 16 {
		return nil, false
	}
	size := s.UserStack.Size
	end := s.UserStack.Offset + size
	data := slices.Concat(rec.Data[:end-8], rec.Data[end:])
	r.order.PutUint64(data[s.UserStack.Offset-8:], uint64(size-8))
	r.order.PutUint64(data[end-8:], min(r.order.Uint64(data[end-8:]), uint64(size-8)))
	return data, true
}
