package count

import (
	"context"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/perfdata"
)

// Where the census of a recording does not tell enough, its samples are read again, beside
// the copying and by a reader of their own: copying lets most of a recording through
// unseen.

// A counting walk is under way.
type countingWalk struct {
	counter *Counter
	cancel  context.CancelFunc
	done    chan error
}

// Start begins to count the samples of a recording. t may be nil.
func Start(ctx context.Context, t *Counter, dumps []*model.Dump) *countingWalk {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &countingWalk{t, cancel, make(chan error, 1)}
	t.prepare(dumps)
	known := t.take(t.rec.Histogram)
	t.rec.Histogram = nil
	if known {
		w.done <- nil
		return w
	}
	go func() { w.done <- t.walk(ctx) }()
	return w
}

// Finish returns the counts. Where err says that the run has failed, it only waits for the
// reader to stop, and returns none.
func (w *countingWalk) Finish(lines []report.DumpSummary, err error) (r Result) {
	if w == nil {
		return r
	}
	if err != nil {
		w.cancel()
	}
	defer w.cancel()
	if <-w.done == nil && err == nil {
		return w.counter.result(lines)
	}
	return r
}

// walk counts all samples.
func (t *Counter) walk(ctx context.Context) error {
	t.seen = make([]seenSample, 1<<13)
	for block, err := range t.rec.In.Walk(ctx, report.PhaseNone) {
		if err != nil {
			return err
		}
		for _, rec := range block.Records() {
			if rec.Type != perfdata.RecordSample {
				continue
			}
			t.Total++
			if !recording.IsUser(rec) {
				continue
			}
			if h, ok := t.rec.Layouts.SampleHead(rec); ok {
				t.sample(h.PID, min(h.Time, recording.LatestTime), h.IP)
			}
		}
	}
	return nil
}

// A Later counts the samples of a stream, which may come before what is said of
// them: a runtime tells of its functions a little later than it runs them. Samples in no
// function wait, as many as there is room for.
type Later struct {
	*Counter
	waiting []waitingSample
}

type waitingSample struct {
	time, ip uint64
	pid      uint32
}

// maxWaiting is how many samples wait; 24 bytes each.
const maxWaiting = 1 << 16

// Sample takes in the next sample of a stream.
func (t *Later) Sample(rec perfdata.Record, layouts *perfdata.Layouts, dumps func() []*model.Dump) {
	if t == nil {
		return
	}
	t.Total++
	h, ok := layouts.SampleHead(rec)
	if !ok || !recording.IsUser(rec) {
		return
	}
	t.waiting = append(t.waiting, waitingSample{min(h.Time, recording.LatestTime), h.IP, h.PID})
	if len(t.waiting) == maxWaiting {
		t.resolve(dumps(), false)
	}
}

// resolve counts the samples that have been waiting; those in no function wait on, the
// later half of them, unless this is the end.
func (t *Later) resolve(dumps []*model.Dump, end bool) {
	t.prepare(dumps)
	kept := t.waiting[:0]
	for _, s := range t.waiting {
		if counter, _, _ := t.find(s.pid, s.time, s.ip); end || t.isFinal(counter) {
			*counter++
		} else {
			kept = append(kept, s)
		}
	}
	if n := len(kept) - maxWaiting/2; n > 0 {
		for _, s := range kept[:n] {
			counter, _, _ := t.find(s.pid, s.time, s.ip)
			*counter++
		}
		kept = append(kept[:0], kept[n:]...)
	}
	t.waiting = kept
}

// isFinal reports whether what counts a sample will not change any more.
func (t *Later) isFinal(counter *int64) bool {
	if counter == &t.elsewhere {
		return true
	}
	for _, d := range t.dumps {
		if counter == &d.resolved {
			return true
		}
	}
	return false
}

// Extend takes in the mappings of a plan from a number on. They may be of an earlier time
// than those before.
func (t *Later) Extend(p *model.Plan, from int) {
	if t == nil {
		return
	}
	for i := from; i < len(p.Mappings); i++ {
		t.add(&p.Mappings[i], &p.Objects[p.Mappings[i].Object])
	}
}

// Lacks takes in that a function has no object.
func (t *Later) Lacks(d *model.Dump, function int) {
	if t != nil {
		t.Counter.Lacks(d, function)
	}
}

// Finish returns the counts.
func (t *Later) Finish(dumps []*model.Dump, lines []report.DumpSummary) (r Result) {
	if t == nil {
		return r
	}
	t.resolve(dumps, true)
	return t.result(lines)
}
