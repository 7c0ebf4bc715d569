package locate

import (
	"bytes"
	"slices"

	"github.com/jitinject/jitinject/internal/recording"
)

// Several files may be one dump: it was copied while its process wrote it, or the process did not write
// the rest of it. The longest one counts, wherever it is.

// shorterCopy returns the first candidate that fits and is a shorter copy of cand, or nil. cand precedes
// it: it belongs at index at of the candidates.
func (r *Reference) shorterCopy(cand *candidate) (at int, shorter *candidate) {
	for i, old := range r.Candidates {
		if old.Confidence != recording.Refuted && isLonger(cand, old) {
			return i, old
		}
	}
	return len(r.Candidates), nil
}

// compared is how many bytes of two files are compared, at the beginning and before the end of the shorter
// one. A jitdump begins with its process, machine and time, and ends with a record, which has a time, too.
const compared = 4096

// isLonger reports whether a has all that b has, and more. It compares the events, and the bytes at both
// ends of b.
func isLonger(a, b *candidate) bool {
	size := b.Info.Size()
	all, part := a.Source.Scanned().Events, b.Source.Scanned().Events
	return a.Info.Size() > size && a.Source.PID() == b.Source.PID() && len(all) >= len(part) && slices.Equal(all[:len(part)], part) &&
		sameBytes(a, b, 0, min(size, compared)) && sameBytes(a, b, max(size-compared, 0), min(size, compared))
}

// sameBytes reports whether two files have the same n bytes at an offset.
func sameBytes(a, b *candidate, off, n int64) bool {
	x, y := make([]byte, n), make([]byte, n)
	_, err := a.File.ReadAt(x, off)
	if err == nil {
		_, err = b.File.ReadAt(y, off)
	}
	return err == nil && bytes.Equal(x, y)
}
