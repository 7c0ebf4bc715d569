package objstore

import (
	"bytes"
	"errors"
	"io"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// An existing is the file that has the name of a new object.
type existing struct {
	is    bool // there is one, or it is unknown whether
	same  bool // it is a regular file with the same content
	safe  bool // in addition, only the user and root can change it
	fresh bool // see isFresh
}

// mayStay reports whether the file can stay instead of a new one.
func (e existing) mayStay(s *Store) bool { return e.safe && s.alone }

// replaced returns the outcome when a new file has replaced it.
func (e existing) replaced() Outcome {
	switch {
	case !e.is || e.fresh:
		return Created
	case e.same:
		return Unchanged
	}
	return Replaced
}

// existing compares the file of a name with a content of some bytes. It looks at the open file: another run may
// replace the name at any time.
func (s *Store) existing(name string, content io.ReaderAt, size int64) (e existing) {
	fd, err := sys.Openat(s.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		var st unix.Stat_t // an error may be one of opening it
		absent := errors.Is(err, unix.ENOENT) || errors.Is(sys.Fstatat(s.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW), unix.ENOENT)
		return existing{is: !absent}
	}
	there := sys.NewFile(fd, name)
	defer there.Close()
	e = existing{is: true, same: hasContent(there, content, size)}
	var st unix.Stat_t
	if sys.Fstat(fd, &st) == nil {
		e.safe = e.same && (st.Uid == s.uid || st.Uid == 0) && st.Mode&0o022 == 0
		e.fresh = s.isFresh(&st)
	}
	return e
}

// hasContent reports whether a file is a regular one with a content of some bytes.
func hasContent(file *sys.File, content io.ReaderAt, size int64) bool {
	st, err := file.Stat()
	if err != nil || !st.Mode().IsRegular() || st.Size() != size {
		return false
	}
	const most = 64 << 10
	n := min(size, most)
	p, q := make([]byte, n), make([]byte, n)
	for at := int64(0); at < size; at += n {
		n = min(n, size-at)
		if !isRead(file, p[:n], at) || !isRead(content, q[:n], at) || !bytes.Equal(p[:n], q[:n]) {
			return false
		}
	}
	return true
}

// isRead reports whether all of p could be read at an offset.
func isRead(r io.ReaderAt, p []byte, at int64) bool {
	n, err := r.ReadAt(p, at)
	return n == len(p) && (err == nil || err == io.EOF)
}
