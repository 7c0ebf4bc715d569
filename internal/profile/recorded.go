package profile

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"time"

	"github.com/jitinject/jitinject/internal/known"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/perfdata"
)

// A recorded is what the recording itself says: all that perf script does not print, or prints
// ambiguously.
type recorded struct {
	about   Recording
	clock   perfdata.ClockData
	changed time.Time // of the file
	events  []string  // names of the events, without those that only perf uses
	samples uint64
	precise bool                // an event has precise addresses
	fields  perfdata.SampleType // that the samples of all events have
	threads threadNames
	spaces  spaces
	kernel  map[string]bool // names of mappings of the kernel and its modules

	buildIDs map[string]string // of files, as bytes
}

// readRecording walks a recording once.
func readRecording(ctx context.Context, opts *Options) (*recorded, error) {
	in, err := recording.OpenResult(opts.Command, opts.Path, opts.Force)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	state, err := recording.New(in)
	if err != nil {
		return nil, recording.Error(in.Path, err)
	}
	rec := &recorded{fields: perfdata.AllFields, changed: in.Info.ModTime(), kernel: make(map[string]bool), buildIDs: make(map[string]string)}
	for i := range in.File.Features {
		f := &in.File.Features[i]
		if !isRead(f.ID) {
			continue
		}
		content, err := f.Bytes()
		if err != nil {
			return nil, recording.Error(in.Path, err)
		}
		rec.addFeature(in.Order, f.ID, content)
	}
	walked := 0
	for r, err := range perfdata.Records(in.Blocks()) {
		if err != nil {
			return nil, recording.Error(in.Path, err)
		}
		if walked++; walked%(1<<16) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rec.add(state.Layouts, r)
	}
	rec.describe(state)
	return rec, nil
}

// describe adds what the header says of the events and of the run.
func (rec *recorded) describe(state *recording.Recording) {
	for i, name := range state.EventNames() {
		rec.addAttr(&state.Attrs[i], state.In.Order)
		if name != "" { // of a damaged list, perf script has the names
			rec.events = append(rec.events, name)
		}
	}
	rec.about.Host, rec.about.Arch = state.Hostname, state.Machine
	var words []string
	for _, arg := range known.Typed(state.Cmdline) {
		words = append(words, quote.ShellWord(arg))
	}
	rec.about.Command = strings.Join(words, " ")
	if state.ClockData != nil {
		rec.clock = *state.ClockData
	}
}

// flagFreq is the bit freq of perf_event_attr: sample_freq has the number of samples per second, and
// not the period [perf_event.h].
const flagFreq perfdata.AttrFlag = 10

// addAttr notes what an event says about all samples.
func (rec *recorded) addAttr(a *perfdata.Attr, order binary.ByteOrder) {
	rec.fields &= a.SampleType()
	rec.precise = rec.precise || a.Has(flagPrecise) || a.Has(flagPreciseTop)
	isDummy := a.Type() == perfdata.TypeSoftware && a.Config() == perfdata.ConfigDummy
	if rec.about.Frequency == 0 && !isDummy && a.Has(flagFreq) && len(a.Raw) >= 24 {
		rec.about.Frequency = order.Uint64(a.Raw[16:]) // sample_freq
	}
}

// isRead reports whether addFeature knows a feature. The others may be large.
func isRead(id perfdata.FeatureID) bool {
	switch id {
	case perfdata.FeatureOSRelease, perfdata.FeatureVersion, perfdata.FeatureCPUDesc, perfdata.FeatureBuildID:
		return true
	}
	return false
}

func (rec *recorded) addFeature(order binary.ByteOrder, id perfdata.FeatureID, content []byte) {
	about := &rec.about
	switch id {
	case perfdata.FeatureOSRelease:
		about.Kernel = perfdata.Text(order, content)
	case perfdata.FeatureVersion:
		about.Perf = perfdata.Text(order, content)
	case perfdata.FeatureCPUDesc:
		about.CPU = perfdata.Text(order, content)
	case perfdata.FeatureBuildID:
		for e, err := range perfdata.BuildIDs(order, content) {
			if err == nil { // perf script reads the table, too, and reports what is wrong
				rec.setBuildID(e.Filename, e.BuildID)
			}
		}
	}
}

// add adds a record. Damaged ones are left out: perf script shows what perf can do with them.
func (rec *recorded) add(layouts *perfdata.Layouts, r perfdata.Record) {
	time, _ := layouts.Time(r)
	switch r.Type {
	case perfdata.RecordSample:
		rec.samples++
	case perfdata.RecordLost: // u64 id, lost
		if len(r.Data) >= 24 {
			rec.about.Lost += layouts.Order().Uint64(r.Data[16:])
		}
	case perfdata.RecordLostSamples: // u64 lost
		if len(r.Data) >= 16 {
			rec.about.Lost += layouts.Order().Uint64(r.Data[8:])
		}
	case perfdata.RecordComm:
		if c, err := layouts.Comm(r); err == nil {
			rec.threads.name(threadID{c.PID, c.TID}, time, string(c.Name))
		}
	case perfdata.RecordFork:
		if t, err := layouts.Task(r); err == nil {
			rec.threads.fork(threadID{t.PID, t.TID}, threadID{t.ParentPID, t.ParentTID}, t.Time)
			if t.PID != t.ParentPID {
				rec.spaces.fork(t.PID, t.ParentPID)
			}
		}
	case perfdata.RecordMmap, perfdata.RecordMmap2:
		m, err := layouts.Mmap(r)
		if err != nil {
			return
		}
		if m.OfKernel() {
			rec.kernel[string(m.Filename)] = true
		}
		rec.setBuildID(m.Filename, m.BuildID)
		rec.spaces.add(&m, time)
	}
}

// setBuildID notes the build id of a file, without the padding of ids that are shorter than 20 bytes.
func (rec *recorded) setBuildID(file, id []byte) {
	if id = bytes.TrimRight(id, "\x00"); len(id) > 1 {
		rec.buildIDs[string(file)] = string(id)
	}
}

// A threadID names a thread.
type threadID struct{ pid, tid uint32 }
