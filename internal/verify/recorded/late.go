package recorded

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/verify/jitted"
	"github.com/jitinject/jitinject/perfdata"
)

// A LateLoad is a function that was executed before its load.
type LateLoad struct {
	Function int32
	Samples  int
	First    uint64 // time of the first of them
}

// LateLoads looks for samples of a process from a time on that are in code before it was
// loaded, where no other code was at that time. It returns the functions that have such,
// in their order, and counts such samples and those in loaded code.
func LateLoads(ctx context.Context, functions []jitted.Function, recording string, pid uint32, since uint64) (late []LateLoad, early, inTime int, err error) {
	byAddr := make([]int32, 0, len(functions))
	for i := range functions {
		if functions[i].Size > 0 {
			byAddr = append(byAddr, int32(i))
		}
	}
	slices.SortFunc(byAddr, func(a, b int32) int { return cmp.Compare(functions[a].Addr, functions[b].Addr) })
	ends := make([]uint64, len(byAddr)) // the highest end up to each
	high := uint64(0)
	for i, f := range byAddr {
		high = max(high, functions[f].Addr+functions[f].Size)
		ends[i] = high
	}
	found := make(map[int32]*LateLoad)
	_, err = Walk(ctx, recording, func(rec *File, r perfdata.Record) {
		if r.Type != perfdata.RecordSample {
			return
		}
		s, ok := rec.TimedSample(r)
		if !ok || s.PID != pid || s.Time < since {
			return
		}
		n, _ := slices.BinarySearchFunc(byAddr, s.IP, func(f int32, ip uint64) int {
			if functions[f].Addr <= ip {
				return -1
			}
			return 1
		})
		soonest, at := int32(-1), uint64(math.MaxUint64)
		for i := n - 1; i >= 0 && ends[i] > s.IP; i-- {
			if n-i > MaxUnder {
				return
			}
			f := &functions[byAddr[i]]
			if s.IP >= f.Addr+f.Size {
				continue
			}
			if f.Time <= s.Time {
				inTime++
				return
			}
			if f.Time < at {
				soonest, at = byAddr[i], f.Time
			}
		}
		if soonest < 0 {
			return
		}
		if found[soonest] == nil {
			found[soonest] = &LateLoad{Function: soonest, First: s.Time}
		}
		found[soonest].Samples++
		early++
	})
	for _, l := range found {
		late = append(late, *l)
	}
	slices.SortFunc(late, func(a, b LateLoad) int { return cmp.Compare(a.Function, b.Function) })
	return late, early, inTime, err
}
