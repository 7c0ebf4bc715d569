package plan

import (
	"testing"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
)

// Children that map memory over all functions of their parent clear few of them one by one, and then all at once.
func TestClear_Bounded(t *testing.T) {
	const functions, children, most, step = 100, 100, 1000, 0x1000
	d := &model.Dump{Match: report.Clock{Kind: report.ClockGiven}}
	r := &replacer{placer: &placer{Functions: &Functions{}}, lateness: []uint64{0}, most: most}
	r.List = []model.Function{{Dump: d}}
	parent := new(addrs.Owners)
	for i := range functions {
		r.Mappings = append(r.Mappings, model.Mapping{Time: 1, PID: 1})
		parent.Place(uint64(i)*step, uint64(i)*step+16, i)
	}
	for pid := range uint32(children) {
		has := parent.Clone()
		r.clear(recording.Replacement{Range: addrs.Range{Hi: functions * step}, Time: 2, PID: 2 + pid}, has)
		for _, owned := range has.Within(0, functions*step) {
			if owned.Owner != nothing {
				t.Fatalf("process %d: got %+v; want no function", 2+pid, owned)
			}
		}
	}
	if n := len(r.cleared); n < most || n > most+functions+children || !r.more {
		t.Errorf("got %d mappings, more %v; want about %d, and more", n, r.more, most)
	}
	if last := r.cleared[len(r.cleared)-1]; last.PID != 1+children || last.Addr != 0 || last.Len != functions*step {
		t.Errorf("got %+v as the last; want all of the addresses", last)
	}
}
