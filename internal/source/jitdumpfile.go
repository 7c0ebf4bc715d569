package source

import "io"

// IsJitdump reports whether a file begins as jitdumps do.
func IsJitdump(src io.ReaderAt, _ string) bool {
	var head [4]byte
	n, _ := src.ReadAt(head[:], 0)
	return string(head[:n]) == "DTiJ" || string(head[:n]) == "JiTD"
}

// OpenDump is OpenJitdump for callers that open files of several formats.
func OpenDump(src io.ReaderAt) (Dump, error) {
	d, err := OpenJitdump(src)
	if err != nil {
		return nil, err
	}
	return d, nil
}
