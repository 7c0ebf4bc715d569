package inject

import "github.com/jitinject/jitinject/internal/calls"

// SetTraces has a run put in traces that no file holds.
func (o *Options) SetTraces(traces ...calls.Trace) { o.traces = traces }
