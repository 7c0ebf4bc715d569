package verify

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/jitinject/jitinject/perfdata"
)

// A lateLoad is a function that was executed before its load.
type lateLoad struct {
	function int32
	samples  int
	first    uint64 // time of the first of them
}

// lateLoads looks for samples of a process from a time on that are in code before it was
// loaded, where no other code was at that time. It returns the functions that have such,
// in their order, and counts such samples and those in loaded code.
func lateLoads(ctx context.Context, functions []function, recording string, pid uint32, since uint64) (late []lateLoad, early, inTime int, err error) {
	byAddr := make([]int32, 0, len(functions))
	for i := range functions {
		if functions[i].size > 0 {
			byAddr = append(byAddr, int32(i))
		}
	}
	slices.SortFunc(byAddr, func(a, b int32) int { return cmp.Compare(functions[a].addr, functions[b].addr) })
	ends := make([]uint64, len(byAddr)) // the highest end up to each
	high := uint64(0)
	for i, f := range byAddr {
		high = max(high, functions[f].addr+functions[f].size)
		ends[i] = high
	}
	found := make(map[int32]*lateLoad)
	_, err = walkRecording(ctx, recording, func(rec *recordingFile, r perfdata.Record) {
		if r.Type != perfdata.RecordSample {
			return
		}
		s, ok := rec.Sample(r)
		if !ok || s.PID != pid || s.Time < since {
			return
		}
		n, _ := slices.BinarySearchFunc(byAddr, s.IP, func(f int32, ip uint64) int {
			if functions[f].addr <= ip {
				return -1
			}
			return 1
		})
		soonest, at := int32(-1), uint64(math.MaxUint64)
		for i := n - 1; i >= 0 && ends[i] > s.IP; i-- {
			if n-i > maxUnder {
				return
			}
			f := &functions[byAddr[i]]
			if s.IP >= f.addr+f.size {
				continue
			}
			if f.time <= s.Time {
				inTime++
				return
			}
			if f.time < at {
				soonest, at = byAddr[i], f.time
			}
		}
		if soonest < 0 {
			return
		}
		if found[soonest] == nil {
			found[soonest] = &lateLoad{function: soonest, first: s.Time}
		}
		found[soonest].samples++
		early++
	})
	for _, l := range found {
		late = append(late, *l)
	}
	slices.SortFunc(late, func(a, b lateLoad) int { return cmp.Compare(a.function, b.function) })
	return late, early, inTime, err
}
