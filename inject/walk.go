package inject

import (
	"context"
	"io"
	"iter"

	"github.com/jitinject/jitinject/perfdata"
)

// walk goes through all records once, block by block; progress is told as that of phase.
// A block is valid until the next one. An error, which may be ctx's, is the last thing
// that comes.
func (in *input) walk(ctx context.Context, phase Phase) iter.Seq2[*perfdata.Block, error] {
	return func(yield func(*perfdata.Block, error) bool) {
		blocks, err := in.blocks()
		if err != nil {
			yield(nil, err)
			return
		}
		pass := in.pass(phase, blocks)
		for {
			block, err := blocks.Next()
			if err == io.EOF {
				return
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			pass.read(&block)
			if !yield(&block, nil) {
				return
			}
		}
	}
}
