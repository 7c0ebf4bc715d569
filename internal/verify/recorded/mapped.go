package recorded

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/jitinject/jitinject/internal/verify/jitted"
	"github.com/jitinject/jitinject/perfdata"
)

// A Missing is a function whose code is not mapped when samples are in it.
type Missing struct {
	Function int32
	Samples  int
}

// always is a time at which everything is there that ever was.
const always = ^uint64(0)

// NotMapped compares functions of a process, the first of which was described at a time, with the mappings of
// objects. It returns the functions that have samples while no mapping shows them, in their order. Times are
// compared only if the functions have times of the recording's clock, that is, if timed is true.
func (c *Contents) NotMapped(ctx context.Context, pid uint32, functions []jitted.Function, first uint64, timed bool) (list []Missing, err error) {
	places := make([]Range, 0, len(functions))
	for i := range functions {
		if f := &functions[i]; f.Size > 0 && f.Addr+f.Size > f.Addr {
			places = append(places, Range{f.Addr, f.Addr + f.Size, f.Time, int32(i)})
		}
	}
	exec := uint64(0) // when the process began to run the program of the first function
	for _, t := range c.execs[pid] {
		if t <= first {
			exec = max(exec, t)
		}
	}
	var mapped []Range
	for _, m := range c.Objects[pid] {
		if !timed || m.time >= exec { // a new program has none of what was mapped
			mapped = append(mapped, Range{Addr: m.Addr, End: m.Addr + m.Len, time: m.time})
		}
	}
	code, objects, files := sortRanges(places), sortRanges(mapped), sortRanges(c.files[pid])
	missing := make(map[int32]int) // samples, by function
	_, err = Walk(ctx, c.path, func(rec *File, r perfdata.Record) {
		if r.Type != perfdata.RecordSample {
			return
		}
		s, ok := rec.TimedSample(r)
		if !ok || s.PID != pid {
			return
		}
		time := s.Time
		if !timed {
			time = always
		}
		f, _ := code.at(s.IP, time)
		if f == nil {
			return
		}
		if o, sure := objects.at(s.IP, time); o != nil || !sure {
			return
		}
		if o, sure := files.at(s.IP, always); o != nil || !sure {
			return // it is left to the file
		}
		missing[f.what]++
	})
	for i, n := range missing {
		list = append(list, Missing{Function: i, Samples: n})
	}
	slices.SortFunc(list, func(a, b Missing) int { return cmp.Compare(a.Function, b.Function) })
	return list, err
}

// MaxUnder bounds how many ranges are looked at that may hold an address: compilers use
// a place again, but not as often.
const MaxUnder = 1000

// A Range is something at an address for some time.
type Range struct {
	Addr, End uint64
	time      uint64 // from when on
	what      int32
}

// ranges are sorted by address.
type ranges struct {
	list []Range
	ends []uint64 // the highest end up to each
}

func sortRanges(list []Range) ranges {
	slices.SortFunc(list, func(a, b Range) int { return cmp.Compare(a.Addr, b.Addr) })
	m := ranges{list, make([]uint64, len(list))}
	high := uint64(0)
	for i := range list {
		high = max(high, list[i].End)
		m.ends[i] = high
	}
	return m
}

// at returns what is at an address at a time, or nil. sure is false if there is too much to look at.
func (m *ranges) at(addr, time uint64) (r *Range, sure bool) {
	n := sort.Search(len(m.list), func(i int) bool { return m.list[i].Addr > addr })
	for i := n - 1; i >= 0 && m.ends[i] > addr; i-- {
		if n-i > MaxUnder {
			return nil, false
		}
		if m.list[i].End > addr && m.list[i].time <= time {
			return &m.list[i], true
		}
	}
	return nil, true
}

// JoinRanges returns ranges sorted, those that touch as one.
func JoinRanges(list []Range) []Range {
	slices.SortFunc(list, func(a, b Range) int { return cmp.Compare(a.Addr, b.Addr) })
	joined := list[:0]
	for _, r := range list {
		if n := len(joined); n > 0 && r.Addr <= joined[n-1].End {
			joined[n-1].End = max(joined[n-1].End, r.End)
		} else {
			joined = append(joined, r)
		}
	}
	return joined
}
