package codebytes

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/procmem"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
)

// A running process that has the pid of a recorded one is refused even if nothing is wanted from it.
func TestReport_ReusedPID(t *testing.T) {
	pid := uint32(os.Getpid())
	live, err := procmem.Open(pid)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	started := live.Started()
	for _, c := range []struct {
		process recording.Process
		want    string // a part of the problem
	}{
		{recording.Process{Since: started - uint64(time.Minute), Exited: started - uint64(time.Second)}, "after the recorded one had ended; nothing is read from it"},
		{recording.Process{Since: started}, "shares no mapped file with the one that was recorded"},
	} {
		files := &Files{Rec: &recording.Recording{Processes: recording.Processes{pid: &c.process}}, Files: []*File{{Path: procmem.Dir(pid), Live: live}}}
		var found report.Findings
		files.Report(&found)
		if len(found.Problems) != 1 || !strings.Contains(found.Problems[0].Text, c.want) || len(found.Notes) != 0 {
			t.Errorf("got %+v; want one problem, %q", found, c.want)
		}
	}
}
