package gdbjit

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/gdbjit"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/runtime/gdbjit/registered"
)

// gdb never ends on a list that leads back to itself. So no advice for such a process names its gcore.
func TestReportFaults_AdviceForCycle(t *testing.T) {
	cycle := fmt.Errorf("libLLVM.so: %w", &gdbjit.Error{Record: "entry", Err: gdbjit.ErrCycle})
	for _, c := range []struct {
		path   string
		faults []error
		want   string // a part of the advice
		gcore  bool
	}{
		{"/proc/7", []error{errors.New("damage"), cycle}, "kill -ABRT PID", false},
		{"/proc/7", []error{errors.New("damage")}, "gcore PID", true},
		{"core.7", []error{cycle}, "jitinject verify core.7", false},
	} {
		var found report.Findings
		reportFaults(c.path, &registered.Registered{Problems: c.faults}, false, &found)
		if len(found.Problems) != len(c.faults) {
			t.Fatalf("got problems %+v; want %d", found.Problems, len(c.faults))
		}
		for _, p := range found.Problems {
			if !strings.Contains(p.Advice, c.want) || strings.Contains(p.Advice, "gcore") != c.gcore {
				t.Errorf("got advice %q for %v of %s; want %q, gcore in it: %v", p.Advice, c.faults, c.path, c.want, c.gcore)
			}
		}
	}
}
