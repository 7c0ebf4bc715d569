package plan

import (
	"context"

	"github.com/jitinject/jitinject/internal/perfsample"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/perfdata"
)

// An unknowable says why nobody can tell what a recording touches.
type unknowable string

func (u unknowable) Error() string { return string(u) }

// eachReference walks the recording once more and calls f for every address that a
// record of it touches: where samples were taken, what their callchains, branches
// and registers hold, the data they are about, and every word of the copies of
// stacks.
//
// bounds says which addresses of a process are of interest; others, and processes
// for which it is false, are passed over at little cost. It must answer the same
// whenever it is asked about a process. Kernel addresses and mere numbers within the
// bounds reach f, too, and one address may do so any number of times. time is 0 for
// records without.
//
// The error is an unknowable if records cannot be read whole, or may lead to code
// that they do not name; ctx's; or one of reading the input.
func eachReference(ctx context.Context, rec *recording.Recording, bounds func(pid uint32) (lo, hi uint64, ok bool), f func(pid uint32, time, addr uint64)) error {
	if why := untold(rec); why != "" {
		return unknowable(why)
	}
	var refs perfsample.Refs
	var last struct { // what bounds said
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
				return unknowable(err.Error())
			}
			if refs.Traced {
				return unknowable("its samples carry pieces of a hardware trace, which may lead through any function")
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

// untold says what keeps the samples of a recording from telling which code it is
// about, as far as that is known without looking at them; or "".
func untold(rec *recording.Recording) string {
	if rec.Traced {
		return "it has a hardware trace, which may lead through any function"
	}
	if err := perfsample.Check(rec.Layouts, rec.Attrs); err != nil {
		return err.Error()
	}
	return ""
}
