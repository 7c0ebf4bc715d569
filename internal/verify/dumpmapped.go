package verify

import (
	"cmp"
	"context"
	"slices"

	"github.com/jitinject/jitinject/perfdata"
)

// A dump beside the recording that it was injected into: what samples touch of its code
// has to be mapped by then, and what is mapped has to be its code.

// lastExec returns when a process began to run the program that it ran at a time, or 0.
func lastExec(ctx context.Context, recording string, pid uint32, first uint64) (exec uint64, err error) {
	_, err = walkRecording(ctx, recording, func(rec *recordingFile, r perfdata.Record) {
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

// notMapped compares where code is, the first of which was told of at a time, with where it
// is mapped. It returns the functions that samples are in and no mapping is then, in their
// order, with the number of such samples. Times are compared only if they are of one clock.
func notMapped(ctx context.Context, functions []function, first uint64, recording string, pid uint32, shown []shownCode, monotonic bool) (list []lateLoad, err error) {
	places := make([]mappedRange, 0, len(functions))
	for i := range functions {
		if f := &functions[i]; f.size > 0 && f.addr+f.size > f.addr {
			places = append(places, mappedRange{f.addr, f.addr + f.size, f.time, int32(i)})
		}
	}
	code := sortRanges(places)
	exec, err := lastExec(ctx, recording, pid, first)
	if err != nil {
		return nil, err
	}
	mapped := make([]mappedRange, 0, len(shown))
	for i := range shown {
		s := &shown[i]
		if s.addr+s.len <= s.addr || monotonic && s.time < exec {
			continue // a new program has none of what was mapped
		}
		mapped = append(mapped, mappedRange{s.addr, s.addr + s.len, s.time, int32(i)})
	}
	objects := sortRanges(mapped)
	var files []mappedRange
	missing := make(map[int32]int) // samples, by function
	samples := func(yield func(s *perfdata.Sample)) error {
		_, err := walkRecording(ctx, recording, func(rec *recordingFile, r perfdata.Record) {
			switch r.Type {
			case perfdata.RecordMmap, perfdata.RecordMmap2:
				if m, err := rec.Mmap(r); err == nil && yield == nil && m.PID == pid && len(m.Filename) > 0 && m.Filename[0] == '/' && m.Addr+m.Len > m.Addr &&
					!isJITObject(string(m.Filename)) && !isAnonymous(string(m.Filename)) {
					files = append(files, mappedRange{m.Addr, m.Addr + m.Len, 0, 0})
				}
			case perfdata.RecordSample:
				if s, ok := rec.Sample(r); ok && yield != nil && s.PID == pid {
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
	err = samples(func(s *perfdata.Sample) {
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
		list = append(list, lateLoad{function: i, samples: n})
	}
	slices.SortFunc(list, func(a, b lateLoad) int { return cmp.Compare(a.function, b.function) })
	return list, err
}
