package inject

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// An output is the file that a result goes into: written beside its place, and
// put there when it is whole.
type output struct {
	path string
	file *os.File
	temp string // where it is being written; empty for a device
}

// openOutput starts the output. It refuses what would destroy the input.
func openOutput(path string, input os.FileInfo) (*output, error) {
	for _, p := range []string{path, path + ".old"} {
		st, err := os.Stat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		case os.SameFile(st, input):
			if p == path {
				return nil, fmt.Errorf("%s is the input as well; name another output with -o", Printable(path))
			}
			return nil, fmt.Errorf("the input is %s, which would be replaced by the present %s; name another output with -o", Printable(p), Printable(path))
		}
	}
	st, err := os.Lstat(path)
	switch {
	case err == nil && st.IsDir():
		return nil, fmt.Errorf("%s is a directory; name a file with -o", Printable(path))
	case err == nil && st.Mode()&os.ModeDevice != 0: // -o /dev/null
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &output{path: path, file: f}, nil
	case err == nil && st.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0:
		return nil, fmt.Errorf("%s is a pipe, and a recording in file format cannot be written to one", Printable(path))
	}
	// As perf does, only the owner may read it: a recording holds addresses.
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, fmt.Errorf("cannot write beside the output: %w", err)
	}
	return &output{path: path, file: f, temp: f.Name()}, nil
}

// commit puts the finished file in its place. What was there becomes PATH.old,
// as with perf, unless it was empty.
func (o *output) commit() error {
	if o.temp == "" {
		return o.file.Close()
	}
	if err := o.file.Close(); err != nil {
		return err
	}
	if st, err := os.Lstat(o.path); err == nil && st.Size() > 0 {
		if err := os.Rename(o.path, o.path+".old"); err != nil {
			return err
		}
	}
	if err := os.Rename(o.temp, o.path); err != nil {
		return err
	}
	o.temp = ""
	return nil
}

// abandon removes what has been written. After commit it does nothing.
func (o *output) abandon() {
	o.file.Close()
	if o.temp != "" {
		os.Remove(o.temp)
	}
}
