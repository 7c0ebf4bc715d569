package safefile

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Unnamed makes a file without a name in a directory, open for reading and writing, for its user
// alone. The file is gone when it is closed, however the process ends. Where the file system knows
// no such files, it is made with a name like those of partial files, and loses that at once.
func Unnamed(dir string) (*sys.File, error) {
	fd, err := sys.OpenPath(dir, unix.O_RDWR|unix.O_TMPFILE|unix.O_CLOEXEC, 0o600)
	if err == nil {
		return sys.NewFile(fd, dir), nil
	}
	if !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.EINVAL) {
		return nil, err
	}
	parent, err := sys.OpenPath(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer sys.Close(parent)
	file, partial, err := Create(parent, "pipe", 0o600)
	if err != nil {
		return nil, err
	}
	if err := partial.Remove(); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
