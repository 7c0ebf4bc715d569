package recording

import (
	"context"
	"io"
	"iter"

	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/perfdata"
)

// Walk returns all records, block by block, and reports progress as that of phase. A block is
// valid until the next one. An error, which may be ctx's, comes last.
func (in *Input) Walk(ctx context.Context, phase report.Phase) iter.Seq2[*perfdata.Block, error] {
	return func(yield func(*perfdata.Block, error) bool) {
		blocks, err := in.Blocks()
		if err != nil {
			yield(nil, err)
			return
		}
		in.walk(ctx, phase, blocks)(yield)
	}
}

// walk is Walk for a stream that is open.
func (in *Input) walk(ctx context.Context, phase report.Phase, blocks perfdata.Stream) iter.Seq2[*perfdata.Block, error] {
	return func(yield func(*perfdata.Block, error) bool) {
		pass := in.Pass(phase, blocks)
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
			pass.Read(&block)
			if !yield(&block, nil) {
				return
			}
		}
	}
}
