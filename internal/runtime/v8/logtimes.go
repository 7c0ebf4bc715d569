package v8

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/source"
)

// The times of a log count from the beginning of an isolate. A dump of the process has much of the same code,
// with times of CLOCK_MONOTONIC: the usual difference is the offset. Without a dump, code cannot be older than
// the memory that it lies in: the offset is the least with which no code is.

// HasTimes reports whether the log has the times of a dump.
func (l *Log) HasTimes() bool { return l.timed }

// StartAt sets the times of an isolate's code, unless those of a dump are known. time is when the memory at an
// address was mapped.
func (l *Log) StartAt(_ uint64, time func(addr uint64) uint64) {
	if l.timed || l.placed {
		return
	}
	l.placed = true
	offsets := make(map[int32]uint64)
	for _, e := range l.Events {
		if start := time(e.Addr); start > e.Time {
			isolate := l.codes[e.Function].isolate
			offsets[isolate] = max(offsets[isolate], start-e.Time)
		}
	}
	l.shift(offsets)
}

// shift adds an offset to the times of each isolate.
func (l *Log) shift(offsets map[int32]uint64) {
	for i := range l.Events {
		e := &l.Events[i]
		e.Time += offsets[l.codes[e.Function].isolate]
	}
	slices.SortStableFunc(l.Events, func(a, b jitcode.Event) int { return cmp.Compare(a.Time, b.Time) })
	l.keep(func(*jitcode.Event) bool { return true })
}

// keep leaves out the functions with loads that are not to be kept, and their moves. The others get new numbers.
func (l *Log) keep(keep func(load *jitcode.Event) bool) {
	const gone = unknown
	number := make([]int, len(l.codes))
	for i := range number {
		number[i] = gone
	}
	codes, events := make([]code, 0, len(l.codes)), l.Events[:0]
	for _, e := range l.Events {
		c := &l.codes[e.Function]
		if e.Kind == jitcode.Load && keep(&e) {
			number[e.Function] = len(codes)
			c.load = int32(len(events))
			codes = append(codes, *c)
		}
		if n := number[e.Function]; n != gone {
			e.Function, e.Index = n, uint64(n)
			events = append(events, e)
		}
	}
	l.codes, l.Events = codes, events
}

// GiveWay leaves out the code that another dump of the process has, and takes the times of a jitdump. If that
// shares no code with the log, the log is of another run, and all is left out. But a dump that was cut may have
// nothing of an isolate that began late: then only the places of code say that the log is of the process.
func (l *Log) GiveWay(better source.Dump) {
	events := better.Scanned().Events
	if len(events) == 0 {
		return
	}
	if _, isLog := better.(*Log); isLog || better.Traits().Registered {
		_, starts := locate.Covered(events)
		loads := make(map[jitcode.Event]bool) // of a copy of the log
		for _, e := range events {
			loads[jitcode.Event{Addr: e.Addr, Size: e.Size, Time: e.Time}] = true
		}
		l.keep(func(e *jitcode.Event) bool {
			isCopy := loads[jitcode.Event{Addr: e.Addr, Size: e.Size, Time: e.Time}]
			return !starts[e.Addr] || isLog && !isCopy && !l.codes[e.Function].shared
		})
		return
	}
	if !l.timed {
		offsets := l.offsetsTo(events)
		if len(offsets) == 0 && better.Scanned().Cut >= 0 && l.mapped {
			l.giveWayTo(events)
			return
		}
		l.keep(func(e *jitcode.Event) bool { _, ok := offsets[l.codes[e.Function].isolate]; return ok })
		l.shift(offsets)
		l.timed = true
	}
	at := timesOf(events)
	l.keep(func(e *jitcode.Event) bool {
		times := at[place{e.Addr, e.Size}]
		if l.codes[e.Function].shared {
			return len(times) == 0
		}
		return !slices.ContainsFunc(times, func(t uint64) bool { return max(t, e.Time)-min(t, e.Time) <= tolerance })
	})
	for _, e := range events {
		if e.Time > 0 && (l.Start == 0 || e.Time < l.Start) {
			l.Start = e.Time
		}
	}
}

// giveWayTo leaves out the code at addresses that events describe. Their times cannot be compared with the log's.
func (l *Log) giveWayTo(events []jitcode.Event) {
	taken, _ := locate.Covered(events)
	l.keep(func(e *jitcode.Event) bool {
		i := sort.Search(len(taken), func(i int) bool { return taken[i].Hi > e.Addr })
		return i == len(taken) || taken[i].Lo >= e.Addr+e.Size
	})
}

// timesOf returns the times of loads, by place.
func timesOf(events []jitcode.Event) map[place][]uint64 {
	at := make(map[place][]uint64)
	for _, e := range events {
		if e.Kind == jitcode.Load && e.Size > 0 {
			p := place{e.Addr, e.Size}
			at[p] = append(at[p], e.Time)
		}
	}
	return at
}

// offsetsTo returns the difference between the times of events and of each isolate that has code of them, by
// the places where both have one load. At least half of these must have nearly that difference.
func (l *Log) offsetsTo(events []jitcode.Event) map[int32]uint64 {
	theirs := timesOf(events)
	mine := make(map[int32]map[place][]uint64)
	for _, e := range l.Events {
		isolate := l.codes[e.Function].isolate
		if mine[isolate] == nil {
			mine[isolate] = make(map[place][]uint64)
		}
		p := place{e.Addr, e.Size}
		mine[isolate][p] = append(mine[isolate][p], e.Time)
	}
	offsets := make(map[int32]uint64)
	for isolate, at := range mine {
		var all []int64
		for p, times := range at {
			if other := theirs[p]; len(times) == 1 && len(other) == 1 && other[0] <= math.MaxInt64 {
				all = append(all, int64(other[0])-int64(times[0]))
			}
		}
		if len(all) == 0 {
			continue
		}
		offset, n := densest(all), 0
		for _, v := range all {
			if d := v - offset; max(d, -d) <= tolerance {
				n++
			}
		}
		if 2*n >= len(all) {
			offsets[isolate] = uint64(offset)
		}
	}
	return offsets
}

// dropUnmapped leaves out bytecode, which is not in executable memory. It sets l.mapped.
func (l *Log) dropUnmapped(rec *recording.Recording, pid uint32) {
	marker := recording.Marker{PID: pid, Time: rec.ProgramStart(pid, 0)}
	maps, all := recording.MapsOf(rec.Related([]recording.Marker{marker}))
	if !all || !rec.KnowsMemory(marker) {
		l.keep(func(e *jitcode.Event) bool { return !l.codes[e.Function].bytecode })
		return
	}
	executable := recording.ExactRanges(maps, func(*recording.FileMap) bool { return true })
	inside, outside := 0, 0
	l.keep(func(e *jitcode.Event) bool {
		is := executable.Hold(e.Addr)
		if c := &l.codes[e.Function]; is && !c.shared {
			inside++
		} else if !c.shared && !c.bytecode {
			outside++
		}
		return is
	})
	l.mapped = inside > outside
}
