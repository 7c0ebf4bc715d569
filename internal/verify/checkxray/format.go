package checkxray

import (
	"context"
	"slices"

	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/recorded"
)

// Format is how traces are checked.
var Format = verify.Format{Kind: xrayfdr.FormatName, Name: "an XRay trace", Rules: rules, Weak: true, Check: checkFile}

// Recorded reports whether a trace of a file is of a process in a recording.
func Recorded(_ context.Context, path string, w *recorded.Processes) bool {
	f, size, err := verify.OpenSized(path)
	if err != nil {
		return false
	}
	defer f.Close()
	indexes, err := xrayfdr.ReadIndexes(f, size)
	return err == nil && slices.ContainsFunc(indexes, func(x *xrayfdr.Index) bool { return knowsBlock(w, x.Blocks) })
}

// knowsBlock reports whether a recording knows the process of one of some buffers, or its
// thread where the buffer says no more.
func knowsBlock(w *recorded.Processes, blocks []xrayfdr.Block) bool {
	return slices.ContainsFunc(blocks, func(b xrayfdr.Block) bool {
		return b.PID != 0 && w.Known[b.PID] || b.PID == 0 && w.Threads[b.TID]
	})
}
