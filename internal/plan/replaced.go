package plan

import (
	"slices"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
)

// replace clears functions where other memory comes in their place, in their own process or in a child that
// inherited them. Only functions that were surely loaded before that are cleared. Mappings must be in the
// order of their times.
func (p *placer) replace(replacements []recording.Replacement) {
	if len(replacements) == 0 {
		return
	}
	slack := make([]uint64, len(p.dumps))
	timed := make([]bool, len(p.dumps))
	for i, d := range p.dumps {
		slack[i], timed[i] = latenessOf(d)
	}
	owners := newPlaces(&p.rec.ProcessTree)
	var cleared []model.Mapping
	next := 0
	load := func(time uint64) {
		for ; next < len(p.Mappings) && p.Mappings[next].Time < time; next++ {
			if m := &p.Mappings[next]; m.Clear || timed[p.List[m.Object].Dump.Number] {
				owners.Of(m.PID, m.Time).Place(m.Addr, m.Addr+m.Len, next)
			}
		}
	}
	for _, r := range replacements {
		load(r.Time)
		had := owners.Of(r.PID, r.Time)
		for _, t := range had.Within(r.Lo, r.Hi) {
			if t.Owner == nothing {
				continue
			}
			m := p.Mappings[t.Owner]
			if m.Clear || r.Time-m.Time < slack[p.List[m.Object].Dump.Number] {
				continue
			}
			had.Place(t.Lo, t.Hi, nothing)
			cleared = append(cleared, model.Mapping{Time: r.Time, PID: r.PID, TID: r.PID, Addr: t.Lo, Len: t.Hi - t.Lo, Object: m.Object, Clear: true})
		}
	}
	// What is loaded at the same time comes after it.
	p.Mappings = append(cleared, p.Mappings...)
	slices.SortStableFunc(p.Mappings, byTimeOfMapping)
}

// latenessOf returns by how much functions of a dump may have been loaded later than their times say, in
// nanoseconds. ok is false if that is not known.
func latenessOf(d *model.Dump) (lateness uint64, ok bool) {
	switch {
	case !hasTimes(d):
		return 0, false
	case d.Match.Kind == report.ClockGiven:
		return 0, true
	}
	return uint64(d.Match.Error), d.Match.Error >= 0
}
