package gdbjit

import (
	"testing"

	"github.com/jitinject/jitinject/internal/model"
)

// One is not several.
func TestCounted_Plural(t *testing.T) {
	for n, want := range map[int]string{0: "0 objects", 1: "1 object", 2: "2 objects"} {
		if got := counted(n, "object"); got != want {
			t.Errorf("got %q; want %q", got, want)
		}
	}
}

// The memory of a process is no dump.
func TestDump_NounOfMemory(t *testing.T) {
	if got := (&model.Dump{Source: new(Objects)}).Noun(); got != "memory" {
		t.Errorf("got %q; want memory", got)
	}
}
