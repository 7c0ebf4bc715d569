package perfmap

import (
	"context"

	"github.com/jitinject/jitinject/internal/locate"
)

// Substitute looks for the map of a process with a dump that is gone, or that leaves code out. It does
// nothing for a process without jitted code. The error is ctx's.
func Substitute(ctx context.Context, f *locate.Finder, pid uint32) error {
	if f.Rec.Processes[pid] == nil || len(f.Rec.Processes[pid].Memory) == 0 {
		return nil
	}
	return searchMap(ctx, f, pid)
}
