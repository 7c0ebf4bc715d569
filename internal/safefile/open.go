package safefile

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Open opens a possible dump. It does not follow a symbolic link in the last component of its path,
// and opens only regular files. Any user can plant files in /tmp, and jitinject may run as root.
func Open(path string) (*sys.File, error) {
	// O_NONBLOCK: opening a FIFO must not wait for a writer.
	fd, err := sys.OpenPath(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) {
		return nil, errors.New("it is a symbolic link, which is not followed: anyone could have put it there")
	} else if err != nil {
		return nil, err
	}
	return RegularFile(fd, path)
}

// RegularFile returns a File for a descriptor. It fails, and closes the descriptor, if that is not
// a regular file.
func RegularFile(fd int, path string) (*sys.File, error) {
	file := sys.NewFile(fd, path)
	st, err := file.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// IsAbsent reports whether an error of opening or examining a path says that there is nothing. Any other
// error says nothing about what is there.
func IsAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR)
}

// PlainError returns an error without the name of the file, which the message already has.
func PlainError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("there is no such file")
	}
	if in, ok := err.(*fs.PathError); ok {
		return in.Err
	}
	return err
}
