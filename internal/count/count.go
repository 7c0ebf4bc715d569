package count

import (
	"context"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/perfdata"
)

// If the address histogram of a recording is not enough, its samples are read again. That goes on
// beside the copying, with a reader of its own, because copying skips most of a recording.

// A countingWalk is a count of samples that is under way.
type countingWalk struct {
	counter *Counter
	dumps   []*model.Dump
	cancel  context.CancelFunc
	// done gets the result of the walk.
	done chan error
}

// Start begins to count the samples of a recording. c may be nil.
func Start(ctx context.Context, c *Counter, dumps []*model.Dump) *countingWalk {
	if c == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &countingWalk{c, dumps, cancel, make(chan error, 1)}
	c.prepare(dumps)
	known := c.take(c.rec.Histogram)
	c.rec.Histogram = nil
	if known {
		w.done <- nil
		return w
	}
	go func() { w.done <- c.walk(ctx) }()
	return w
}

// Finish returns the counts. If err says that the run has failed, it only stops the reader and
// returns none. It waits for the reader in both cases.
func (w *countingWalk) Finish(lines []report.DumpSummary, err error) (r Result) {
	if w == nil {
		return r
	}
	if err != nil {
		w.cancel()
	}
	defer w.cancel()
	if <-w.done == nil && err == nil {
		return w.counter.result(w.dumps, lines)
	}
	return r
}

// walk counts all samples.
func (c *Counter) walk(ctx context.Context) error {
	c.seen = make([]seenSample, 1<<13)
	for block, err := range c.rec.In.Walk(ctx, report.PhaseNone) {
		if err != nil {
			return err
		}
		for _, rec := range block.Records() {
			if rec.Type != perfdata.RecordSample {
				continue
			}
			attr, w := c.total(c.rec.Layouts, rec)
			if !recording.IsUser(rec) {
				continue
			}
			if h, ok := c.rec.Layouts.SampleHead(rec); ok {
				c.sample(h.PID, min(h.Time, recording.LatestTime), h.IP, attr, w)
			}
		}
	}
	return nil
}

// total counts a sample of user space or of the kernel, and returns its attr and its weight.
func (c *Counter) total(layouts *perfdata.Layouts, rec perfdata.Record) (attr int, w recording.Weight) {
	attr, w = recording.WeightOf(layouts, rec)
	c.Total++
	c.hot.events = w.AddTo(c.hot.events, attr)
	return attr, w
}

// A Later counts the samples of a stream. A runtime reports its functions a little after they
// run, so samples may precede their functions. Samples in no function wait, up to maxWaiting.
type Later struct {
	*Counter
	// waiting has the samples that are not final yet.
	waiting []waitingSample
}

// A waitingSample is a sample in user space. Its time is in nanoseconds.
type waitingSample struct {
	time, ip, period uint64
	pid, attr        uint32
}

// maxWaiting is how many samples wait; each takes 32 bytes.
const maxWaiting = 1 << 16

// Sample takes the next sample of a stream. dumps returns the dumps so far. t may be nil.
func (t *Later) Sample(rec perfdata.Record, layouts *perfdata.Layouts, dumps func() []*model.Dump) {
	if t == nil {
		return
	}
	attr, w := t.total(layouts, rec)
	h, ok := layouts.SampleHead(rec)
	if !ok || !recording.IsUser(rec) {
		return
	}
	t.waiting = append(t.waiting, waitingSample{min(h.Time, recording.LatestTime), h.IP, w.Period, h.PID, uint32(attr)})
	if len(t.waiting) == maxWaiting {
		t.resolve(dumps(), false)
	}
}

// resolve counts waiting samples. Unless this is the end, samples in no function go on waiting,
// at most maxWaiting/2 of them.
func (t *Later) resolve(dumps []*model.Dump, end bool) {
	t.prepare(dumps)
	kept := t.waiting[:0]
	for i := range t.waiting {
		s := &t.waiting[i]
		if at, _, _ := t.find(s.pid, s.time, s.ip); end || t.isFinal(at.counter) {
			t.count(s, at)
		} else {
			kept = append(kept, *s)
		}
	}
	if n := len(kept) - maxWaiting/2; n > 0 {
		for i := range kept[:n] {
			s := &kept[i]
			at, _, _ := t.find(s.pid, s.time, s.ip)
			t.count(s, at)
		}
		kept = append(kept[:0], kept[n:]...)
	}
	t.waiting = kept
}

// count counts a sample.
func (t *Later) count(s *waitingSample, at spot) {
	*at.counter++
	if w, _ := t.hot.at(at, int(s.attr)); w != nil {
		w.Add(recording.Weight{Samples: 1, Period: s.period})
	}
}

// isFinal reports whether a sample that goes to counter can be counted now.
func (t *Later) isFinal(counter *int64) bool {
	return counter == &t.elsewhere || t.resolved[counter]
}

// Extend adds the mappings of a plan from index from on. Their times may precede those of earlier
// mappings. t may be nil.
func (t *Later) Extend(p *model.Plan, from int) {
	if t == nil {
		return
	}
	for i := from; i < len(p.Mappings); i++ {
		t.add(&p.Mappings[i], &p.Objects[p.Mappings[i].Object])
	}
}

// Lacks records that a function has no object. t may be nil.
func (t *Later) Lacks(d *model.Dump, function int) {
	if t != nil {
		t.Counter.Lacks(d, function)
	}
}

// Close keeps the hottest functions of a dump that is about to be closed. dumps are those so far. t may
// be nil.
func (t *Later) Close(d *model.Dump, dumps []*model.Dump) {
	if t != nil {
		t.resolve(dumps, false)
		t.hot.keep(d)
	}
}

// Finish returns the counts. t may be nil.
func (t *Later) Finish(dumps []*model.Dump, lines []report.DumpSummary) (r Result) {
	if t == nil {
		return r
	}
	t.resolve(dumps, true)
	return t.result(dumps, lines)
}
