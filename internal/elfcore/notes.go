package elfcore

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// Types of notes with the names CORE and LINUX [include/uapi/linux/elf.h].
const (
	noteStatus  = 1          // NT_PRSTATUS
	noteProcess = 3          // NT_PRPSINFO
	noteFile    = 0x46494c45 // NT_FILE
)

const (
	// noteHeader is the size of a note's header: the sizes of its name and of what it
	// says, and its type.
	noteHeader = 12

	// maxNoteName is the longest name that counts, with its NUL.
	maxNoteName = 8

	// maxNote bounds the notes that are read, in bytes. The kernel writes no NT_FILE
	// above 4 MiB, or 16 MiB if it is told to.
	maxNote = 64 << 20
)

// notes goes through a segment of notes. What is wrong with one note is a problem; an
// error ends the segment.
func (c *Core) notes(e extent) error {
	for at, left := e.offset, e.size; left > 0; {
		var head [noteHeader + maxNoteName]byte
		n, err := c.readUpTo(head[:min(left, uint64(len(head)))], at)
		if err != nil {
			return fmt.Errorf("%s: note at offset %#x: %w", FormatName, at, err)
		}
		r := c.cursor("note", head[:n], at)
		nameSize, size, kind := r.U32("n_namesz"), r.U32("n_descsz"), r.U32("n_type")
		name := r.Bytes("name", min(uint64(nameSize), maxNoteName))
		if err := r.Err(); err != nil {
			return err
		}
		// Both parts are padded to 4 bytes, in 64-bit cores as well.
		descAt := noteHeader + (uint64(nameSize)+3)&^3
		end := descAt + (uint64(size)+3)&^3
		if descAt+uint64(size) > left {
			r.Bad("n_descsz", "a note of %d bytes, and %d are left of the segment", descAt+uint64(size), left)
			return r.Err()
		}
		if owner := string(name); uint64(nameSize) == uint64(len(name)) && (owner == "CORE\x00" || owner == "LINUX\x00") {
			if err := c.note(kind, at+int64(descAt), size); err != nil {
				c.Problems = append(c.Problems, err)
			}
		}
		end = min(end, left)
		at, left = at+int64(end), left-end
	}
	return nil
}

// note reads one note, if its type is known.
func (c *Core) note(kind uint32, at int64, size uint32) error {
	var decode func(*wire.Cursor)
	var name string
	switch kind {
	case noteStatus:
		decode, name = c.status, "NT_PRSTATUS"
	case noteProcess:
		decode, name = c.processInfo, "NT_PRPSINFO"
	case noteFile:
		decode, name = c.mappedFiles, "NT_FILE"
	default:
		return nil
	}
	if size > maxNote {
		return &wire.Error{Format: FormatName, Record: name, Offset: at, Text: fmt.Sprintf("%d bytes are more than %d", size, maxNote)}
	}
	data, err := c.readAll(at, int(size))
	if err != nil {
		return fmt.Errorf("%s: %s at offset %#x: %w", FormatName, name, at, err)
	}
	r := c.cursor(name, data, at)
	decode(&r)
	return r.Err()
}

// readAll reads n bytes. Memory grows with what is there, not with what is promised.
func (c *Core) readAll(at int64, n int) ([]byte, error) {
	b, err := io.ReadAll(io.NewSectionReader(c.src, at, int64(n)))
	if err == nil && len(b) < n {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// readUpTo reads what there is of p at an offset.
func (c *Core) readUpTo(p []byte, at int64) (int, error) {
	n, err := c.src.ReadAt(p, at)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// mappedFiles reads NT_FILE: a count and a unit, then of each mapping its start, its end
// and, in that unit, the offset of its start in the file; behind them their names.
func (c *Core) mappedFiles(r *wire.Cursor) {
	count := c.uword(r, "count")
	unit := c.uword(r, "page_size")
	if count > uint64(r.Len())/uint64(3*c.word()+1) {
		r.Bad("count", "%d mappings do not fit in the %d bytes that are left", count, r.Len())
		return
	}
	first := len(c.files)
	for range count {
		f := File{Start: c.uword(r, "start"), End: c.uword(r, "end")}
		offset := c.uword(r, "file_ofs")
		if f.End <= f.Start || unit != 0 && offset > math.MaxInt64/unit {
			r.Bad("file_ofs", "a mapping from %#x to %#x, of %#x pages of %d bytes on", f.Start, f.End, offset, unit)
			break
		}
		f.Offset = offset * unit
		c.files = append(c.files, f)
	}
	for i := first; i < len(c.files) && r.Err() == nil; i++ {
		c.files[i].Name = string(r.CString("filename"))
	}
	if r.Err() != nil {
		c.files = c.files[:first] // without their names they say nothing
	}
}
