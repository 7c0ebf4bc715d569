package checkdump_test

import (
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
)

// beside returns the breach of a dump beside a recording.
func beside(rule string, record func(r *testrec.Recording, marker string)) breach {
	return breach{Rule: rule, Make: func(t *testing.T, dir string) (string, verify.Options) {
		path, opts := full().file(t, dir)
		r := testrec.NewRecording()
		record(r, "/elsewhere/jit-4711.dump")
		opts.Recording = write(t, dir, "perf.data", r.Bytes())
		return path, opts
	}}
}

// TestRecordings: a dump is compared with all recordings that have its process, and with no
// other.
func TestRecordings(t *testing.T) {
	dir := t.TempDir()
	path, _ := full().file(t, dir)
	made := func(name string, pid u32, time u64, marker bool) string {
		r := testrec.NewRecording()
		if marker {
			r.Marker(pid, time, "/elsewhere/jit-4711.dump")
		}
		r.Sample(pid, time+1_000_000, 1)
		return write(t, dir, name, r.Bytes())
	}
	good, foreign := made("good.data", dumpPID, 4_000_000, true), made("foreign.data", 12, 4_000_000, false)
	unmarked := made("unmarked.data", dumpPID, 4_000_000, false)
	for _, test := range []struct {
		recordings []string
		want       []string
	}{
		{[]string{good}, nil},
		{[]string{foreign, good}, nil},
		{[]string{foreign}, []string{"dump/other-process"}},
		{[]string{unmarked, foreign, good}, []string{"dump/marker"}},
	} {
		if rules, all := verified(t, path, verify.Options{Recordings: test.recordings}); !slices.Equal(rules, test.want) {
			t.Errorf("beside %v: %v, want %v: %+v", test.recordings, rules, test.want, all)
		}
	}
}

func goodBeside(t *testing.T, dir string) (string, verify.Options) {
	return beside("", func(r *testrec.Recording, marker string) {
		r.Marker(dumpPID, 4_000_000, marker)
		r.Sample(dumpPID, 4_500_000, 0x1234)
		r.Sample(dumpPID, 6_000_000, a+0x20)
	}).Make(t, dir)
}
