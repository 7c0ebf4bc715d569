package rewrite

import (
	"os"

	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/perfdata"
)

// A unseenCopier is a sink that can have the kernel copy.
type unseenCopier interface {
	CopyRange(src *os.File, offset, n int64) error
}

// copyUnseen copies what need not be looked at, if that is much.
func (r *Copier) copyUnseen(blocks perfdata.Stream) error {
	dst, ok := r.Out.(unseenCopier)
	reader, isFile := blocks.(*perfdata.BlockReader)
	if !ok || !isFile || r.Rec.Runs.List == nil {
		return nil
	}
	next := ^uint64(0)
	if r.Next < len(r.Plan.Mappings) {
		next = r.Plan.Mappings[r.Next].Time
	}
	from := reader.Offset()
	to := r.Rec.Runs.Untouched(from, next)
	if to-from < recording.MinRun {
		return nil
	}
	if err := dst.CopyRange(r.Rec.In.Plain, from, to-from); err != nil {
		return err
	}
	return reader.SkipTo(to)
}
