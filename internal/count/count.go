package count

import (
	"context"
	"sync"

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

// Begin counts the samples of the address histogram in the functions of some dumps, which must not change
// afterwards, as if all had objects. It returns at once. Any goroutine may wait for the counter.
func Begin(rec *recording.Recording, functions model.Functions, dumps []*model.Dump) (wait func() *Counter) {
	began := make(chan *Counter, 1)
	go func() {
		c := Of(rec, functions)
		c.prepare(dumps)
		c.known = c.take(rec.Histogram)
		began <- c
	}()
	return sync.OnceValue(func() *Counter { return <-began })
}

// Start goes on after the objects were made. If the histogram was not enough, it begins to read all samples. c may be
// nil.
func Start(ctx context.Context, c *Counter, dumps []*model.Dump) *countingWalk {
	if c == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &countingWalk{c, dumps, cancel, make(chan error, 1)}
	if len(c.lost) > 0 {
		c.clear()
		c.known = c.take(c.rec.Histogram)
	}
	c.rec.Histogram = nil
	go func() {
		var err error
		if !c.known {
			err = c.walk(ctx)
		}
		c.attr, c.several = c.hot.mainAttr()
		c.heaviest = heaviest(c.hot.functions(c.attr))
		w.done <- err
	}()
	return w
}

// Finish returns the counts. If err says that the run has failed, it only stops the reader and
// returns none. It waits for the reader in both cases.
func (w *countingWalk) Finish(lines []report.DumpSummary, again func(report.Setting) string, err error) (r Result) {
	if w == nil {
		return r
	}
	if err != nil {
		w.cancel()
	}
	defer w.cancel()
	if <-w.done == nil && err == nil {
		return w.counter.result(w.dumps, lines, again)
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
