package recording

import (
	"errors"

	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/perfdata"
)

// StackCopies counts the copies of stacks, by process.
type StackCopies map[uint32]*report.StackSummary

// Sample counts the copy of a SAMPLE record. Records without one, and unreadable ones, do not
// count.
func (c StackCopies) Sample(rec perfdata.Record, layouts *perfdata.Layouts) {
	if c == nil {
		return
	}
	const must = perfdata.FieldIP | perfdata.FieldTID | perfdata.FieldStackUser
	if layouts.Fields(rec)&must != must {
		return
	}
	var sample perfdata.Sample
	if err := layouts.DecodeSample(rec, must, &sample); err != nil && !errors.Is(err, perfdata.ErrUnknownFields) || sample.UserStack.Size == 0 {
		return
	}
	s := c[sample.PID]
	if s == nil {
		s = new(report.StackSummary)
		c[sample.PID] = s
	}
	s.Samples++
	s.Room, s.Used = max(s.Room, sample.UserStack.Size), max(s.Used, len(sample.UserStack.Data))
	if len(sample.UserStack.Data) == sample.UserStack.Size {
		s.Full++
	}
}
