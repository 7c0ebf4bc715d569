package inject

import "github.com/jitinject/jitinject/perfdata"

// A StackSummary counts the copies of stacks in the samples of a dump's process (perf
// record --call-graph dwarf). A full copy ends at the size limit: its outermost callers are
// missing, unless the stack has just that size.
type StackSummary struct {
	Samples int64 `json:"samples"` // with a copy
	Full    int64 `json:"full"`    // those with a full copy
	Room    int   `json:"room"`    // size of the largest copy, in bytes
}

// stackCopies counts the copies of stacks, by process.
type stackCopies map[uint32]*StackSummary

// sample counts the copy of a SAMPLE record.
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
