package checkrecording

import (
	"context"
	"slices"

	"github.com/jitinject/jitinject/internal/verify/recorded"
	"github.com/jitinject/jitinject/perfdata"
)

// A recording without dumps may belong to a log of Mono or a trace of XRay, of which it says
// nothing, or have calls of one put in.

// hasCalls reports whether calls were put into the recording: it has an event for them.
func (c *checker) hasCalls(names []string) bool {
	desc := c.events
	if c.rec.Seekable != nil {
		if f := c.rec.Seekable.Feature(perfdata.FeatureEventDesc); f != nil {
			if b, err := f.Bytes(); err == nil {
				desc = b
			}
		}
	}
	events, _ := perfdata.EventDesc(c.rec.Order, desc) // those before a fault
	return slices.ContainsFunc(events, func(e perfdata.NamedEvent) bool { return slices.Contains(names, e.Name) })
}

// hasLog reports whether one of some logs and traces is of a process in the recording. Those
// that cannot be read are of none: they are complained about elsewhere.
func hasLog(ctx context.Context, recording string, logs []string, belongs recorded.BelongsFunc) (bool, error) {
	if len(logs) == 0 {
		return false, nil
	}
	w, err := recorded.ReadProcesses(ctx, recording)
	if err != nil {
		return false, ctx.Err()
	}
	for _, path := range logs {
		if belongs(ctx, path, w) {
			return true, nil
		}
	}
	return false, ctx.Err()
}
