package calltrace

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/output"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/perfdata"
)

// A Sink inserts the calls of traces between the records that are written to it, by time. It also
// gives these records the form that they need beside the new events.
//
// A sample goes before the first record that is later. So it is never older than anything before
// it, and promises of FINISHED_ROUND stay true. It also comes after the mapping of its function,
// however small the distance.
type Sink struct {
	output.Sink
	base    output.Sink // the sink for features
	ctx     context.Context
	rec     *recording.Recording
	form    *traceForm
	feeds   []*traceFeed
	heap    []*traceFeed // feeds; the first has the earliest sample that waits, of the first trace
	next    uint64       // its time
	unsaid  int          // flushes since progress was reported
	buf     []byte
	first   uint64 // times of samples
	last    uint64
	traces  *Traces
	args    []byte
	chain   []uint64
	dropped int64 // number of records without room for an id
}

// A traceFeed is a trace that is being inserted.
type traceFeed struct {
	*track
	merger      *calls.Merger
	event       *calls.Event // the next event; nil at the end
	time        uint64       // of the event, by the recording's clock; the highest at the end
	calls, says *traceEvent
	made        []calls.SyntheticThread // synthetic threads without a COMM record so far
	sum         *report.TraceSummary
}

const (
	// maxChain bounds the calls of a callchain. It is the kernel's default
	// (/proc/sys/kernel/perf_event_max_stack), and perf shows no more, either.
	maxChain = 127

	// outerChain is how many of them are the outermost, if there are more calls. So the time
	// of a function's callees still counts for it, however deep they are.
	outerChain = 63

	// seam is how many of the innermost calls may be dropped as well. Then the last of the
	// outermost calls did call the first of the others.
	seam = 32
)

// NewSink returns the sink for a result with traces in it. level is that of compression, 0 for
// none.
func NewSink(ctx context.Context, rec *recording.Recording, traces *Traces, out *output.Output, level int) (output.Sink, error) {
	form, err := newTraceForm(rec, traces.tracks)
	if err != nil {
		return nil, err
	}
	in := *rec.In
	in.File = form.file(rec, out.Stream)
	base, err := output.NewPlain(&in, out)
	if err != nil {
		return nil, err
	}
	s := &Sink{Sink: base, base: base, ctx: ctx, rec: rec, form: form, traces: traces, next: math.MaxUint64, first: math.MaxUint64}
	if level != 0 {
		if s.Sink, err = output.NewPackedSink(base, rec.In.Order, level); err != nil {
			return nil, err
		}
	}
	for _, t := range traces.tracks {
		threads, err := t.Threads(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", quote.Printable(t.Path()), err)
		}
		f := &traceFeed{track: t, merger: calls.NewMerger(threads), sum: &traces.Summaries[t.number]}
		for i := range form.events {
			switch e := &form.events[i]; e.name {
			case t.event:
				f.calls = e
			case t.event + notesSuffix:
				f.says = e
			}
		}
		if m, ok := t.Trace.(calls.Synthesizer); ok {
			f.made = m.SyntheticThreads()
			f.sum.Unknown = len(f.made)
		}
		f.advance()
		s.feeds = append(s.feeds, f)
	}
	s.heap = slices.Clone(s.feeds)
	for i := range slices.Backward(s.heap) {
		s.down(i)
	}
	return s, nil
}

// advance reads the next event.
func (f *traceFeed) advance() {
	var err error
	if f.event, err = f.merger.Next(); err != nil {
		f.event, f.time = nil, math.MaxUint64
		return
	}
	f.time = min(f.clock(f.event.Time), recording.LatestTime)
}

// down moves a feed down in the heap to its place, and sets the time of the first.
func (s *Sink) down(i int) {
	for least := i; ; i = least {
		for c := 2*i + 1; c <= 2*i+2 && c < len(s.heap); c++ {
			if a, b := s.heap[c], s.heap[least]; a.time < b.time || a.time == b.time && a.number < b.number {
				least = c
			}
		}
		if least == i {
			s.next = s.heap[0].time
			return
		}
		s.heap[i], s.heap[least] = s.heap[least], s.heap[i]
	}
}

// Write writes whole records.
func (s *Sink) Write(p []byte) (int, error) {
	block := perfdata.BlockOf(p, s.rec.In.Order)
	needed := s.form.relay.needed
	run := 0
	for at, rec := range block.Records() {
		if time, ok := s.rec.Layouts.Time(rec); ok {
			if time > s.next {
				if !needed {
					s.put(p[run:at])
					run = at
				}
				s.samplesBefore(time)
			}
			if rec.Type == perfdata.RecordSample {
				s.first, s.last = min(s.first, time), max(s.last, time)
			}
		}
		if needed {
			s.relay(rec)
		}
	}
	if !needed {
		s.put(p[run:])
	}
	s.flushBuf()
	return len(p), s.Err()
}

// relay appends a record in its new form.
func (s *Sink) relay(rec perfdata.Record) {
	var err error
	if s.buf, err = s.form.relay.append(s.buf, rec); err != nil {
		s.dropped++
	}
	if len(s.buf) > output.MaxHeld {
		s.flushBuf()
	}
}

// put writes records unchanged, after those that wait.
func (s *Sink) put(p []byte) {
	s.flushBuf()
	if len(p) > 0 {
		s.Sink.Write(p)
	}
}

// flushBuf writes the records that wait.
func (s *Sink) flushBuf() {
	s.Progressed()
	if len(s.buf) > 0 {
		s.Sink.Write(s.buf)
		s.buf = s.buf[:0]
	}
}

// samplesBefore inserts the samples that are older than a time, or all for the highest time.
func (s *Sink) samplesBefore(time uint64) {
	for s.next < time || s.next != math.MaxUint64 && time == math.MaxUint64 {
		f := s.heap[0]
		if f.made != nil {
			s.nameThreads(f)
		}
		s.sample(f)
		switch {
		case f.time < s.rec.Earliest:
			f.sum.Early++
		case time == math.MaxUint64:
			f.sum.Late++
		}
		f.advance()
		s.down(0)
		if len(s.buf) > output.MaxHeld {
			s.flushBuf()
			if s.Err() != nil {
				return
			}
		}
	}
}

// Progressed reports how far the traces have been read, once for as many calls as there are traces.
func (s *Sink) Progressed() {
	if s.unsaid++; s.unsaid < len(s.feeds) {
		return
	}
	s.unsaid = 0
	var done, total int64
	for _, f := range s.feeds {
		if m, ok := f.Trace.(calls.Meter); ok {
			d, t := m.Read()
			done, total = done+d, total+t
		}
	}
	s.rec.In.Progress.ReadBeside(done, total)
}

// nameThreads appends COMM records of threads that the recording does not have.
func (s *Sink) nameThreads(f *traceFeed) {
	trailer := perfdata.TrailerOf(output.TrackingAttr(s.form.attrs))
	for _, m := range f.made {
		s.buf = perfdata.AppendComm(s.buf, s.rec.In.Order, &perfdata.Comm{PID: f.PID(), TID: m.TID, Name: []byte(m.Name)}, f.time, &trailer)
	}
	f.made = nil
}

// sample appends the sample of a feed's next event.
func (s *Sink) sample(f *traceFeed) {
	e := f.event
	event := f.calls
	n := perfdata.NewSample{
		PID: f.PID(), TID: e.TID, Time: f.time, CPU: e.CPU, Period: e.Exclusive, Stack: e.Stack,
	}
	if len(n.Stack) > 0 {
		n.IP = n.Stack[len(n.Stack)-1]
	}
	if len(n.Stack) > maxChain {
		s.chain = bothEnds(s.chain[:0], n.Stack)
		n.Stack = s.chain
		f.sum.Cut++
	}
	switch {
	case e.Kind == calls.Note && f.says == nil: // the trace announced that it has no notes
		return
	case e.Kind == calls.Note:
		event = f.says
		n.Addr, n.Period, n.Raw = uint64(e.Type), 1, e.Payload
		if len(n.Raw) > perfdata.MaxRaw {
			f.sum.CutNotes++
		}
	case len(e.Args) > 0:
		s.args = s.args[:0]
		for _, a := range e.Args {
			s.args = append(s.args, 0, 0, 0, 0, 0, 0, 0, 0)
			s.rec.In.Order.PutUint64(s.args[len(s.args)-8:], a)
		}
		n.Raw = s.args
	}
	n.ID = event.attr.IDs[0]
	s.buf = perfdata.AppendSample(s.buf, s.rec.In.Order, event.fields, &n)
	s.first, s.last = min(s.first, n.Time), max(s.last, n.Time)
}

// bothEnds appends the outermost and the innermost calls of a stack that is longer than maxChain.
// Deep stacks are mostly recursions: if possible, it drops whole turns of them.
func bothEnds(to, stack []uint64) []uint64 {
	from := len(stack) - (maxChain - outerChain)
	for i := from; i < from+seam; i++ {
		if stack[i-1] == stack[outerChain-1] {
			from = i
			break
		}
	}
	return append(append(to, stack[:outerChain]...), stack[from:]...)
}

// Err returns the error of the context or of writing. The context matters because there may be
// many samples between two records.
func (s *Sink) Err() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	return s.Sink.Err()
}

// Offset returns the offset after the records that wait.
func (s *Sink) Offset() int64 {
	s.flushBuf()
	return s.Sink.Offset()
}

// Finish inserts the remaining samples and finishes the result.
func (s *Sink) Finish(buildIDs output.Extend, aux func([]byte) []byte) error {
	s.samplesBefore(math.MaxUint64)
	s.flushBuf()
	if err := s.Err(); err != nil {
		return err
	}
	for _, f := range s.feeds {
		s.traces.report(f.track, f.merger.Counts(), f.merger.Errs())
	}
	if s.dropped > 0 {
		s.traces.Found.Problem(report.Problem{Code: report.ProblemRecording, File: s.rec.In.Path, Offset: -1, Text: fmt.Sprintf("%d of its records have the maximum length, and no room for the id that they need beside the new events; they are left out", s.dropped),
			Advice: "record with smaller stacks or traces in samples, or inject without the trace"})
	}
	s.setSampleTime()
	return s.Sink.Finish(buildIDs, aux)
}

// setSampleTime sets the feature SAMPLE_TIME to the times of the first and last samples: u64
// first, last.
func (s *Sink) setSampleTime() {
	setter, ok := s.base.(output.FeatureSetter)
	if !ok || s.last == 0 || s.rec.In.File.Feature(perfdata.FeatureSampleTime) == nil {
		return
	}
	var content [16]byte
	order := s.rec.In.Order
	order.PutUint64(content[:], s.first)
	order.PutUint64(content[8:], s.last)
	setter.SetFeature(perfdata.NewFeature(perfdata.FeatureSampleTime, content[:]))
}
