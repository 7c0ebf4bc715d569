package xrayfdr

import (
	"errors"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/wire"
)

// maxBlocks bounds an index. With the smallest buffers that runtimes are
// configured with, 4 KiB, these are 8 GiB.
const maxBlocks = 1 << 21

// maxProblems bounds the problems that an index keeps.
const maxProblems = 100

// An Index says where the blocks of a trace are, so that threads can be gone
// through side by side: see Reader.OpenBlock.
type Index struct {
	Header   *Header
	Blocks   []Block // in the order of the file
	Problems []error // places where a block has to begin and does not; the first 100
	Fixes    Fixes   // what was set right to find the blocks
}

// indexWindowSize is enough for the records that begin a block.
const indexWindowSize = 256

// ReadIndex finds the blocks of a trace. It reads the first records of each and skips the others.
func ReadIndex(src io.ReaderAt, size int64) (*Index, error) {
	r, err := newReader(src, size, indexWindowSize)
	if err != nil {
		return nil, err
	}
	x := &Index{Header: r.header}
	for {
		b, err := r.NextBlock()
		var violation *wire.Error
		switch {
		case err == io.EOF:
			x.Fixes = r.fixes
			return x, nil
		case errors.As(err, &violation):
			if len(x.Problems) < maxProblems {
				x.Problems = append(x.Problems, err)
			}
			continue
		case err != nil:
			return nil, err
		case len(x.Blocks) == maxBlocks:
			return nil, fmt.Errorf("%s: more than %d blocks", FormatName, maxBlocks)
		}
		x.Blocks = append(x.Blocks, *b)
	}
}
