package plan

import (
	"cmp"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/sorting"
)

// overlaps are the mappings of a process that may come to lie over jitted code later: of files and
// data, and of the functions of each dump if there are several.
type overlaps struct {
	files *history
	dumps map[*model.Dump]*history
}

// A history has the addresses of mappings in the order of their times.
type history struct {
	times []uint64
	line  *addrs.Timeline
}

// A timed is a mapping of a history.
type timed struct {
	addrs.Range
	time uint64
}

func newHistory(list []timed) *history {
	sorting.Stable(list, func(a, b timed) int { return cmp.Compare(a.time, b.time) })
	h := &history{times: make([]uint64, len(list)), line: addrs.NewTimeline(rangesOf(list))}
	for i, m := range list {
		h.times[i] = m.time
	}
	return h
}

func rangesOf(list []timed) []addrs.Range {
	ranges := make([]addrs.Range, len(list))
	for i := range list {
		ranges[i] = list[i].Range
	}
	return ranges
}

// has reports whether a mapping came to lie in [lo, hi), at a time from since to until.
func (h *history) has(lo, hi, since, until uint64) bool {
	if n := len(h.times); n == 0 || h.times[n-1] < since {
		return false
	}
	from, to := between(h.times, since, until)
	return h.line.First(addrs.Range{Lo: lo, Hi: hi}, from, to) >= 0
}

// overlapsOf returns the mappings of a process that may overlap bundles.
func (b *bundler) overlapsOf(pid uint32) *overlaps {
	o := &overlaps{files: newHistory(filesAndData(b.rec.Processes[pid]))}
	if len(b.dumpsOf[pid]) < 2 {
		return o
	}
	if b.mappingsOf == nil {
		b.mappingsOf = make(map[uint32][]int)
		for i := range b.in.Mappings {
			if m := &b.in.Mappings[i]; len(b.dumpsOf[m.PID]) > 1 {
				b.mappingsOf[m.PID] = append(b.mappingsOf[m.PID], i)
			}
		}
	}
	lists := make(map[*model.Dump][]timed)
	for _, i := range b.mappingsOf[pid] {
		m := &b.in.Mappings[i]
		d := b.in.List[m.Object].Dump
		lists[d] = append(lists[d], timed{addrs.Range{Lo: m.Addr, Hi: m.Addr + m.Len}, m.Time})
	}
	o.dumps = make(map[*model.Dump]*history)
	for d, list := range lists {
		o.dumps[d] = newHistory(list)
	}
	return o
}

// filesAndData returns the mappings of files and data of a process. p may be nil.
func filesAndData(p *recording.Process) (list []timed) {
	if p == nil {
		return nil
	}
	for i := range p.FileMaps {
		if m := &p.FileMaps[i]; m.Name != "" {
			list = append(list, timed{addrs.Range{Lo: m.Lo, Hi: m.Hi}, m.Time})
		}
	}
	for i := range p.Others {
		m := &p.Others[i]
		list = append(list, timed{addrs.Range{Lo: m.Lo, Hi: m.Hi}, m.Time})
	}
	return list
}

// between reports whether a mapping of anything but d came to lie in [lo, hi), at a time from
// since to until.
func (o *overlaps) between(d *model.Dump, lo, hi, since, until uint64) bool {
	if o.files.has(lo, hi, since, until) {
		return true
	}
	for other, h := range o.dumps {
		if other != d && h.has(lo, hi, since, until) {
			return true
		}
	}
	return false
}
