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

// Each walks the recording once more and calls f for every address that its samples
// refer to. Those are the sampled addresses, callchains, branches, registers, data addresses, and
// every word of the copies of stacks.
//
// bounds returns the addresses of interest of a process, or false. It must always return the same
// for one process. Addresses outside of them, and processes with false, cost little. f also gets
// kernel addresses and mere numbers within the bounds. It may get an address any number of times.
// time is 0 for records without.
//
// The error is an Unknowable if records cannot be read whole, or may lead to code that they do
// not name. Otherwise it is ctx's, or one of reading the input.
func Each(ctx context.Context, rec *recording.Recording, bounds func(pid uint32) (lo, hi uint64, ok bool), f func(pid uint32, time, addr uint64)) error {
	if why := untold(rec); why != "" {
		return Unknowable(why)
	}
	defer rec.In.Progress.Begin(report.PhasePlan, 0) // callers plan with the references
	var refs perfsample.Refs
	var last struct { // the last result of bounds
		pid    uint32
		lo, hi uint64
		ok     bool
	}
	last.lo, last.hi, last.ok = bounds(0)
	found := func(addr uint64) { f(refs.PID, refs.Time, addr) }
	for block, err := range rec.In.Walk(ctx, report.PhaseSamples) {
		if err != nil {
			return err
		}
		for _, r := range block.Records() {
			if r.Type != perfdata.RecordSample && r.Type != perfdata.RecordCallchainDeferred {
				continue
			}
			if err := refs.Read(rec.Layouts, r); err != nil {
				return Unknowable(err.Error())
			}
			if refs.Traced {
				return Unknowable("its samples carry pieces of a hardware trace, which may lead through any function")
			}
			if refs.PID != last.pid {
				last.pid = refs.PID
				last.lo, last.hi, last.ok = bounds(refs.PID)
			}
			if !last.ok {
				continue
			}
			refs.Within(last.lo, last.hi, found)
			refs.StackWithin(last.lo, last.hi, found)
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
