package mono

import (
	"io"

	"github.com/jitinject/jitinject/internal/source"
)

// Kind is the kind of logs of Mono's profiler in the summary and in options.
const Kind = "mono-log"

// Identify reports whether a file begins as a log of Mono's profiler, plain or packed by gzip.
func Identify(src io.ReaderAt, _ string) bool {
	var head [4]byte
	n, _ := src.ReadAt(head[:], 0)
	switch b := string(head[:n]); {
	case b == "\x01ZPM":
		return true
	case len(b) > 1 && b[:2] == "\x1f\x8b":
		_, err := ReadLog(src)
		return err == nil
	}
	return false
}

// Open is ReadLog for callers that open files of several formats.
func Open(src io.ReaderAt) (source.Dump, error) {
	m, err := ReadLog(src)
	if err != nil {
		return nil, err
	}
	return m, nil
}
