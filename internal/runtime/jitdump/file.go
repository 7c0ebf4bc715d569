package jitdump

import (
	"io"

	"github.com/jitinject/jitinject/internal/source"
)

// Kind is the kind of jitdumps in the summary and in options.
const Kind = "jitdump"

// Identify reports whether a file begins with the magic number of jitdumps.
func Identify(src io.ReaderAt, _ string) bool {
	var head [4]byte
	n, _ := src.ReadAt(head[:], 0)
	return string(head[:n]) == "DTiJ" || string(head[:n]) == "JiTD"
}

// Open is OpenFile for callers that open files of several formats.
func Open(src io.ReaderAt) (source.Dump, error) {
	d, err := OpenFile(src)
	if err != nil {
		return nil, err
	}
	return d, nil
}
