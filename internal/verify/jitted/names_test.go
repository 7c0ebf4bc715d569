package jitted_test

import (
	"testing"

	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/verify/jitted"
)

// verify checks all objects that an injection recognizes as its own. Otherwise it would check nothing, and
// report no faults.
func TestIsObject_AsRecordingsHaveIt(t *testing.T) {
	for path, want := range map[string]bool{
		"/o/jitted-9-7.so": true, "/o/jitbundle-9-7-a.so": true, "/o/jitted-x.so": false, "/o/libjitted-9-7.so": false,
	} {
		if got, recorded := jitted.IsObject(path), recording.IsObject([]byte(path)); got != want || recorded != want {
			t.Errorf("%s: got %v from verify and %v from recording; want %v", path, got, recorded, want)
		}
	}
}
