package codebytes

import (
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/recording"
)

// A process that started at another time than the recorded one has only the same pid.
func TestStartedThen_ReusedPID(t *testing.T) {
	const second = uint64(time.Second)
	for _, c := range []struct {
		process recording.Process
		started uint64
		want    string // a part of the error
	}{
		{recording.Process{Since: 100 * second}, 100*second - second/100, ""},
		{recording.Process{Since: 100 * second}, 20 * second, ""},
		{recording.Process{Since: 100 * second}, 200 * second, "it started 1m40s after the recorded one"},
		{recording.Process{}, 50 * second, ""}, // older than the recording
		{recording.Process{}, 200 * second, "it started 1m50s after the recorded one"},
		{recording.Process{Since: 100 * second, Exited: 101 * second}, 100 * second, ""}, // its first thread ended
		{recording.Process{Since: 100 * second, Exited: 100*second + second/2}, 101 * second, "it started 500ms after the recorded one had ended"},
	} {
		rec := &recording.Recording{Began: 90 * second, Processes: recording.Processes{7: &c.process}}
		err := startedThen(rec, 7, c.started)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("got error %v for %+v, started at %d; want %q", err, c.process, c.started, c.want)
		}
	}
}
