package perfdata

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
)

// order is a byte order that can also append.
type order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// madeAttr is an attr of the given fields.
func madeAttr(o order, fields SampleType, all bool, ids ...uint64) Attr {
	a := Attr{Raw: make([]byte, 128), IDs: ids, order: o}
	o.PutUint32(a.Raw, TypeSoftware)
	o.PutUint32(a.Raw[4:], 128)
	o.PutUint64(a.Raw[attrSampleType:], uint64(fields))
	if all {
		a.set(FlagSampleIDAll)
	}
	return a
}

func words(o order, typ RecordType, body ...uint64) Record {
	b := o.AppendUint32(nil, uint32(typ))
	b = o.AppendUint16(b, MiscUser)
	b = o.AppendUint16(b, uint16(8+8*len(body)))
	for _, w := range body {
		b = o.AppendUint64(b, w)
	}
	return recordAt(b, o, o == order(binary.LittleEndian))
}

// Records get the id of their event, first in samples and last in others.
func TestRelay(t *testing.T) {
	for _, o := range []order{binary.LittleEndian, binary.BigEndian} {
		const common = FieldIP | FieldTID | FieldTime
		for _, test := range []struct {
			name         string
			attrs        []Attr
			sample, comm []uint64 // bodies; of the latter, a trailer
			wantSample   uint64
			wantComm     uint64
		}{
			{"one event", []Attr{madeAttr(o, common, true, 5)}, []uint64{1, 2, 3}, []uint64{9, 2, 3}, 5, 5},
			{"one event without an id", []Attr{madeAttr(o, common, true)}, []uint64{1, 2, 3}, []uint64{9, 2, 3}, 1, 1},
			{"ids", []Attr{madeAttr(o, common|FieldID, true, 5), madeAttr(o, common|FieldID|FieldPeriod, true, 6)}, []uint64{1, 2, 3, 6}, []uint64{9, 2, 3, 6}, 6, 6},
			{"made by perf", []Attr{madeAttr(o, common|FieldID, true, 5), madeAttr(o, common|FieldID|FieldPeriod, true, 6)}, []uint64{1, 2, 3, 6}, []uint64{9, 0, 0, 0}, 6, 0},
		} {
			t.Run(fmt.Sprint(test.name, " ", o), func(t *testing.T) {
				r, err := NewRelay(o, test.attrs)
				if err != nil || !r.Needed() {
					t.Fatal(err)
				}
				for i := range test.attrs {
					if got := r.Attrs()[i].SampleType(); got != test.attrs[i].SampleType()|FieldIdentifier || test.attrs[i].SampleType()&FieldIdentifier != 0 {
						t.Errorf("event %d has fields %#x", i, got)
					}
				}
				got, err := r.Append([]byte("before"), words(o, RecordSample, test.sample...))
				want := words(o, RecordSample, append([]uint64{test.wantSample}, test.sample...)...).Data
				if err != nil || !bytes.Equal(got, append([]byte("before"), want...)) {
					t.Errorf("sample is % x, %v, want % x", got, err, want)
				}
				got, err = r.Append(nil, words(o, RecordComm, test.comm...))
				want = words(o, RecordComm, append(test.comm, test.wantComm)...).Data
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("COMM is % x, %v, want % x", got, err, want)
				}
				round := words(o, RecordFinishedRound)
				if got, err = r.Append(nil, round); err != nil || !bytes.Equal(got, round.Data) {
					t.Errorf("perf's own record became % x, %v", got, err)
				}
			})
		}
	}
}

// Where nothing has to change, nothing does; where it cannot be done, it is refused.
func TestRelayAttrs(t *testing.T) {
	o := order(binary.LittleEndian)
	has, lacks := madeAttr(o, FieldIdentifier|FieldTime, true, 7), madeAttr(o, FieldTime, true, 9)
	r, err := NewRelay(o, []Attr{has})
	if err != nil || r.Needed() {
		t.Errorf("needed %v, %v", r.Needed(), err)
	}
	rec := words(o, RecordSample, 7, 100)
	if got, err := r.Append(nil, rec); err != nil || !bytes.Equal(got, rec.Data) {
		t.Errorf("% x, %v", got, err)
	}
	if _, err := NewRelay(o, []Attr{has, lacks}); err == nil {
		t.Error("events with and without identifiers are taken")
	}
	if ids := r.FreeIDs(2); len(ids) != 2 || ids[0] == 7 || ids[1] == 7 || ids[0] == ids[1] || ids[0] == 0 {
		t.Errorf("free ids %v", ids)
	}
	last := madeAttr(o, FieldIdentifier, true, ^uint64(0))
	if r, err = NewRelay(o, []Attr{last}); err != nil || r.FreeIDs(1)[0] == 0 || r.FreeIDs(1)[0] == ^uint64(0) {
		t.Errorf("free ids %v, %v", r.FreeIDs(1), err)
	}
	// Before 2.6.38, records other than samples had no trailers.
	old := madeAttr(o, FieldTime, false, 3)
	if r, err = NewRelay(o, []Attr{old}); err != nil {
		t.Fatal(err)
	}
	comm := words(o, RecordComm, 1, 2)
	if got, _ := r.Append(nil, comm); !bytes.Equal(got, comm.Data) {
		t.Errorf("% x", got)
	}
}

// A record of 64 KiB has no room: its copy of the stack gets shorter, or it is refused.
func TestRelayLong(t *testing.T) {
	for _, o := range []order{binary.LittleEndian, binary.BigEndian} {
		attr := madeAttr(o, FieldIP|FieldTID|FieldTime|FieldStackUser, true, 5)
		r, err := NewRelay(o, []Attr{attr})
		if err != nil {
			t.Fatal(err)
		}
		const stack = 65528 - 8 - 3*8 - 16
		body := []uint64{1, 2, 3, stack}
		for i := range uint64(stack / 8) {
			body = append(body, i+1000)
		}
		rec := words(o, RecordSample, append(body, stack)...)
		if len(rec.Data) != 65528 {
			t.Fatal(len(rec.Data))
		}
		got, err := r.Append(nil, rec)
		if err != nil || len(got) != 65528 || o.Uint16(got[6:]) != 65528 {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
		ls, err := NewLayouts(o, r.Attrs())
		if err != nil {
			t.Fatal(err)
		}
		var touches Touches
		if err := ls.Touches(recordAt(got, o, o == order(binary.LittleEndian)), &touches); err != nil || len(touches.Stack) != stack-8 || o.Uint64(touches.Stack[stack-16:]) != 1000+stack/8-2 {
			t.Errorf("%d bytes of stack, %v", len(touches.Stack), err)
		}
		raw := madeAttr(o, FieldIP|FieldTID|FieldTime|FieldRaw, true, 5)
		if r, err = NewRelay(o, []Attr{raw}); err != nil {
			t.Fatal(err)
		}
		if got, err := r.Append(nil, words(o, RecordSample, make([]uint64, 8190)...)); !errors.Is(err, ErrTooLong) || len(got) != 0 {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if _, err := r.Append(nil, words(o, RecordMmap2, make([]uint64, 8190)...)); !errors.Is(err, ErrTooLong) {
			t.Errorf("%v", err)
		}
	}
}

// What is written is read again, in both byte orders.
func TestAppendSample(t *testing.T) {
	for _, o := range []order{binary.LittleEndian, binary.BigEndian} {
		like := madeAttr(o, FieldTime, true, 1)
		const fields = FieldIdentifier | FieldIP | FieldTID | FieldTime | FieldAddr | FieldCPU | FieldPeriod | FieldCallchain | FieldRaw
		attr := NewAttr(o, &like, ConfigDummy, fields, 9)
		if attr.Type() != TypeSoftware || attr.Config() != ConfigDummy || attr.SampleType() != fields || !attr.Has(FlagSampleIDAll) || attr.Has(FlagUseClockID) {
			t.Errorf("attr % x", attr.Raw)
		}
		b := AppendSample([]byte("in front"), o, fields, &NewSample{
			ID: 9, IP: 0x30, PID: 4, TID: 5, Time: 100, Addr: 7, CPU: 2, Period: 50, Stack: []uint64{0x10, 0x20, 0x30}, Raw: []byte("hello"),
		})[8:]
		want := words(o, RecordSample, 9, 0x30, 0, 100, 7, 0, 50, 4, contextUser, 0x30, 0x20, 0x10, 0, 0).Data
		o.PutUint32(want[24:], 4)
		o.PutUint32(want[28:], 5)
		o.PutUint32(want[48:], 2)
		o.PutUint32(want[104:], 12)
		copy(want[108:], "hello")
		if !bytes.Equal(b, want) {
			t.Errorf("% x\nwant % x", b, want)
		}
		deep := AppendSample(nil, o, fields, &NewSample{Stack: make([]uint64, 5000), Raw: make([]byte, 1<<20)})
		if int(o.Uint16(deep[6:])) != len(deep) {
			t.Errorf("%d bytes say that they are %d", len(deep), o.Uint16(deep[6:]))
		}
	}
}

func TestEventDesc(t *testing.T) {
	for _, o := range []order{binary.LittleEndian, binary.BigEndian} {
		events := []NamedEvent{{madeAttr(o, FieldTime, true, 1, 2), "cpu-clock"}, {madeAttr(o, FieldIP, true, 3), string(bytes.Repeat([]byte("x"), 64))}, {madeAttr(o, 0, false), ""}}
		content := AppendEventDesc(nil, o, events)
		got, err := EventDesc(o, content)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(events) {
			t.Errorf("%v, %v", got, err)
		}
		for n := range content {
			if _, err := EventDesc(o, content[:n]); err == nil {
				t.Errorf("%d of %d bytes are enough", n, len(content))
			}
		}
	}
}
