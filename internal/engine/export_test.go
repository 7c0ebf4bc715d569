package engine

import (
	"testing"

	"github.com/jitinject/jitinject/internal/calls"
)

// SetTraces has the runs of a test put in traces that no file holds.
func SetTraces(t testing.TB, traces ...calls.Trace) {
	syntheticTraces = traces
	t.Cleanup(func() { syntheticTraces = nil })
}
