package rewrite

import (
	"io"

	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/perfdata"
)

// An unseenCopier is a sink that can have the kernel copy.
type unseenCopier interface {
	CopyRange(src io.ReadSeeker, offset, n int64) error
}

// copyUnseen copies the next records that need not be read, if they have at least
// recording.MinRun bytes.
func (r *copier) copyUnseen(blocks perfdata.Stream) error {
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
