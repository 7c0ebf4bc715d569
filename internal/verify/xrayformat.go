package verify

import (
	"context"
	"slices"

	"github.com/jitinject/jitinject/internal/format/xrayfdr"
)

// xrayFormat is how traces are checked.
var xrayFormat = Format{Kind: xrayfdr.FormatName, Name: "an XRay trace", Rules: xrayRules, Check: checkXRay}

// xrayRecorded reports whether a trace is of a process in a recording.
func xrayRecorded(_ context.Context, path string, w *logWitness) bool {
	f, err := openChecked(path)
	if err != nil {
		return false
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return false
	}
	index, err := xrayfdr.ReadIndex(f, st.Size())
	if err != nil {
		return false
	}
	for _, blocks := range index.Threads() {
		if knowsBlock(w, blocks) {
			return true
		}
	}
	return false
}

// knowsBlock reports whether a recording knows the process of one of some buffers, or its
// thread where the buffer says no more.
func knowsBlock(w *logWitness, blocks []xrayfdr.Block) bool {
	return slices.ContainsFunc(blocks, func(b xrayfdr.Block) bool {
		return b.PID != 0 && w.known[b.PID] || b.PID == 0 && w.threads[b.TID]
	})
}
