package recording

import (
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/perfdata"
)

// StackCopies counts the copies of stacks, by process.
type StackCopies map[uint32]*report.StackSummary

// Sample counts the copy of a SAMPLE record.
func (c StackCopies) Sample(rec perfdata.Record, layouts *perfdata.Layouts) {
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
		s = new(report.StackSummary)
		c[pid] = s
	}
	s.Samples++
	s.Room = max(s.Room, room)
	if copied == room {
		s.Full++
	}
}
