package recording

import (
	"errors"
	"fmt"

	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/perfdata"
)

// Damaged counts records that are shorter than their fields. They are copied as they are. Only
// records about processes and samples are looked at.
type Damaged struct {
	Records int64
	First   perfdata.RecordType
	Offset  int64 // of the first one in the file; -1 if unknown
}

// damaged counts a record that is shorter than its fields. pos is its position in the stream.
func (r *Recording) damaged(rec perfdata.Record, pos int64) {
	if r.Damaged.Records == 0 {
		r.Damaged.First, r.Damaged.Offset = rec.Type, -1
		if r.In.Plain != nil && !r.In.File.IsPipe {
			r.Damaged.Offset = int64(r.In.File.Header.Data.Offset) + pos
		}
	}
	r.Damaged.Records++
}

// CheckSample counts a SAMPLE record that is shorter than its fields. pos is its position in the
// stream.
func (r *Recording) CheckSample(rec perfdata.Record, pos int64) {
	if r.Layouts.IsShortSample(rec) {
		r.damaged(rec, pos)
	}
}

// DamagedProblem returns the problem of damaged records. ok is false if there are none.
func (r *Recording) DamagedProblem() (p report.Problem, ok bool) {
	d := &r.Damaged
	if d.Records == 0 {
		return p, false
	}
	text := fmt.Sprintf("a %s record is shorter than its fields; it is copied as it is, and perf may refuse the result", d.First)
	if d.Records > 1 {
		text = fmt.Sprintf("%d records are shorter than their fields, the first is a %s; they are copied as they are, and perf may refuse the result", d.Records, d.First)
	}
	return report.Problem{Code: report.ProblemRecording, File: r.In.Path, Offset: d.Offset, Text: text, Advice: report.AdviceVerify(r.In.Path)}, true
}

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

// IsUser reports whether a record is of user space. PERF_RECORD_MISC_CPUMODE_MASK is 7.
func IsUser(rec perfdata.Record) bool { return rec.Misc&7 == perfdata.MiscUser }

// LatestTime stands for the time of samples without one.
const LatestTime = 1<<64 - 2
