package recording

import (
	"context"
	"io"
	"iter"
	"path/filepath"

	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/perfdata"
)

// Walk returns all records, block by block, and reports progress as that of phase. A block is
// valid until the next one. An error, which may be ctx's, comes last.
func (in *Input) Walk(ctx context.Context, phase report.Phase) iter.Seq2[*perfdata.Block, error] {
	return in.walk(ctx, phase, in.Blocks())
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

// A Pass reports the progress of a walk over the recording.
type Pass struct {
	// Progress is nil if it is not wanted.
	Progress *report.Progress
	file     *perfdata.BlockReader // nil where there are several files
}

// Pass returns a Pass for a walk over blocks, and begins phase.
func (in *Input) Pass(phase report.Phase, blocks perfdata.Stream) Pass {
	if in.Progress == nil || phase == report.PhaseNone {
		return Pass{}
	}
	p := Pass{Progress: in.Progress}
	var total int64
	switch {
	case in.DirNames == nil:
		p.file, _ = blocks.(*perfdata.BlockReader)
		total = int64(in.File.Header.Data.Offset + in.File.Header.Data.Size)
	case !in.File.Header.Features.Has(perfdata.FeatureCompressed):
		for _, name := range in.DirNames {
			if st, err := sys.Stat(filepath.Join(in.Path, filepath.Base(name))); err == nil {
				total += st.Size()
			}
		}
	}
	in.Progress.Begin(phase, total)
	return p
}

// Read reports a block that has been read.
func (p *Pass) Read(b *perfdata.Block) {
	if p.file != nil {
		p.Progress.Set(p.file.Offset()) // also past skipped parts
	} else {
		p.Progress.Add(int64(len(b.Data)))
	}
}
