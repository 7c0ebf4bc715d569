package calltrace

import (
	"context"
	"fmt"

	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/perfdata"
)

// A result may be injected again, with the same trace or with another one.

// A traceNames assigns names of events to traces.
type traceNames struct {
	rec *recording.Recording
	// seen has the processes with samples of an event that an earlier run made.
	seen map[string]map[uint32]bool
}

// An errCallsThere says that an earlier run has inserted the calls of a trace's process.
type errCallsThere struct{ event string }

// Error returns the fault.
func (e errCallsThere) Error() string {
	return "it has calls of its process in event " + e.event + " already"
}

// eventFor returns the name of the event for calls of a process. It is the wanted one, unless the
// recording has another event of that name. The error is an errCallsThere, says that an earlier
// run has inserted calls of other processes, is ctx's, or is of reading the recording.
func (n *traceNames) eventFor(ctx context.Context, pid uint32, wanted string) (string, error) {
	name := wanted
	for i := 2; ; i++ {
		ours, taken := hasEvent(n.rec, name)
		_, notes := hasEvent(n.rec, name+notesSuffix)
		if !taken && !notes {
			return name, nil
		}
		if ours {
			break
		}
		name = fmt.Sprintf("%s-%d", wanted, i)
	}
	if n.seen[name] == nil {
		pids, err := processesOf(ctx, n.rec, name)
		if err != nil {
			return "", err
		}
		if n.seen == nil {
			n.seen = make(map[string]map[uint32]bool)
		}
		n.seen[name] = pids
	}
	if n.seen[name][pid] {
		return "", errCallsThere{name}
	}
	return "", report.Advise(fmt.Errorf("the recording has calls of other processes in event %s already, from an earlier run; those of process %d are left out", name, pid), "give all traces at once, with the recording that perf record wrote")
}

// hasEvent reports whether there is an event of a name, and whether an earlier run made it for
// calls.
func hasEvent(s *recording.Recording, name string) (ours, taken bool) {
	for i := range s.Attrs {
		if eventName(s, i) != name {
			continue
		}
		a := &s.Attrs[i]
		taken = true
		ours = ours || a.Type() == perfdata.TypeSoftware && a.Config() == perfdata.ConfigDummy && a.SampleType()&^(perfdata.FieldCPU|perfdata.FieldRaw) == callFields
	}
	return ours, taken
}

// processesOf returns the processes with samples of an event.
func processesOf(ctx context.Context, s *recording.Recording, name string) (map[uint32]bool, error) {
	ids := make(map[uint64]bool)
	for i := range s.Attrs {
		if eventName(s, i) == name {
			for _, id := range s.Attrs[i].IDs {
				ids[id] = true
			}
		}
	}
	pids := make(map[uint32]bool)
	for block, err := range s.In.Walk(ctx, report.PhaseSamples) {
		if err != nil {
			return nil, recording.Error(s.In.Path, err)
		}
		for _, r := range block.Records() {
			if r.Type != perfdata.RecordSample {
				continue
			}
			if id, ok := s.Layouts.EventID(r); !ok || !ids[id] {
				continue
			}
			if h, ok := s.Layouts.SampleHead(r); ok {
				pids[h.PID] = true
			}
		}
	}
	return pids, ctx.Err()
}
