package rewrite

import (
	"encoding/binary"
	"io"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/perfdata"
)

// extendBuildIDs adds the objects to a build-id table. A recording without one gets none: the
// mappings carry the ids.
func (r *copier) extendBuildIDs(table *io.SectionReader) *io.SectionReader {
	t := &buildIDs{order: r.order(), old: table, objects: r.Plan.Objects}
	size := table.Size()
	for t.fill() {
		size += int64(len(t.entries))
	}
	t.rewind()
	return io.NewSectionReader(t, 0, size)
}

// buildIDs is a build-id table with entries of objects at its end. 100,000 entries are 10 MB, so
// they are made when they are read.
type buildIDs struct {
	order   binary.ByteOrder
	old     *io.SectionReader
	objects []model.Object
	// entries are those at offset start, up to the object next.
	entries []byte
	start   int64
	next    int
	path    []byte
}

// entriesAtOnce is how many bytes of entries are made together.
const entriesAtOnce = 32 << 10

func (t *buildIDs) rewind() { t.entries, t.start, t.next = t.entries[:0], t.old.Size(), 0 }

// fill makes the next entries. It reports whether there are any.
func (t *buildIDs) fill() bool {
	t.start += int64(len(t.entries))
	t.entries = t.entries[:0]
	for ; t.next < len(t.objects) && len(t.entries) < entriesAtOnce; t.next++ {
		if o := &t.objects[t.next]; o.Made {
			t.path = o.AppendPath(t.path[:0])
			t.entries = perfdata.AppendBuildID(t.entries, t.order, t.path, o.BuildID[:])
		}
	}
	return len(t.entries) > 0
}

// ReadAt reads from the table. Reading it from front to back makes each entry once. Unlike other
// ReadAts it may not run in parallel.
func (t *buildIDs) ReadAt(p []byte, off int64) (n int, err error) {
	if of := t.old.Size() - off; of > 0 {
		want := int(min(int64(len(p)), of))
		if n, err = t.old.ReadAt(p[:want], off); n < want {
			if err == io.EOF { // the recording has become shorter
				err = io.ErrUnexpectedEOF
			}
			return n, err
		}
		off += int64(n)
	}
	if off < t.start {
		t.rewind()
	}
	for n < len(p) {
		for off >= t.start+int64(len(t.entries)) {
			if !t.fill() {
				return n, io.EOF
			}
		}
		copied := copy(p[n:], t.entries[off-t.start:])
		n += copied
		off += int64(copied)
	}
	return n, nil
}

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
