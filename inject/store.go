package inject

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// A store is a directory that objects are written into. Nothing in it is ever
// changed in place: a file that an earlier result refers to stays as it was
// until it is replaced as a whole.
type store struct {
	path string
	fd   int
}

// objectMode is what the files are created with, less the umask.
const objectMode = 0o644

// openStore opens a directory, making it first if create is set, and checks that
// files can be made in it.
func openStore(path string, create bool) (*store, error) {
	if create {
		if err := os.MkdirAll(path, 0o777); err != nil {
			return nil, err
		}
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	if err := unix.Faccessat(fd, ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
		unix.Close(fd)
		return nil, &os.PathError{Op: "write", Path: path, Err: err}
	}
	return &store{path: path, fd: fd}, nil
}

func (s *store) close() { unix.Close(s.fd) }

// outcome says what put did.
type outcome int

const (
	created outcome = iota
	unchanged
	replaced
)

// put makes sure that the file name in the directory holds content. One that
// does already is left alone; another is replaced by rename. Links are never
// followed. scratch is memory for reading, returned for the next call.
func (s *store) put(name string, content, scratch []byte) (outcome, []byte, error) {
	err := s.create(name, content)
	if !errors.Is(err, unix.EEXIST) {
		return created, scratch, err
	}
	same, scratch := s.holds(name, content, scratch)
	if same {
		return unchanged, scratch, nil
	}
	for i := 0; ; i++ {
		temp := fmt.Sprintf(".%s.%d.%d", name, os.Getpid(), i)
		err := s.create(temp, content)
		if errors.Is(err, unix.EEXIST) && i < 100 {
			continue
		}
		if err == nil {
			if err = unix.Renameat(s.fd, temp, s.fd, name); err != nil {
				unix.Unlinkat(s.fd, temp, 0)
			}
		}
		return replaced, scratch, err
	}
}

// create writes a file that is not there yet, and leaves none if it fails.
func (s *store) create(name string, content []byte) error {
	fd, err := unix.Openat(s.fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, objectMode)
	if err != nil {
		return err
	}
	for len(content) > 0 && err == nil {
		var n int
		n, err = unix.Write(fd, content)
		content = content[max(n, 0):]
		if errors.Is(err, unix.EINTR) {
			err = nil
		}
	}
	if cerr := unix.Close(fd); err == nil {
		err = cerr
	}
	if err != nil {
		unix.Unlinkat(s.fd, name, 0)
	}
	return err
}

// holds reports whether the file name is a regular file with the given content.
func (s *store) holds(name string, content, scratch []byte) (bool, []byte) {
	fd, err := unix.Openat(s.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, scratch
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size != int64(len(content)) {
		return false, scratch
	}
	if cap(scratch) < len(content) {
		scratch = make([]byte, len(content))
	}
	got := 0
	for got < len(content) {
		n, err := unix.Read(fd, scratch[got:len(content)])
		if n <= 0 || err != nil {
			return false, scratch
		}
		got += n
	}
	return bytes.Equal(scratch[:got], content), scratch
}

// remove deletes a file that put created.
func (s *store) remove(name string) { unix.Unlinkat(s.fd, name, 0) }
