package inject

import "github.com/jitinject/jitinject/perfdata"

// A StackSummary is about the copies of stacks in the samples of a dump's process (perf
// record --call-graph dwarf). One that is full ends where there was no more room: its
// outermost callers are missing, unless it is just long enough.
type StackSummary struct {
	Samples int64 `json:"samples"` // with a copy
	Full    int64 `json:"full"`    // of them, those whose copies are full
	Room    int   `json:"room"`    // of the largest copy, in bytes
}

// stackCopies counts the copies of processes.
type stackCopies map[uint32]*StackSummary

// sample takes in a SAMPLE record.
func (c stackCopies) sample(rec perfdata.Record, layouts *perfdata.Layouts) {
	if c == nil {
		return
	}
	room, copied, ok := layouts.UserStack(rec)
	if !ok {
		return
	}
	pid, _, _, ok := layouts.SamplePlace(rec)
	if !ok {
		return
	}
	s := c[pid]
	if s == nil {
		s = new(StackSummary)
		c[pid] = s
	}
	s.Samples++
	s.Room = max(s.Room, room)
	if copied == room {
		s.Full++
	}
}
