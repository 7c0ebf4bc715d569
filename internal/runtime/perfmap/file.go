package perfmap

import (
	"errors"
	"io"

	"github.com/jitinject/jitinject/internal/format/perfmap"
	"github.com/jitinject/jitinject/internal/source"
)

// Kind is the kind of perf maps in the summary and in options.
const Kind = "perf-map"

// ErrNotMap says that a file is no perf map.
var ErrNotMap = errors.New("it is no perf map: these have lines START SIZE NAME, with numbers in hexadecimal")

// Identify reports whether a file begins as a perf map, with a function at a possible address.
func Identify(src io.ReaderAt, _ string) bool {
	l, err := perfmap.NewReader(io.NewSectionReader(src, 0, perfmap.MaxLine)).Next()
	return err == nil && isPossible(l.Start, l.Size)
}

// Open returns the map in a file, not yet scanned. It fails with ErrNotMap for another file.
func Open(src io.ReaderAt) (source.Dump, error) {
	if !Identify(src, "") {
		return nil, ErrNotMap
	}
	return newMap(src), nil
}

// isPossible reports whether code may be at an address. Nothing is mapped at the lowest ones, and
// the upper half is the kernel's.
func isPossible(start, size uint64) bool {
	return start >= source.MinCode && start < source.MaxCodeAddr && size <= source.MaxRange
}
