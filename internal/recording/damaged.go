package recording

import (
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
func (s *Recording) damaged(rec perfdata.Record, pos int64) {
	if s.Damaged.Records == 0 {
		s.Damaged.First, s.Damaged.Offset = rec.Type, -1
		if s.In.Plain != nil {
			s.Damaged.Offset = int64(s.In.File.Header.Data.Offset) + pos
		}
	}
	s.Damaged.Records++
}

// CheckSample counts a SAMPLE record that is shorter than its fields. pos is its position in the
// stream.
func (s *Recording) CheckSample(rec perfdata.Record, pos int64) {
	if s.Layouts.IsShortSample(rec) {
		s.damaged(rec, pos)
	}
}

// DamagedProblem returns the problem of damaged records. ok is false if there are none.
func (s *Recording) DamagedProblem() (p report.Problem, ok bool) {
	d := &s.Damaged
	if d.Records == 0 {
		return p, false
	}
	text := fmt.Sprintf("a %s record is shorter than its fields; it is copied as it is, and perf may refuse the result", d.First)
	if d.Records > 1 {
		text = fmt.Sprintf("%d records are shorter than their fields, the first is a %s; they are copied as they are, and perf may refuse the result", d.Records, d.First)
	}
	return report.Problem{File: s.In.Path, Offset: d.Offset, Text: text, Advice: report.AdviceVerify(s.In.Path)}, true
}
