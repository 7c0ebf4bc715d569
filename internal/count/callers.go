package count

import (
	"context"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/perfsample"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/perfdata"
)

// Functions may be in no sample themselves and in most stacks: CPython's trampolines only call the
// interpreter, and samples of tracepoints are in the kernel. perf looks callers up as it does sampled
// addresses, so the sample counter finds them, too.

// CountCallers counts, for each dump without a sample in its functions, the stacks with one of them as
// a caller. Of a dump with functions that have no object it counts none, as these may be in stacks. It
// reads the samples once more if there is such a dump, and if samples have stacks. lines
// describe the dumps, by number. CountCallers returns the functions that most callchains pass through. The
// dumps must be open. The error is ctx's, or of reading. t may be nil.
func (c *Counter) CountCallers(ctx context.Context, dumps []*model.Dump, lines []report.DumpSummary) ([]report.HotFunction, error) {
	if c == nil || !hasStacks(c.rec) {
		return nil, nil
	}
	w := callerWalk{Counter: c, of: make(map[*int64]*report.Callers), inDump: make([]*report.Callers, len(c.dumps)), through: make(map[int]map[functionID]recording.Weight)}
	for i := range lines {
		if d := &lines[i]; d.Functions > 0 && d.Samples != nil && d.Samples.Resolved == 0 && i < len(c.dumps) && !c.LacksAny(i) {
			d.Callers = new(report.Callers)
			w.of[&c.dumps[i].resolved], w.inDump[i] = d.Callers, d.Callers
		}
	}
	if len(w.of) == 0 {
		return nil, nil
	}
	for block, err := range c.rec.In.Walk(ctx, report.PhaseNone) {
		if err != nil {
			return nil, err
		}
		for _, rec := range block.Records() {
			if rec.Type == perfdata.RecordSample {
				w.sample(rec)
			}
		}
	}
	attr, most := 0, int64(-1)
	for i, functions := range w.through {
		n := int64(0)
		for _, f := range functions {
			n += f.Samples
		}
		if n > most || n == most && i < attr {
			attr, most = i, n
		}
	}
	if most < 0 {
		return nil, nil
	}
	return c.hottestCallers(dumps, attr, w.through[attr]), nil
}

// A callerWalk is a count of stacks that is under way.
type callerWalk struct {
	*Counter
	of     map[*int64]*report.Callers // by the counter of samples in functions
	inDump []*report.Callers          // by the number of the dump; nil for those that need none

	decoded perfdata.Sample
	refs    perfsample.Refs
	found   map[*report.Callers]bool // in the stack
	passed  []functionID             // in the callchain
	// through has, by attr, the samples with callchains through functions of their own dumps.
	through map[int]map[functionID]recording.Weight
}

// sample counts the stacks of a SAMPLE record. Unreadable ones do not count.
func (w *callerWalk) sample(rec perfdata.Record) {
	s := &w.decoded
	if w.rec.Layouts.DecodeSample(rec, perfdata.FieldCallchain, s) != nil {
		return
	}
	time := min(s.Time, recording.LatestTime)
	if s.Fields&perfdata.FieldTime == 0 {
		time = recording.LatestTime
	}
	in := w.programs.at(s.PID, time)
	if in == nil || w.inDump[in.dump] == nil {
		return
	}
	own := w.inDump[in.dump]
	look := func(ip uint64) {
		at, _, _ := w.find(s.PID, time, ip)
		c := w.of[at.counter]
		if c == nil {
			return
		}
		w.found[c] = true
		if c == own && !slices.Contains(w.passed, at.function) {
			w.passed = append(w.passed, at.function)
		}
	}
	w.found, w.passed = make(map[*report.Callers]bool, 1), w.passed[:0]
	isUser, hasUser := false, false
	for _, ip := range s.Callchain {
		if ip >= perfdata.ContextMin {
			isUser = ip == perfdata.ContextUser
		} else if isUser {
			hasUser = true
			look(ip)
		}
	}
	if hasUser {
		own.Stacks++
		if w.found[own] {
			own.With++
			w.pass(rec)
		}
	}
	if w.refs.Read(w.rec.Layouts, rec) != nil || len(w.refs.Stack()) == 0 {
		return
	}
	clear(w.found)
	own.Copies++
	lo, hi := w.bounds(s.PID)
	for _, word := range w.refs.StackWithin(nil, lo, hi) {
		look(word)
	}
	if w.found[own] {
		own.Words++
	}
}

// pass counts a sample for the functions in its callchain.
func (w *callerWalk) pass(rec perfdata.Record) {
	attr, weight := recording.WeightOf(w.rec.Layouts, rec)
	if w.through[attr] == nil {
		w.through[attr] = make(map[functionID]recording.Weight)
	}
	for _, f := range w.passed {
		sum := w.through[attr][f]
		sum.Add(weight)
		w.through[attr][f] = sum
	}
}

// bounds returns the lowest and the highest address that may be in a function of a process, or of one
// that it comes from.
func (w *callerWalk) bounds(pid uint32) (lo, hi uint64) {
	p := w.Processes[pid]
	if p == nil || len(p.code) == 0 {
		return 0, 1<<63 - 1 // inherited
	}
	if p.last == 0 {
		p.first = math.MaxUint64
		for page := range p.code {
			p.first, p.last = min(p.first, page*counterPage), max(p.last, page*counterPage+counterPage-1)
		}
	}
	return p.first, p.last
}

// hasStacks reports whether samples have callchains or copies of stacks.
func hasStacks(rec *recording.Recording) bool {
	return rec.CopiesStacks() || slices.ContainsFunc(rec.Attrs, func(a perfdata.Attr) bool { return a.SampleType()&perfdata.FieldCallchain != 0 })
}
