package perfdata

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Events of one recording can have different fields in their samples only if the id
// that says which event a record is of stands at the same place in all of them
// [perf, evlist__valid_sample_type]. IDENTIFIER is for that: it comes first in
// samples, and last in the trailers of other records.

// A Relay gives records the identifier.
type Relay struct {
	order  binary.ByteOrder
	attrs  []Attr
	old    *Layouts
	needed bool
	id     uint64 // of records that have none
}

// ErrTooLong says that a record has no room for eight bytes more.
var ErrTooLong = errors.New("the record has no room for the id of its event")

// NewRelay prepares the re-laying of the records of some events. Of several events
// whose records have no ids at all, perf takes every record to be of the first one;
// so it will be.
func NewRelay(order binary.ByteOrder, attrs []Attr) (*Relay, error) {
	old, err := NewLayouts(order, attrs)
	if err != nil {
		return nil, err
	}
	r := &Relay{order: order, old: old}
	r.needed = attrs[0].SampleType()&FieldIdentifier == 0
	for i := range attrs {
		if r.needed != (attrs[i].SampleType()&FieldIdentifier == 0) {
			return nil, fmt.Errorf("%s: some events of the recording have identifiers and others have none", FormatName)
		}
		r.attrs = append(r.attrs, attrs[i].withField(FieldIdentifier))
	}
	if len(r.attrs[0].IDs) == 0 {
		r.attrs[0].IDs = r.FreeIDs(1)
	}
	r.id = r.attrs[0].IDs[0]
	return r, nil
}

// Needed reports whether records change at all.
func (r *Relay) Needed() bool { return r.needed }

// Attrs returns the events as they are with identifiers.
func (r *Relay) Attrs() []Attr { return r.attrs }

// FreeIDs returns n ids that no event has.
func (r *Relay) FreeIDs(n int) (ids []uint64) {
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

// Append appends a record as it is to be. Where the record would become longer than
// any can be, the copy of the stack in it gives way by 8 bytes, at the outermost end;
// where there is none, nothing is appended and the error is ErrTooLong.
func (r *Relay) Append(dst []byte, rec Record) ([]byte, error) {
	if !r.needed || rec.Type >= firstUserType || len(r.attrs) == 0 {
		return append(dst, rec.Data...), nil
	}
	l := &r.old.layouts[0] // ids are at the same place in all
	n := len(rec.Data)
	at := n - l.idFromEnd()
	switch {
	case rec.Type == RecordSample:
		at = l.sampleID
	case !l.trailing:
		return append(dst, rec.Data...), nil
	case l.idFromEnd() == 0:
		at = 0
	}
	id := r.id
	if at >= recordHead && at+8 <= n {
		id = r.order.Uint64(rec.Data[at:])
	}
	data := rec.Data
	if n+8 > math.MaxUint16 {
		if rec.Type != RecordSample {
			return dst, ErrTooLong
		}
		var ok bool
		if data, ok = r.old.shorten(rec); !ok {
			return dst, ErrTooLong
		}
	}
	begin := len(dst)
	if rec.Type == RecordSample {
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

func (r *Relay) appendU64(dst []byte, v uint64) []byte {
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	r.order.PutUint64(dst[len(dst)-8:], v)
	return dst
}

// shorten returns a copy of a sample whose copy of the stack is 8 bytes shorter: u64
// size, bytes, u64 dyn_size.
func (ls *Layouts) shorten(rec Record) ([]byte, bool) {
	var t Touches
	if ls.sampleTouches(rec, &t) != nil || t.stackAt == 0 {
		return nil, false
	}
	size := ls.order.Uint64(rec.Data[t.stackAt:])
	if size < 16 {
		return nil, false
	}
	end := t.stackAt + 8 + int(size)
	data := slices.Concat(rec.Data[:end-8], rec.Data[end:])
	ls.order.PutUint64(data[t.stackAt:], size-8)
	ls.order.PutUint64(data[end-8:], min(ls.order.Uint64(data[end-8:]), size-8))
	return data, true
}
