package perfdata

import (
	"bytes"
	"encoding/binary"
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

// What is written is read again, in both byte orders.
func TestAppendSample_ReadAgain(t *testing.T) {
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
		want := words(o, RecordSample, 9, 0x30, 0, 100, 7, 0, 50, 4, ContextUser, 0x30, 0x20, 0x10, 0, 0).Data
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

func TestEventDesc_CutAnywhere(t *testing.T) {
	for _, o := range []order{binary.LittleEndian, binary.BigEndian} {
		events := []NamedEvent{{madeAttr(o, FieldTime, true, 1, 2), "cpu-clock"}, {madeAttr(o, FieldIP, true, 3), string(bytes.Repeat([]byte("x"), 64))}, {madeAttr(o, 0, false), ""}}
		content := AppendEventDesc(nil, o, events)
		got, err := EventDesc(o, content)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(events) {
			t.Errorf("got %v, %v; want no error, %v", got, err, fmt.Sprint(events))
		}
		for n := range content {
			if _, err := EventDesc(o, content[:n]); err == nil {
				t.Errorf("%d of %d bytes are enough", n, len(content))
			}
		}
	}
}
