package perfmap

import (
	"context"

	"github.com/jitinject/jitinject/internal/locate"
)

// Substitute looks for the map of a process with a dump that is gone. It does nothing for other
// processes, or for streams. The error is ctx's.
func Substitute(ctx context.Context, f *locate.Finder, pid uint32) error {
	if f.Rec.In.Once || f.Rec.Processes[pid] == nil || len(f.Rec.Processes[pid].Memory) == 0 { // see ErrOnce
		return nil
	}
	return searchMap(ctx, f, pid)
}
