package inject

import (
	"context"

	"github.com/jitinject/jitinject/perfdata"
)

// Where the census of a recording does not tell enough, its samples are read again, beside
// the copying and by a reader of their own: copying lets most of a recording through
// unseen.

// A counting walk is under way.
type countingWalk struct {
	tally  *tally
	cancel context.CancelFunc
	done   chan error
}

// startCount begins to count the samples of a recording. t may be nil.
func startCount(ctx context.Context, t *tally, dumps []*dump) *countingWalk {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &countingWalk{t, cancel, make(chan error, 1)}
	t.prepare(dumps)
	known := t.take(t.rec.census)
	t.rec.census = nil
	if known {
		w.done <- nil
		return w
	}
	go func() { w.done <- t.walk(ctx) }()
	return w
}

// finish puts the counts into a summary. Where err says that the run has failed, it only
// waits for the reader to stop.
func (w *countingWalk) finish(sum *Summary, err error) {
	if w == nil {
		return
	}
	if err != nil {
		w.cancel()
	}
	defer w.cancel()
	if <-w.done == nil && err == nil {
		w.tally.report(sum)
	}
}

// isUser reports whether a record is of user space. PERF_RECORD_MISC_CPUMODE_MASK is 7.
func isUser(rec perfdata.Record) bool { return rec.Misc&7 == perfdata.MiscUser }

// walk counts all samples.
func (t *tally) walk(ctx context.Context) error {
	t.seen = make([]seenSample, 1<<13)
	for block, err := range t.rec.in.walk(ctx, phaseNone) {
		if err != nil {
			return err
		}
		for _, rec := range block.Records() {
			if rec.Type != perfdata.RecordSample {
				continue
			}
			t.total++
			if !isUser(rec) {
				continue
			}
			if pid, ip, time, ok := t.rec.layouts.SamplePlace(rec); ok {
				t.sample(pid, min(time, latestTime), ip)
			}
		}
	}
	return nil
}

// latestTime stands for that of samples without.
const latestTime = 1<<64 - 2

// A laterTally counts the samples of a stream, which may come before what is said of
// them: a runtime tells of its functions a little later than it runs them. Samples in no
// function wait, as many as there is room for.
type laterTally struct {
	*tally
	waiting []waitingSample
}

type waitingSample struct {
	time, ip uint64
	pid      uint32
}

// maxWaiting is how many samples wait; 24 bytes each.
const maxWaiting = 1 << 16

// sample takes in the next sample of a stream.
func (t *laterTally) sample(rec perfdata.Record, layouts *perfdata.Layouts, dumps func() []*dump) {
	if t == nil {
		return
	}
	t.total++
	pid, ip, time, ok := layouts.SamplePlace(rec)
	if !ok || !isUser(rec) {
		return
	}
	t.waiting = append(t.waiting, waitingSample{min(time, latestTime), ip, pid})
	if len(t.waiting) == maxWaiting {
		t.settle(dumps(), false)
	}
}

// settle counts the samples that have been waiting; those in no function wait on, the
// later half of them, unless this is the end.
func (t *laterTally) settle(dumps []*dump, end bool) {
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
func (t *laterTally) isFinal(counter *int64) bool {
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

// extend takes in the mappings of a plan from a number on. They may be of an earlier time
// than those before.
func (t *laterTally) extend(p *plan, from int) {
	if t == nil {
		return
	}
	for i := from; i < len(p.mappings); i++ {
		t.add(&p.mappings[i], &p.objects[p.mappings[i].object])
	}
}

// lacks takes in that a function has no object.
func (t *laterTally) lacks(d *dump, function int) {
	if t != nil {
		t.tally.lacks(d, function)
	}
}

// finish puts the counts into a summary.
func (t *laterTally) finish(dumps []*dump, sum *Summary) {
	if t != nil {
		t.settle(dumps, true)
		t.report(sum)
	}
}
