package source

import "io"

// IsMonoLog reports whether a file begins as logs of Mono's profiler do, or holds what does and
// was packed by gzip.
func IsMonoLog(src io.ReaderAt, _ string) bool {
	var head [4]byte
	n, _ := src.ReadAt(head[:], 0)
	switch b := string(head[:n]); {
	case b == "\x01ZPM":
		return true
	case len(b) > 1 && b[:2] == "\x1f\x8b":
		_, err := OpenMonoLog(src)
		return err == nil
	}
	return false
}

// OpenLog is OpenMonoLog for callers that open files of several formats.
func OpenLog(src io.ReaderAt) (Dump, error) {
	m, err := OpenMonoLog(src)
	if err != nil {
		return nil, err
	}
	return m, nil
}
