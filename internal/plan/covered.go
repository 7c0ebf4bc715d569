package plan

import (
	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
)

// A file may be mapped over functions after their load. wasmtime maps a precompiled module, and makes
// it executable later; only then does the kernel report the mapping. Such a file has the code of the
// functions, so these are mapped once more, over it. A file with other code has replaced them.

// stay appends mappings of the functions from index first on, after each file that has their code and
// is mapped over them later. Without times in the dump, it is unknown which of the two is later.
func (p *placer) stay(d *model.Dump, first int) {
	if !d.HasTimes() {
		return
	}
	var places *addrs.Timeline
	for i, end := first, len(p.Mappings); i < end; i++ {
		m := p.Mappings[i]
		if m.Time >= p.files.latest {
			continue
		}
		p.files.files(m.PID, m.Time).After(m.Addr, m.Addr+m.Len, m.Time, func(f *recording.FileMap) bool {
			if places == nil {
				places = placesOf(p.Mappings[first:end])
			}
			isThere := !isReplaced(p.Mappings[first:end], places, i-first, f.Time)
			if isThere {
				p.stayOver(d, m, f)
			}
			return isThere && !p.files.overflows()
		})
	}
}

// placesOf returns the addresses of mappings.
func placesOf(mappings []model.Mapping) *addrs.Timeline {
	ranges := make([]addrs.Range, len(mappings))
	for i := range mappings {
		ranges[i] = addrs.Range{Lo: mappings[i].Addr, Hi: mappings[i].Addr + mappings[i].Len}
	}
	return addrs.NewTimeline(ranges)
}

// isReplaced reports whether a later mapping of the same process has addresses of the i-th one, up to a
// time: another function, or the same one once more.
func isReplaced(mappings []model.Mapping, places *addrs.Timeline, i int, time uint64) bool {
	m := &mappings[i]
	for j := i; ; {
		j = places.First(addrs.Range{Lo: m.Addr, Hi: m.Addr + m.Len}, j+1, len(mappings))
		if j < 0 || mappings[j].Time > time {
			return false
		}
		if mappings[j].PID == m.PID {
			return true
		}
	}
}

// stayOver appends a mapping of m's function over a file, if that has its code.
func (p *placer) stayOver(d *model.Dump, m model.Mapping, f *recording.FileMap) {
	if f.Name[0] == '[' || !codebytes.BringsCode(d) {
		return
	}
	if p.rec.CopiesStacks() { // see spread
		lo, hi := max(m.Addr, f.Lo), min(m.Addr+m.Len, f.Hi)
		s, off := p.files.symbolsOf(f), lo-f.Lo+f.Off
		switch state := s.State(off, hi-lo); {
		case s.Cover(off):
			return // the file names it
		case state == recording.FileUseless, state == recording.FileAbsent:
		case state == recording.FileRecorded && hi-lo == m.Len:
			m.Home = true
		default: // perf may have the file
			if p.covered.Compare(d, int(p.List[m.Object].Number), &m, f) {
				p.files.unnamed[f.Name]++
			}
			return
		}
	}
	p.files.copied++
	if !p.covered.Compare(d, int(p.List[m.Object].Number), &m, f) {
		return
	}
	if p.Shared && (m.Addr < f.Lo || m.Addr+m.Len > f.Hi) {
		return // a bundle has whole functions
	}
	m.Time = f.Time + 1 // after the record of the file, which takes effect first
	lo, hi := max(m.Addr, f.Lo), min(m.Addr+m.Len, f.Hi)
	m.Excerpt, m.Addr, m.Len = &model.Excerpt{Off: m.Of().Off + lo - m.Addr, Copied: m.Of().Copied}, lo, hi-lo
	p.Mappings = append(p.Mappings, m)
}
