package safefile

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// maxSource is the largest source file that is read, in bytes.
const maxSource = 8 << 20

// ReadSource returns the text of a source file that a dump or a recording names, which anyone may have
// written. It follows links, and reads only regular files that are not larger than 8 MiB. Files of /proc,
// some of which lose their contents when they are read, say that they are empty, and are not read either.
func ReadSource(path string) ([]byte, error) {
	fd, err := sys.OpenPath(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	f, err := RegularFile(fd, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case st.Size() == 0:
		return nil, errors.New("it is empty")
	case st.Size() > maxSource:
		return nil, fmt.Errorf("it has more than %d MiB", maxSource>>20)
	}
	return io.ReadAll(io.LimitReader(f, maxSource))
}
