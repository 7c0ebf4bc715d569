package dumptail

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A state is a FILE at one moment.
type state struct {
	buffer
	lib  *library
	held []byte // contents of the buffer
	size int64  // of the file, in bytes
}

// state reads the FILE, its buffer and the size of the file. changing reports that they changed
// meanwhile. The state is nil if there is no FILE.
func (r *reader) state(addr uint64, lib *library) (s *state, changing bool, err error) {
	var before, after [fileSize]byte
	if err := r.process.ReadCode(addr, before[:]); err != nil {
		return nil, false, err
	}
	b, ok := lib.parse(before[:], addr)
	if !ok || lib.descriptor(before[:]) != int32(r.dump.FD) {
		return nil, false, nil
	}
	first, err := r.file.Stat()
	if err != nil {
		return nil, false, err
	}
	s = &state{buffer: b, lib: lib, held: make([]byte, b.used), size: first.Size()}
	r.held += b.used
	if err := r.process.ReadCode(b.start, s.held); err != nil {
		return nil, false, err
	}
	if err := r.process.ReadCode(addr, after[:]); err != nil {
		return nil, false, err
	}
	second, err := sys.Stat(r.dump.link())
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(second, r.dump.Info) {
		return nil, false, errOther
	} else if err != nil {
		return nil, false, err
	}
	return s, before != after || first.Size() != second.Size(), nil
}

// A process may be interrupted between its write and the moment when the FILE says so: then the buffer
// still holds bytes that are on the disk. glibc's FILE mostly notes the place where the bytes belong.
// Otherwise, the contents decide.

const (
	// minRepeated is the size from which the same bytes are no chance, in bytes: a record's prefix
	// has 16, and a time.
	minRepeated = 32

	// repeatedIn is how much of the file's end is searched for the bytes of the buffer. musl writes
	// what does not fit into the buffer in the same call.
	repeatedIn = 1 << 20
)

// unwritten returns the bytes that follow the file, if that is beyond doubt.
func (s *state) unwritten(file io.ReaderAt, records *follower) (rest []byte, ok bool) {
	switch {
	case s.offset >= 0 && s.offset != s.size:
		return nil, false
	case s.used == 0:
		return nil, true
	case s.offset >= 0:
		return s.held, !s.isAtEnd(file, s.used)
	case s.isOnDisk(file):
		return nil, false
	}
	return s.held, s.used >= minRepeated && !s.lib.writesMore || records.fits(s.size, s.held)
}

// unfinished returns the bytes that follow the file of a process that stands still inside a write.
func (s *state) unfinished(file io.ReaderAt) (rest []byte, ok bool) {
	written := s.size - s.offset // if the offset is known
	switch {
	case s.used == 0:
		return nil, true
	case s.offset >= 0 && written > 0 && written <= int64(s.used) && s.isAtEnd(file, int(written)):
		return s.held[written:], true
	case s.offset >= 0 && written != 0:
		return nil, false
	}
	return nil, s.isOnDisk(file)
}

// isAtEnd reports whether the file ends with the first n bytes of the buffer. So few that it may be
// chance do not count.
func (s *state) isAtEnd(file io.ReaderAt, n int) bool {
	if n < minRepeated || int64(n) > s.size {
		return false
	}
	end := make([]byte, n)
	_, err := file.ReadAt(end, s.size-int64(n))
	return (err == nil || err == io.EOF) && bytes.Equal(end, s.held[:n])
}

// isOnDisk reports whether the end of the file has the bytes of the buffer.
func (s *state) isOnDisk(file io.ReaderAt) bool {
	if !s.lib.writesMore || s.used < minRepeated {
		return s.isAtEnd(file, s.used)
	}
	end := make([]byte, min(s.size, repeatedIn))
	n, err := file.ReadAt(end, s.size-int64(len(end)))
	return (err == nil || err == io.EOF) && bytes.Contains(end[:n], s.held)
}
