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
	rec    *recording.Recording
	timed  bool              // all its samples have times
	events map[string]bool   // of the recording, and whether an earlier run made one for calls
	found  map[string]string // the name for each wanted one: of no other event
	// seen has the processes with samples of an event that an earlier run made.
	seen map[string]map[uint32]bool
}

func newTraceNames(rec *recording.Recording) *traceNames {
	n := &traceNames{rec: rec, timed: hasTimes(rec), events: make(map[string]bool), found: make(map[string]string), seen: make(map[string]map[uint32]bool)}
	for i, name := range eventNames(rec) {
		a := &rec.Attrs[i]
		ours := a.Type() == perfdata.TypeSoftware && a.Config() == perfdata.ConfigDummy && a.SampleType()&^(perfdata.FieldCPU|perfdata.FieldRaw) == callFields
		n.events[name] = n.events[name] || ours
	}
	return n
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
	name, ok := n.found[wanted]
	if !ok {
		name = n.first(wanted)
		n.found[wanted] = name
	}
	if !n.events[name] {
		return name, nil
	}
	if n.seen[name] == nil {
		pids, err := processesOf(ctx, n.rec, name)
		if err != nil {
			return "", err
		}
		n.seen[name] = pids
	}
	if n.seen[name][pid] {
		return "", errCallsThere{name}
	}
	return "", report.Advise(fmt.Errorf("the recording has calls of other processes in event %s already, from an earlier run; those of process %d are left out", name, pid), "give all traces at once, with the recording that perf record wrote")
}

// first returns the first name, from the wanted one, of no event or of an earlier run's.
func (n *traceNames) first(wanted string) string {
	name := wanted
	for i := 2; ; i++ {
		ours, taken := n.events[name]
		if _, notes := n.events[name+notesSuffix]; ours || !taken && !notes {
			return name
		}
		name = fmt.Sprintf("%s-%d", wanted, i)
	}
}

// processesOf returns the processes with samples of an event.
func processesOf(ctx context.Context, s *recording.Recording, name string) (map[uint32]bool, error) {
	ids := make(map[uint64]bool)
	for i, is := range eventNames(s) {
		if is == name {
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
