package calltrace

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/perfdata"
)

// This file determines what a recording says of the events that are put into it.

// callFields are the fields of a sample that stands for a call. CPU and RAW are added where the
// trace has them.
const callFields = perfdata.FieldIdentifier | perfdata.FieldIP | perfdata.FieldTID | perfdata.FieldTime | perfdata.FieldPeriod | perfdata.FieldCallchain

// noteFields are the fields of a sample that stands for a note: ADDR is its type.
const noteFields = callFields | perfdata.FieldAddr | perfdata.FieldRaw

// A traceEvent is an event that is put into the recording, for all traces of its name.
type traceEvent struct {
	name   string
	fields perfdata.SampleType
	attr   perfdata.Attr
}

// A traceForm is the new form of the recording's events.
type traceForm struct {
	relay *relay
	attrs []perfdata.Attr // all events, the new ones last
	// names are the names of attrs.
	names  []string
	events []traceEvent
}

// notesSuffix is appended to the name of the event for calls to get that for notes.
const notesSuffix = "-notes"

// newTraceForm adds two events for each name of a trace: one for calls and, if the program wrote
// messages, one for notes.
func newTraceForm(rec *recording.Recording, traces []*track) (*traceForm, error) {
	r, err := newRelay(rec.In.Order, rec.Attrs)
	if err != nil {
		return nil, err
	}
	f := &traceForm{relay: r, attrs: slices.Clone(r.attrs), names: eventNames(rec)}
	var names []string
	for _, t := range traces {
		if !slices.Contains(names, t.event) {
			names = append(names, t.event)
		}
	}
	ids := r.freeIDs(2 * len(names))
	for i, name := range names {
		fields, notes := callFields, false
		for _, t := range traces {
			if t.event != name {
				continue
			}
			if t.HasCPU() {
				fields |= perfdata.FieldCPU
			}
			d, ok := t.Trace.(calls.Describer)
			if ok && d.HasArgs() {
				fields |= perfdata.FieldRaw
			}
			notes = notes || !ok || d.HasNotes()
		}
		f.add(rec, name, perfdata.ConfigDummy, fields, ids[2*i])
		if notes {
			f.add(rec, name+notesSuffix, perfdata.ConfigBPFOutput, noteFields|fields, ids[2*i+1])
		}
	}
	return f, nil
}

// add adds an event.
func (f *traceForm) add(rec *recording.Recording, name string, config uint64, fields perfdata.SampleType, id uint64) {
	attr := perfdata.NewAttr(rec.In.Order, &rec.Attrs[0], config, fields, id)
	f.events = append(f.events, traceEvent{name, fields, attr})
	f.attrs = append(f.attrs, attr)
	f.names = append(f.names, name)
}

// eventDesc returns the feature that names the events.
func (f *traceForm) eventDesc(rec *recording.Recording) perfdata.Feature {
	events := make([]perfdata.NamedEvent, len(f.attrs))
	for i := range f.attrs {
		events[i] = perfdata.NamedEvent{Attr: f.attrs[i], Name: f.names[i]}
	}
	return perfdata.NewFeature(perfdata.FeatureEventDesc, perfdata.AppendEventDesc(nil, rec.In.Order, events))
}

// file returns the header of a file with the new events. For a result in pipe format it omits the
// time of the last sample, which is not known yet.
func (f *traceForm) file(rec *recording.Recording, stream bool) *perfdata.File {
	file := *rec.In.File
	file.Attrs = f.attrs
	file.Features = slices.DeleteFunc(slices.Clone(file.Features), func(have perfdata.Feature) bool {
		return stream && have.ID == perfdata.FeatureSampleTime
	})
	file.Features = perfdata.SetFeature(file.Features, f.eventDesc(rec))
	return &file
}

// An event is the type and the number of an event in perf_event_attr.
type event struct {
	typ    uint32
	config uint64
}

// eventNames returns the names of the events. Where the recording has none, it is the name that perf
// would use, or else consists of numbers.
func eventNames(s *recording.Recording) []string {
	usual := map[event]string{
		{0, 0}: "cycles", {0, 1}: "instructions", {0, 2}: "cache-references", {0, 3}: "cache-misses", {0, 4}: "branches", {0, 5}: "branch-misses",
		{1, 0}: "cpu-clock", {1, 1}: "task-clock", {1, 2}: "page-faults", {1, 3}: "context-switches", {1, 9}: "dummy", {1, 10}: "bpf-output",
	}
	names := s.EventNames()
	for i := range names {
		e := event{s.Attrs[i].Type(), s.Attrs[i].Config()}
		names[i] = cmp.Or(names[i], usual[e], fmt.Sprintf("type-%d-config-%#x", e.typ, e.config))
	}
	return names
}
