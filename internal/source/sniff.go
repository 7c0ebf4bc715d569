package source

import (
	"bytes"
	"io"

	"github.com/jitinject/jitinject/internal/format/xrayfdr"
)

// A Format is what kind of side file there is.
type Format int

// The formats of side files. OtherFormat is none of them.
const (
	OtherFormat Format = iota
	JitdumpFormat
	MonoLogFormat
	XRayFormat
)

// Sniff tells the format of a file by its first bytes, which says nothing of whether the
// rest can be read. A file that gzip has packed is a Mono log if what it holds begins so.
func Sniff(src io.ReaderAt) Format {
	var head [8]byte
	n, _ := src.ReadAt(head[:], 0)
	switch b := head[:n]; {
	case bytes.HasPrefix(b, []byte("DTiJ")), bytes.HasPrefix(b, []byte("JiTD")):
		return JitdumpFormat
	case bytes.HasPrefix(b, []byte("\x01ZPM")):
		return MonoLogFormat
	case bytes.HasPrefix(b, []byte("\x1f\x8b")):
		if _, err := OpenMonoLog(src); err == nil {
			return MonoLogFormat
		}
	case xrayfdr.Looks(b):
		return XRayFormat
	}
	return OtherFormat
}
