package showperf

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/perfdata"
)

// events are those of a recording, and which of them records are of.
type events struct {
	order binary.ByteOrder
	attrs []perfdata.Attr
	list  []event
	byID  map[uint64]int
}

// An event is an attr as far as records need it.
type event struct {
	sampleType perfdata.SampleType
	idAll      bool
	readFormat uint64
	branchType uint64
	layouts    *perfdata.Layouts // of the event alone
	trailer    int               // bytes
	sampleID   int               // where the id stands in a sample, 0 for nowhere
	trailerID  int               // the same from the end of other records
	name       string
}

// Offsets in perf_event_attr.
const (
	attrPeriod    = 16
	attrStackUser = 88
)

// trailerFields are those of a sample id, each of 8 bytes, in their order
// [perf_event.h, struct sample_id].
var trailerFields = []perfdata.SampleType{
	perfdata.FieldTID, perfdata.FieldTime, perfdata.FieldID, perfdata.FieldStreamID, perfdata.FieldCPU, perfdata.FieldIdentifier,
}

func newEvents(order binary.ByteOrder, attrs []perfdata.Attr) events {
	e := events{order: order}
	for _, a := range attrs {
		e.add(a)
	}
	return e
}

func (e *events) add(a perfdata.Attr) {
	t := a.SampleType()
	ev := event{
		sampleType: t, idAll: a.Has(perfdata.FlagSampleIDAll),
		readFormat: a.ReadFormat(), branchType: a.BranchType(), name: eventName(&a),
	}
	ev.layouts, _ = perfdata.NewLayouts(e.order, []perfdata.Attr{a}) // no error: there is one event
	for _, f := range trailerFields {
		if t&f != 0 {
			ev.trailer += 8
		}
	}
	switch {
	case t&perfdata.FieldIdentifier != 0:
		ev.sampleID, ev.trailerID = 8, 8
	case t&perfdata.FieldID != 0:
		before := t & (perfdata.FieldIP | perfdata.FieldTID | perfdata.FieldTime | perfdata.FieldAddr)
		behind := t & (perfdata.FieldStreamID | perfdata.FieldCPU)
		ev.sampleID = 8 + 8*bits.OnesCount64(uint64(before))
		ev.trailerID = 8 + 8*bits.OnesCount64(uint64(behind))
	}
	if !ev.idAll {
		ev.trailer, ev.trailerID = 0, 0
	}
	if e.byID == nil {
		e.byID = make(map[uint64]int)
	}
	for _, id := range a.IDs {
		e.byID[id] = len(e.list)
	}
	e.attrs, e.list = append(e.attrs, a), append(e.list, ev)
}

// of returns the event that a record is of, or nil.
func (e *events) of(rec perfdata.Record) *event {
	if len(e.list) == 0 {
		return nil
	}
	first := &e.list[0]
	if len(e.list) == 1 {
		return first
	}
	at := first.sampleID
	if rec.Type != perfdata.RecordSample {
		at = len(rec.Data) - first.trailerID
	}
	if at >= 8 && at+8 <= len(rec.Data) {
		if i, ok := e.byID[e.order.Uint64(rec.Data[at:])]; ok {
			return &e.list[i]
		}
	}
	return first
}

// attrWord returns a u64 of a perf_event_attr; those of older, shorter ones are 0.
func attrWord(order binary.ByteOrder, raw []byte, at int) uint64 {
	if len(raw) < at+8 {
		return 0
	}
	return order.Uint64(raw[at:])
}

func attrHalf(order binary.ByteOrder, raw []byte, at int) uint64 {
	if len(raw) < at+4 {
		return 0
	}
	return uint64(order.Uint32(raw[at:]))
}

// eventName is what an attr says that it counts; the feature EVENT_DESC knows better.
func eventName(a *perfdata.Attr) string {
	switch t := a.Type(); t {
	case 0:
		if name := show.NameOf(hardwareEvents, a.Config()&0xffffffff); name != "" {
			return name
		}
	case 1:
		if name := show.NameOf(softwareEvents, a.Config()); name != "" {
			return name
		}
	}
	return fmt.Sprintf("type %d config %#x", a.Type(), a.Config())
}

// attr shows an event.
func (r *recordingViewer) attr(a *perfdata.Attr, i int) {
	o, order := r.Out, r.order
	if i < len(r.events.list) {
		o.Str("event", []byte(r.events.list[i].name))
	}
	o.Named("event_type", uint64(a.Type()), show.NameOf(eventTypes, uint64(a.Type())))
	o.Num("attr_bytes", uint64(len(a.Raw)))
	o.Hex("config", a.Config())
	freq := "sample_period"
	if a.Has(10) {
		freq = "sample_freq"
	}
	o.Num(freq, attrWord(order, a.Raw, attrPeriod))
	o.Words("sample_type", show.BitNames(uint64(a.SampleType()), sampleFields))
	o.Words("read_format", show.BitNames(a.ReadFormat(), readFormats))
	var flags []string
	for bit, name := range attrFlags {
		if a.Has(perfdata.AttrFlag(bit)) {
			flags = append(flags, name)
		}
	}
	o.Words("flags", flags)
	if id, ok := a.ClockID(); ok {
		o.Signed("clockid", int64(id))
		if id >= 0 {
			if name := show.NameOf(clockNames, uint64(id)); name != "" {
				o.Word("clock", name)
			}
		}
	}
	for _, f := range []struct {
		name  string
		value uint64
	}{{"branch_sample_type", a.BranchType()}, {"sample_regs_user", a.UserRegs()}, {"sample_regs_intr", a.IntrRegs()}} {
		if f.value != 0 {
			o.Hex(f.name, f.value)
		}
	}
	if v := attrHalf(order, a.Raw, attrStackUser); v != 0 {
		o.Num("sample_stack_user", v)
	}
	o.Array("ids")
	for _, id := range a.IDs {
		o.Elem(id)
	}
	o.EndArray()
}
