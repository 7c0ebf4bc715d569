package recorded

import (
	"cmp"
	"context"
	"slices"

	"github.com/jitinject/jitinject/internal/verify/jitted"
	"github.com/jitinject/jitinject/perfdata"
)

// lastExec returns when a process began to run the program that it ran at a time, or 0.
func lastExec(ctx context.Context, recording string, pid uint32, first uint64) (exec uint64, err error) {
	_, err = Walk(ctx, recording, func(rec *File, r perfdata.Record) {
		if r.Type != perfdata.RecordComm {
			return
		}
		if e, err := rec.Comm(r); err == nil && e.Exec && e.PID == pid {
			if t, ok := rec.Time(r); ok && t <= first {
				exec = max(exec, t)
			}
		}
	})
	return exec, err
}

// always is a time at which everything is there that ever was.
const always = ^uint64(0)

// NotMapped compares where code is, the first of which was told of at a time, with where it
// is mapped. It returns the functions that samples are in and no mapping is then, in their
// order, with the number of such samples. Times are compared only if they are of one clock.
func NotMapped(ctx context.Context, functions []jitted.Function, first uint64, recording string, pid uint32, shown []ObjectMapping, monotonic bool) (list []LateLoad, err error) {
	places := make([]Range, 0, len(functions))
	for i := range functions {
		if f := &functions[i]; f.Size > 0 && f.Addr+f.Size > f.Addr {
			places = append(places, Range{f.Addr, f.Addr + f.Size, f.Time, int32(i)})
		}
	}
	code := sortRanges(places)
	exec, err := lastExec(ctx, recording, pid, first)
	if err != nil {
		return nil, err
	}
	mapped := make([]Range, 0, len(shown))
	for i := range shown {
		s := &shown[i]
		if s.Addr+s.Len <= s.Addr || monotonic && s.time < exec {
			continue // a new program has none of what was mapped
		}
		mapped = append(mapped, Range{s.Addr, s.Addr + s.Len, s.time, int32(i)})
	}
	objects := sortRanges(mapped)
	var files []Range
	missing := make(map[int32]int) // samples, by function
	samples := func(yield func(s *perfdata.SampleHead)) error {
		_, err := Walk(ctx, recording, func(rec *File, r perfdata.Record) {
			switch r.Type {
			case perfdata.RecordMmap, perfdata.RecordMmap2:
				if m, err := rec.Mmap(r); err == nil && yield == nil && m.PID == pid && len(m.Filename) > 0 && m.Filename[0] == '/' && m.Addr+m.Len > m.Addr &&
					!jitted.IsObject(string(m.Filename)) && !IsAnonymous(string(m.Filename)) {
					files = append(files, Range{m.Addr, m.Addr + m.Len, 0, 0})
				}
			case perfdata.RecordSample:
				if s, ok := rec.TimedSample(r); ok && yield != nil && s.PID == pid {
					yield(&s)
				}
			}
		})
		return err
	}
	if err := samples(nil); err != nil {
		return nil, err
	}
	ofFiles := sortRanges(files)
	err = samples(func(s *perfdata.SampleHead) {
		time := s.Time
		if !monotonic {
			time = always
		}
		f, _ := code.at(s.IP, s.IP+1, time)
		if f == nil {
			return
		}
		if o, sure := objects.at(s.IP, s.IP+1, time); o != nil || !sure {
			return
		}
		if o, sure := ofFiles.at(s.IP, s.IP+1, always); o != nil || !sure {
			return // it is left to the file
		}
		missing[f.what]++
	})
	for i, n := range missing {
		list = append(list, LateLoad{Function: i, Samples: n})
	}
	slices.SortFunc(list, func(a, b LateLoad) int { return cmp.Compare(a.Function, b.Function) })
	return list, err
}
