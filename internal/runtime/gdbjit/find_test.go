package gdbjit

import (
	"testing"

	"github.com/jitinject/jitinject/internal/model"
)

// The memory of a process is no dump.
func TestDump_NounOfMemory(t *testing.T) {
	if got := (&model.Dump{Source: new(Objects)}).Noun(); got != "memory" {
		t.Errorf("got %q; want memory", got)
	}
}
