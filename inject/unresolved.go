package inject

import (
	"fmt"
	"math"
)

// reportUnresolved says of which dumps no function has a sample, although samples are in
// JIT memory of their processes, and what speaks for the cause. t is the counter of the
// samples, or nil.
func (rec *recording) reportUnresolved(dumps []*dump, t *tally, sum *Summary) {
	if t == nil || sum.Samples == nil {
		return
	}
	for _, d := range dumps {
		s := &sum.Dumps[d.number]
		if s.Samples == nil || s.Samples.Resolved > 0 || s.Samples.InJIT < fewStrays ||
			s.Cut >= 0 || s.Nowhere > 0 || t.lacksAny(d.number) { // which have problems of their own
			continue
		}
		sum.problem(Problem{File: d.path, Offset: -1,
			Text:   fmt.Sprintf("none of the %s of process %d in JIT memory is in one of its functions: %s", samplesOf(s.Samples.InJIT), d.pid, d.whyUnresolved(rec)),
			Advice: adviceVerify(sum.Input, d.path)})
	}
}

// lacksAny reports whether functions of a dump have no object. dump is its number.
func (t *tally) lacksAny(dump int) bool {
	for f := range t.lost {
		if int(f.dump) == dump {
			return true
		}
	}
	return false
}

// whyUnresolved says why samples are in none of the dump's functions.
func (d *dump) whyUnresolved(rec *recording) string {
	first, last := uint64(math.MaxUint64), uint64(0)
	events := d.source.Scanned().Events
	for i := range events {
		t := d.clock(events[i].Time)
		first, last = min(first, t), max(last, t)
	}
	switch {
	case len(events) == 0:
		return "it has none"
	case !rec.in.once && first > rec.latest:
		return fmt.Sprintf("they are loaded from %s s to %s s, and the recording ends at %s s; their times are of another clock or unit, or it is another run's dump",
			seconds(first), seconds(last), seconds(rec.latest))
	}
	return "they lie elsewhere, or were loaded later; it may be another run's dump"
}
