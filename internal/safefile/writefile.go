package safefile

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// WriteFile writes a file that a user named, completely or not at all. It replaces a regular file of
// that name. To a device or a FIFO it writes directly. write gets a buffer; its error is returned.
func WriteFile(path string, mode uint32, write func(io.Writer) error) (err error) {
	if st, serr := sys.Stat(path); serr == nil && !st.Mode().IsRegular() {
		f, err := sys.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(buffered(f, write), f.Close())
	}
	return Replace(path, mode, write)
}

// Replace is WriteFile, but replaces a path that is no regular file, too: a link, or a device.
func Replace(path string, mode uint32, write func(io.Writer) error) (err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return err
	}
	dir, err := OpenDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer sys.Close(dir)
	f, partial, err := Create(dir, filepath.Base(path), mode)
	if err != nil {
		return err
	}
	err = buffered(f, write)
	if cerr := f.Close(); err == nil { // some file systems report a full disk only now
		err = cerr
	}
	if err == nil {
		err = partial.Rename(filepath.Base(path))
	}
	if err != nil {
		return errors.Join(err, partial.Remove())
	}
	return nil
}

// buffered calls write with a buffer for f.
func buffered(f io.Writer, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}
