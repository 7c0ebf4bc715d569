package plan

import (
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/sorting"
)

// A replacer follows which functions each process has, and clears them.
type replacer struct {
	*placer
	owners   *places        // the indexes of mappings
	lateness []uint64       // of dumps: see latenessOf
	own      map[uint32]int // the first mapping of each process
	cleared  []model.Mapping
	most     int  // of cleared, one by one
	more     bool // there were more
}

// Each of thousands of children may replace each function of their parent. fewCleared and clearedPerMapping bound how
// many are cleared one by one. After that, memory clears all of its addresses at once, and no part of a file is cleared.
const (
	fewCleared        = 1 << 15
	clearedPerMapping = 1
)

// replace clears functions where other memory comes in their place, in their own process or in a child that
// inherited them. Only functions that were surely loaded before that are cleared. Where memory comes in place
// of a file, it clears the file: its own record is dropped. Mappings must be in the order of their times.
func (p *placer) replace(replacements []recording.Replacement) {
	if len(replacements) == 0 {
		return
	}
	r := &replacer{placer: p, owners: newPlaces(&p.rec.ProcessTree), lateness: make([]uint64, len(p.dumps)), own: make(map[uint32]int), most: fewCleared + clearedPerMapping*len(p.Mappings)}
	for i, d := range p.dumps {
		r.lateness[i] = latenessOf(d)
	}
	for i := range slices.Backward(p.Mappings) {
		r.own[p.Mappings[i].PID] = i
	}
	next := 0
	for _, by := range replacements {
		for ; next < len(p.Mappings) && p.Mappings[next].Time < by.Time; next++ {
			m, owner := &p.Mappings[next], next
			if m.Clear {
				owner = nothing
			}
			r.owners.Of(m.PID, m.Time).Place(m.Addr, m.Addr+m.Len, owner)
		}
		r.clear(by, r.owners.Of(by.PID, by.Time))
	}
	if r.more {
		p.found(manyReplaced, "", r.most)
	}
	// Functions that are loaded at the same time come after it.
	p.Mappings = append(r.cleared, p.Mappings...)
	sorting.Stable(p.Mappings, byTimeOfMapping)
}

// clear adds the mappings that clear what a process has where memory comes.
func (r *replacer) clear(by recording.Replacement, has *addrs.Owners) {
	if len(r.cleared) > r.most {
		r.clearAtOnce(by, has)
		return
	}
	any, ok := r.own[by.PID]
	if t, inherits := has.Next(0); !ok && inherits && t.Owner != nothing {
		any, ok = t.Owner, true
	}
	lo := by.Lo
	file := func(hi uint64) { // clears the file from lo on
		if by.OfFile && ok && lo < hi {
			r.add(by, lo, hi, any)
		}
	}
	for _, t := range has.Within(by.Lo, by.Hi) {
		if t.Owner == nothing {
			continue
		}
		m := &r.Mappings[t.Owner]
		lateness := r.lateness[r.List[m.Object].Dump.Number]
		switch {
		case by.OfFile && m.Time <= by.FileTime && by.FileTime-m.Time >= lateness: // the file hides it
		case by.OfFile:
			file(t.Lo)
			lo = t.Hi
		case by.Time-m.Time >= lateness:
			has.Place(t.Lo, t.Hi, nothing)
			r.add(by, t.Lo, t.Hi, t.Owner)
		}
	}
	file(by.Hi)
}

// clearAtOnce clears all that a process has where memory comes, if the first function there was loaded before that.
func (r *replacer) clearAtOnce(by recording.Replacement, has *addrs.Owners) {
	owner := nothing
	has.Each(by.Lo, by.Hi, func(t addrs.Tenancy) bool {
		owner = t.Owner
		return owner == nothing
	})
	if owner == nothing {
		return
	}
	r.more = true
	if m := &r.Mappings[owner]; !by.OfFile && by.Time-m.Time >= r.lateness[r.List[m.Object].Dump.Number] {
		has.Place(by.Lo, by.Hi, nothing)
		r.add(by, by.Lo, by.Hi, owner)
	}
}

// add adds a mapping that clears a range. owner is a function of the process.
func (r *replacer) add(by recording.Replacement, lo, hi uint64, owner int) {
	r.cleared = append(r.cleared, model.Mapping{Time: by.Time, PID: by.PID, TID: by.PID, Addr: lo, Len: hi - lo, Object: r.Mappings[owner].Object, Clear: true})
}

// latenessOf returns by how much functions of a dump may have been loaded later than their times say, in
// nanoseconds; it is the highest number if that is not known.
func latenessOf(d *model.Dump) uint64 {
	switch {
	case d.Match.Kind == report.ClockGiven:
		return 0
	case !d.HasTimes() || d.Match.Error < 0:
		return math.MaxUint64
	}
	return uint64(d.Match.Error)
}
