package samplerefs

import (
	"context"

	"github.com/jitinject/jitinject/internal/perfsample"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/perfdata"
)

// An Unknowable says why the references of a recording are unknown.
type Unknowable string

// Error returns the reason.
func (u Unknowable) Error() string { return string(u) }

// Always as the result of a reference says that later ones never add anything.
const Always = ^uint64(0)

// Each walks the recording once more, on all CPUs, and calls f for every address that its samples
// refer to, in any order. Those are the sampled addresses, callchains, branches, registers, data
// addresses, and every word of the copies of stacks.
//
// bounds returns the addresses of interest of a process, or false. It must always return the same
// for one process. Addresses outside of them, and processes with false, cost little. f also gets
// kernel addresses and mere numbers within the bounds. It may get an address any number of times.
// time is 0 for records without. f returns a time in nanoseconds: it need not get other references of
// the process to the address from time up to that. Several goroutines call bounds and f.
//
// The error is an Unknowable if records cannot be read whole, or may lead to code that they do
// not name. Otherwise it is ctx's, or one of reading the input.
func Each(ctx context.Context, rec *recording.Recording, bounds func(pid uint32) (lo, hi uint64, ok bool), f func(pid uint32, time, addr uint64) (until uint64)) error {
	if why := untold(rec); why != "" {
		return Unknowable(why)
	}
	defer rec.In.Progress.Begin(report.PhasePlan, 0) // callers plan with the references
	return rec.EachBlock(ctx, report.PhaseSamples, func() func(*perfdata.Block) error {
		w := &worker{layouts: rec.Layouts, bounds: bounds, f: f}
		w.enter(0)
		return w.block
	})
}

// A worker reads blocks.
type worker struct {
	bounds  func(pid uint32) (lo, hi uint64, ok bool)
	f       func(pid uint32, time, addr uint64) (until uint64)
	layouts *perfdata.Layouts
	refs    perfsample.Refs
	list    []uint64

	pid    uint32
	lo, hi uint64 // the bounds of pid
	ok     bool
	seen   cache
}

// A cache has recent references: most recur often. It grows with their number.
type cache struct {
	slots  []seenReference // a power of two
	misses int             // since it grew
}

// The least and the greatest number of slots, of 32 bytes.
const minSlots, maxSlots = 1 << 12, 1 << 16

// A seenReference is a reference that adds nothing in an interval of time.
type seenReference struct {
	addr, since, until uint64
	pid                uint32
}

// at returns the place of a reference of a process.
func (c *cache) at(pid uint32, addr uint64) *seenReference {
	if n := len(c.slots); n == 0 || c.misses > n && n < maxSlots {
		*c = cache{slots: make([]seenReference, max(2*n, minSlots))}
	}
	hash := (addr ^ uint64(pid)<<44) * 0x9e3779b97f4a7c15
	return &c.slots[hash>>32&uint64(len(c.slots)-1)]
}

func (w *worker) enter(pid uint32) {
	w.pid = pid
	w.lo, w.hi, w.ok = w.bounds(pid)
}

func (w *worker) block(b *perfdata.Block) error {
	for _, r := range b.Records() {
		if r.Type != perfdata.RecordSample && r.Type != perfdata.RecordCallchainDeferred {
			continue
		}
		if err := w.refs.Read(w.layouts, r); err != nil {
			return Unknowable(err.Error())
		}
		if w.refs.Traced {
			return Unknowable("its samples carry pieces of a hardware trace, which may lead through any function")
		}
		if w.refs.PID != w.pid {
			w.enter(w.refs.PID)
		}
		if !w.ok {
			continue
		}
		w.list = w.refs.Within(w.list[:0], w.lo, w.hi)
		w.list = w.refs.StackWithin(w.list, w.lo, w.hi)
		for _, addr := range w.list {
			s, time := w.seen.at(w.pid, addr), w.refs.Time
			if s.addr != addr || s.pid != w.pid || time < s.since || time >= s.until {
				w.seen.misses++
				*s = seenReference{addr, time, w.f(w.pid, time, addr), w.pid}
			}
		}
	}
	return nil
}

// untold returns why the samples of a recording do not show all references, or "". It looks at no
// sample.
func untold(rec *recording.Recording) string {
	if rec.Traced {
		return "it has a hardware trace, which may lead through any function"
	}
	if err := perfsample.Check(rec.Layouts, rec.Attrs); err != nil {
		return err.Error()
	}
	return ""
}
