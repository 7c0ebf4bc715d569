package calltrace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/jitinject/jitinject/perfdata"
)

// order is a byte order that can also append.
type order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// madeAttr is an attr of the given fields.
func madeAttr(o order, fields perfdata.SampleType, all bool, ids ...uint64) perfdata.Attr {
	raw := make([]byte, 128)
	o.PutUint32(raw[4:], 128)
	o.PutUint64(raw[24:], uint64(fields))
	switch {
	case all && o == order(binary.LittleEndian):
		raw[40+2] = 1 << 2 // sample_id_all, bit 18
	case all:
		raw[40+2] = 1 << 5
	}
	for _, id := range ids {
		raw = o.AppendUint64(raw, id)
	}
	a, err := perfdata.HeaderAttr(o, perfdata.Record{Type: perfdata.RecordHeaderAttr, Data: append(make([]byte, 8), raw...)})
	if err != nil || a.Has(perfdata.FlagSampleIDAll) != all {
		panic(fmt.Sprint(a, err))
	}
	return a
}

func words(o order, typ perfdata.RecordType, body ...uint64) perfdata.Record {
	b := o.AppendUint32(nil, uint32(typ))
	b = o.AppendUint16(b, perfdata.MiscUser)
	b = o.AppendUint16(b, uint16(8+8*len(body)))
	for _, w := range body {
		b = o.AppendUint64(b, w)
	}
	return perfdata.Record{Type: typ, Misc: perfdata.MiscUser, Data: b}
}

// Records get the id of their event, first in samples and last in others.
func TestRelay_EventID(t *testing.T) {
	for _, o := range []order{binary.LittleEndian, binary.BigEndian} {
		const common = perfdata.FieldIP | perfdata.FieldTID | perfdata.FieldTime
		for _, test := range []struct {
			name         string
			attrs        []perfdata.Attr
			sample, comm []uint64 // bodies; of the latter, a trailer
			wantSample   uint64
			wantComm     uint64
		}{
			{"one event", []perfdata.Attr{madeAttr(o, common, true, 5)}, []uint64{1, 2, 3}, []uint64{9, 2, 3}, 5, 5},
			{"one event without an id", []perfdata.Attr{madeAttr(o, common, true)}, []uint64{1, 2, 3}, []uint64{9, 2, 3}, 1, 1},
			{"ids", []perfdata.Attr{madeAttr(o, common|perfdata.FieldID, true, 5), madeAttr(o, common|perfdata.FieldID|perfdata.FieldPeriod, true, 6)}, []uint64{1, 2, 3, 6}, []uint64{9, 2, 3, 6}, 6, 6},
			{"made by perf", []perfdata.Attr{madeAttr(o, common|perfdata.FieldID, true, 5), madeAttr(o, common|perfdata.FieldID|perfdata.FieldPeriod, true, 6)}, []uint64{1, 2, 3, 6}, []uint64{9, 0, 0, 0}, 6, 0},
		} {
			t.Run(fmt.Sprint(test.name, " ", o), func(t *testing.T) {
				r, err := newRelay(o, test.attrs)
				if err != nil || !r.needed {
					t.Fatal(err)
				}
				for i := range test.attrs {
					if got := r.attrs[i].SampleType(); got != test.attrs[i].SampleType()|perfdata.FieldIdentifier || test.attrs[i].SampleType()&perfdata.FieldIdentifier != 0 {
						t.Errorf("event %d has fields %#x", i, got)
					}
				}
				got, err := r.append([]byte("before"), words(o, perfdata.RecordSample, test.sample...))
				want := words(o, perfdata.RecordSample, append([]uint64{test.wantSample}, test.sample...)...).Data
				if err != nil || !bytes.Equal(got, append([]byte("before"), want...)) {
					t.Errorf("sample is % x, %v, want % x", got, err, want)
				}
				got, err = r.append(nil, words(o, perfdata.RecordComm, test.comm...))
				want = words(o, perfdata.RecordComm, append(test.comm, test.wantComm)...).Data
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("COMM is % x, %v, want % x", got, err, want)
				}
				round := words(o, perfdata.RecordFinishedRound)
				if got, err = r.append(nil, round); err != nil || !bytes.Equal(got, round.Data) {
					t.Errorf("perf's own record became % x, %v", got, err)
				}
			})
		}
	}
}

// Where nothing has to change, nothing does; where it cannot be done, it is refused.
func TestRelay_AttrsChangedOrRefused(t *testing.T) {
	o := order(binary.LittleEndian)
	has, lacks := madeAttr(o, perfdata.FieldIdentifier|perfdata.FieldTime, true, 7), madeAttr(o, perfdata.FieldTime, true, 9)
	r, err := newRelay(o, []perfdata.Attr{has})
	if err != nil || r.needed {
		t.Errorf("needed %v, %v", r.needed, err)
	}
	rec := words(o, perfdata.RecordSample, 7, 100)
	if got, err := r.append(nil, rec); err != nil || !bytes.Equal(got, rec.Data) {
		t.Errorf("got % x, %v; want no error, got equal to % x", got, err, rec.Data)
	}
	if _, err := newRelay(o, []perfdata.Attr{has, lacks}); err == nil {
		t.Error("events with and without identifiers are taken")
	}
	if ids := r.freeIDs(2); len(ids) != 2 || ids[0] == 7 || ids[1] == 7 || ids[0] == ids[1] || ids[0] == 0 {
		t.Errorf("free ids %v", ids)
	}
	last := madeAttr(o, perfdata.FieldIdentifier, true, ^uint64(0))
	if r, err = newRelay(o, []perfdata.Attr{last}); err != nil || r.freeIDs(1)[0] == 0 || r.freeIDs(1)[0] == ^uint64(0) {
		t.Errorf("free ids %v, %v", r.freeIDs(1), err)
	}
	// Before 2.6.38, records other than samples had no trailers.
	old := madeAttr(o, perfdata.FieldTime, false, 3)
	if r, err = newRelay(o, []perfdata.Attr{old}); err != nil {
		t.Fatal(err)
	}
	comm := words(o, perfdata.RecordComm, 1, 2)
	if got, _ := r.append(nil, comm); !bytes.Equal(got, comm.Data) {
		t.Errorf("got % x; want one equal to % x", got, comm.Data)
	}
}

// A record of 64 KiB has no room: its copy of the stack gets shorter, or it is refused.
func TestRelay_RecordOf64KiB(t *testing.T) {
	for _, o := range []order{binary.LittleEndian, binary.BigEndian} {
		attr := madeAttr(o, perfdata.FieldIP|perfdata.FieldTID|perfdata.FieldTime|perfdata.FieldStackUser, true, 5)
		r, err := newRelay(o, []perfdata.Attr{attr})
		if err != nil {
			t.Fatal(err)
		}
		const stack = 65528 - 8 - 3*8 - 16
		body := []uint64{1, 2, 3, stack}
		for i := range uint64(stack / 8) {
			body = append(body, i+1000)
		}
		rec := words(o, perfdata.RecordSample, append(body, stack)...)
		if len(rec.Data) != 65528 {
			t.Fatal(len(rec.Data))
		}
		got, err := r.append(nil, rec)
		if err != nil || len(got) != 65528 || o.Uint16(got[6:]) != 65528 {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
		ls, err := perfdata.NewLayouts(o, r.attrs)
		if err != nil {
			t.Fatal(err)
		}
		var s perfdata.Sample
		err = ls.DecodeSample(perfdata.Record{Type: perfdata.RecordSample, Data: got}, perfdata.AllFields, &s)
		if copied := s.UserStack.Data; err != nil || len(copied) != stack-8 || o.Uint64(copied[stack-16:]) != 1000+stack/8-2 {
			t.Errorf("%d bytes of stack, want %d, %v", len(copied), stack-8, err)
		}
		raw := madeAttr(o, perfdata.FieldIP|perfdata.FieldTID|perfdata.FieldTime|perfdata.FieldRaw, true, 5)
		if r, err = newRelay(o, []perfdata.Attr{raw}); err != nil {
			t.Fatal(err)
		}
		if got, err := r.append(nil, words(o, perfdata.RecordSample, make([]uint64, 8190)...)); !errors.Is(err, errTooLong) || len(got) != 0 {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if _, err := r.append(nil, words(o, perfdata.RecordMmap2, make([]uint64, 8190)...)); !errors.Is(err, errTooLong) {
			t.Errorf("got %v; want an error that is %v", err, errTooLong)
		}
	}
}

// A recording without events takes no calls: they need the fields of one.
func TestRelay_WithoutEvents(t *testing.T) {
	if _, err := newRelay(binary.LittleEndian, nil); err == nil {
		t.Error("got a relay; want an error")
	}
}
