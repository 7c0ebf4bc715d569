package mono

import (
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/report"
)

// Mono logs no calls below a depth, and says nothing of it.
func TestMonoLog_CallDepth(t *testing.T) {
	for _, test := range []struct {
		args    string
		deepest int64
		want    string
	}{
		{"log:calls,output=a.mlpd", 100, ""},
		{"log:calls,output=a.mlpd", 101, "which is 100 by default;"},
		{"log:calls,calldepth=5,output=a.mlpd", 5, ""},
		{"log:calls,calldepth=5,output=a.mlpd", 6, "which is 5;"},
		{"log:output='calldepth=5,',calls", 101, "which is 100"},
		{"log:calldepth=5000,calls", 201, ""},
		{"log:calldepth=,calls", 101, "which is 100"},
		{"", 101, "which is 100"},
	} {
		var found report.Findings
		(&Trace{LogTrace: new(LogTrace), args: test.args}).Report(calls.Counts{Deepest: test.deepest}, new(report.TraceSummary), &found)
		if got := strings.Join(found.Notes, ""); test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s, %d deep: %q, want %q", test.args, test.deepest, got, test.want)
		}
	}
}
