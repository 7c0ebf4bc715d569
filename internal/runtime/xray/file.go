package xray

import (
	"io"

	"github.com/jitinject/jitinject/internal/format/xrayfdr"
)

// Kind is the kind of traces of XRay in the summary and in options.
const Kind = "xray"

// Identify reports whether a file begins as a trace in XRay's FDR mode.
func Identify(src io.ReaderAt, _ string) bool {
	var head [8]byte
	n, _ := src.ReadAt(head[:], 0)
	return xrayfdr.Looks(head[:n])
}
