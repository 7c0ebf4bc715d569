package view

import (
	"io"

	"github.com/jitinject/jitinject/internal/safefile"
)

// maxSource is the most of a source file that a page shows, in bytes.
const maxSource = 4 << 20

// ReadSource reads a source file, for Options.Sources. The path is from a recording, and may lead to a
// device or a FIFO: only regular files are read.
func ReadSource(path string) ([]byte, error) {
	f, err := safefile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSource))
}
