package dumptail

import (
	"errors"
	"io"

	"github.com/jitinject/jitinject/jitdump"
)

// An ending says how a dump ends on the disk.
type ending int

const (
	endsWhole   ending = iota // after a record
	endsCut                   // inside a record or its header
	endsUnknown               // it is damaged, or no jitdump
)

// headerSize is the size of the header of a dump, at least, in bytes.
const headerSize = 40

// A growing reads the file on the disk, and later what follows it.
type growing struct {
	file io.ReaderAt
	size int64  // of the file, in bytes
	tail []byte // what follows
}

// NewReaderAt returns a reader of a dump as it will be: the first size bytes of the file, then the tail, as
// Tail returned both.
func NewReaderAt(file io.ReaderAt, size int64, tail []byte) io.ReaderAt {
	return &growing{file: file, size: size, tail: tail}
}

// ReadAt reads from the file up to its size, and then from the tail.
func (g *growing) ReadAt(b []byte, off int64) (n int, err error) {
	if off < g.size {
		n, err = g.file.ReadAt(b[:min(int64(len(b)), g.size-off)], off)
		if off+int64(n) < g.size && err != nil {
			return n, err // the file is shorter by now, or unreadable
		}
	}
	if at := off + int64(n) - g.size; n < len(b) && at < int64(len(g.tail)) {
		n += copy(b[n:], g.tail[at:])
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// walk reads the records up to the end, and calls known with the type of each.
func walk(r *jitdump.Reader, known func(jitdump.RecordID)) ending {
	for {
		raw, err := r.Next()
		switch {
		case err == nil:
			known(raw.ID)
		case errors.Is(err, io.EOF):
			return endsWhole
		case errors.Is(err, jitdump.ErrCut):
			return endsCut
		case errors.Is(err, jitdump.ErrTooLarge):
		default:
			if _, ok := r.Resync(); !ok {
				return endsUnknown
			}
		}
	}
}

// endingOf returns how the first size bytes of a file end. An empty file has no header yet.
func endingOf(file io.ReaderAt, size int64) ending {
	if size == 0 {
		return endsCut
	}
	src := io.NewSectionReader(file, 0, size)
	r, err := jitdump.NewReader(src)
	if err != nil {
		return endsUnknown
	}
	end := walk(r, func(jitdump.RecordID) {})
	rest := size - r.Offset()
	switch {
	case end == endsWhole && rest > 0 && rest < 8:
		return endsCut // zeros: the id of JIT_CODE_LOAD, rather than padding
	case end == endsCut && !mayBegin(src, r):
		return endsUnknown
	}
	return end
}

// A follower reads the records of a dump as far as it is on the disk, each once while it grows.
type follower struct {
	disk    growing // without a tail
	records *jitdump.Reader
	unsure  bool // the dump is damaged, or has records of unknown types
}

// fits reports whether bytes can be what follows the first size bytes of the dump: all records go on.
// Bytes that are on the disk already do not fit, as a rule: records would begin anywhere in them. It
// proves nothing for a dump that is damaged, or that has records of unknown types. size must not
// decrease.
func (f *follower) fits(size int64, tail []byte) bool {
	f.disk.size = size
	whole := &growing{file: f.disk.file, size: size, tail: tail}
	last := &spliced{src: whole}
	var err error
	if f.records == nil {
		f.records, err = jitdump.NewReader(&f.disk)
	}
	if err == nil {
		end := walk(f.records, func(id jitdump.RecordID) { f.unsure = f.unsure || !isKnown(id) })
		if f.unsure = f.unsure || end == endsUnknown; f.unsure {
			return true
		}
		last.head, last.from = f.records.Header().Size(), f.records.Offset()
	} else {
		f.records = nil // the header is not whole on the disk
	}
	r, err := jitdump.NewReader(last)
	if err != nil {
		return size+int64(len(tail)) < headerSize
	}
	for {
		raw, err := r.Next()
		switch {
		case err == nil && isKnown(raw.ID):
		case errors.Is(err, io.EOF):
			return true
		case errors.Is(err, jitdump.ErrCut):
			return mayBegin(last, r)
		default:
			return false
		}
	}
}

// A spliced is a dump without some of its first records: the header, and what is at from and after it.
type spliced struct {
	src        io.ReaderAt
	head, from int64 // size of the header and offset of the first record, in bytes; 0 for all records
}

// ReadAt reads from the header, and then from the records.
func (s *spliced) ReadAt(b []byte, off int64) (n int, err error) {
	if off < s.head {
		if n, err = s.src.ReadAt(b[:min(int64(len(b)), s.head-off)], off); err != nil || n == len(b) {
			return n, err
		}
	}
	more, err := s.src.ReadAt(b[n:], off+int64(n)-s.head+s.from)
	return n + more, err
}

// mayBegin reports whether the bytes where a reader stands can be the beginning of a record.
func mayBegin(src io.ReaderAt, r *jitdump.Reader) bool {
	var head [8]byte // id and total_size
	n, err := src.ReadAt(head[:], r.Offset())
	if n < len(head) {
		return err == io.EOF
	}
	order := r.Header().Order
	return isKnown(jitdump.RecordID(order.Uint32(head[:]))) && order.Uint32(head[4:]) <= jitdump.MaxRecord
}

// isKnown reports whether records have a type.
func isKnown(id jitdump.RecordID) bool {
	switch id {
	case jitdump.IDLoad, jitdump.IDMove, jitdump.IDDebugInfo, jitdump.IDClose, jitdump.IDUnwinding,
		jitdump.IDDebugInfo2, jitdump.IDTier, jitdump.IDEmbeddedSource, jitdump.IDOpenJ9:
		return true
	}
	return false
}
