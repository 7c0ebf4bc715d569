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

// fits reports whether bytes can be what follows the first size bytes of a dump: all records go on.
// Bytes that are on the disk already do not fit, as a rule: records would begin anywhere in them. It
// proves nothing for a dump that is damaged, or that has records of unknown types.
func fits(file io.ReaderAt, size int64, tail []byte) bool {
	src := &growing{file: file, size: size}
	r, err := jitdump.NewReader(src)
	if err != nil { // the header is not whole on the disk
		src.tail = tail
		if r, err = jitdump.NewReader(src); err != nil {
			return size+int64(len(tail)) < headerSize
		}
	}
	strange := false
	note := func(id jitdump.RecordID) { strange = strange || !isKnown(id) }
	if walk(r, note) == endsUnknown || strange {
		return true
	}
	src.tail = tail
	for {
		raw, err := r.Next()
		switch {
		case err == nil && isKnown(raw.ID):
		case errors.Is(err, io.EOF):
			return true
		case errors.Is(err, jitdump.ErrCut):
			return mayBegin(src, r)
		default:
			return false
		}
	}
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
