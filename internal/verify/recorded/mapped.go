package recorded

import (
	"cmp"
	"context"
	"slices"

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
