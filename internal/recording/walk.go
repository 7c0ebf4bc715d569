package recording

import (
	"context"
	"io"
	"iter"
	"math"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/perfdata"
)

// Walk returns all records, block by block, and reports progress as that of phase. A block is
// valid until the next one. An error, which may be ctx's, comes last.
func (in *Input) Walk(ctx context.Context, phase report.Phase) iter.Seq2[*perfdata.Block, error] {
	return func(yield func(*perfdata.Block, error) bool) {
		blocks := in.Blocks()
		through(ctx, blocks, in.Pass(phase, blocks))(yield)
	}
}

// through returns the blocks of a stream, as Walk does.
func through(ctx context.Context, blocks perfdata.Stream, pass Pass) iter.Seq2[*perfdata.Block, error] {
	return func(yield func(*perfdata.Block, error) bool) {
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

// minPiece is the least number of bytes that a worker of EachBlock reads at once, piecesEach the number
// of such parts that it gets of a large recording. A reader takes some microseconds to make.
const (
	minPiece   = 1 << 20
	piecesEach = 16
)

// EachBlock walks all records as Walk does, with the functions that worker returns. If the input is a plain
// file, there is one for each CPU, which run at the same time and get the blocks in any order. The error
// is the one that a walk in order would come across first. All runs must be there still: see
// [runs.Untouched].
func (r *Recording) EachBlock(ctx context.Context, phase report.Phase, worker func() func(*perfdata.Block) error) error {
	each := func(blocks perfdata.Stream, pass Pass, do func(*perfdata.Block) error) error {
		for block, err := range through(ctx, blocks, pass) {
			if err == nil {
				err = do(block)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	left, end := r.Runs.List, r.Runs.begin
	if len(left) == 0 {
		blocks := r.In.Blocks()
		return each(blocks, r.In.Pass(phase, blocks), worker())
	}
	most := runtime.GOMAXPROCS(0)
	size := max(minPiece, (left[len(left)-1].end-end)/int64(piecesEach*most))
	var mu sync.Mutex
	var failed error
	pieces, first := 0, math.MaxInt // the number of pieces, and of the one that failed
	next := func() (n int, from, to int64) {
		mu.Lock()
		defer mu.Unlock()
		for from = end; len(left) > 0 && end-from < size; left = left[1:] {
			end = left[0].end
		}
		pieces++
		return pieces, from, end
	}
	pass := r.In.Pass(phase, nil)
	pass.Progress.Add(r.Runs.begin) // the header
	var workers sync.WaitGroup
	for range most {
		workers.Go(func() {
			do := worker()
			for n, from, to := next(); from < to; n, from, to = next() {
				if err := each(r.In.File.BlocksIn(from, to-from), pass, do); err != nil {
					mu.Lock()
					if left = nil; n < first {
						first, failed = n, err
					}
					mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
	return failed
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
