package inject

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// An output is the file that a result goes into: written beside its place, and
// put there when it is whole.
type output struct {
	path   string
	file   *os.File
	temp   string // where it is being written; empty for a device or a pipe
	stream bool   // it gets the pipe format
	dir    bool   // it is a directory; file is data in it
	keep   bool   // it stays open
}

// openOutput starts the output. It refuses what would destroy the input or a dump.
func openOutput(opts *Options, in *input, dumps []*dump) (*output, error) {
	path := opts.Output
	if path == "-" {
		f := opts.Stdout
		if f == nil {
			f = os.Stdout
		}
		if _, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS); err == nil {
			return nil, errors.New("standard output is a terminal, which a recording would upset; name a file with -o")
		}
		return &output{path: "standard output", file: f, stream: true, keep: true}, nil
	}
	if wantsDir(path) {
		return openOutputDir(opts, in)
	}
	for _, p := range []string{path, path + ".old"} {
		st, err := os.Stat(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, outputError(p, err)
		}
		what := ""
		if os.SameFile(st, in.info) {
			what = "the input"
		}
		for _, d := range dumps {
			if dst, err := d.file.Stat(); err == nil && os.SameFile(st, dst) {
				what = fmt.Sprintf("the dump of process %d", d.pid)
			}
		}
		switch {
		case what != "" && p == path:
			return nil, fmt.Errorf("%s is %s; name another output with -o", Printable(path), what)
		case what != "":
			return nil, fmt.Errorf("%s is %s, and would be replaced by the present %s; name another output with -o", Printable(p), what, Printable(path))
		case p != path && st.IsDir():
			return nil, fmt.Errorf("%s is a directory, where the present %s would go; name another output with -o", Printable(p), Printable(path))
		case p == path:
			if o, err := openSpecial(path, st.Mode()); o != nil || err != nil {
				return o, err
			}
		}
	}
	// As perf does, only the owner may read it: a recording holds addresses.
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, outputError(path, err)
	}
	return &output{path: path, file: f, temp: f.Name()}, nil
}

// openSpecial deals with outputs that exist and are no regular files: a device,
// such as /dev/null, is written to as it is.
func openSpecial(path string, mode fs.FileMode) (*output, error) {
	link, err := os.Lstat(path)
	if err != nil {
		return nil, outputError(path, err)
	}
	switch {
	case mode.IsDir():
		return nil, fmt.Errorf("%s is a directory; name a file with -o", Printable(path))
	case mode&os.ModeDevice != 0:
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, outputError(path, err)
		}
		return &output{path: path, file: f}, nil
	case mode&os.ModeNamedPipe != 0:
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, outputError(path, err)
		}
		return &output{path: path, file: f, stream: true}, nil
	case mode&os.ModeSocket != 0:
		return nil, fmt.Errorf("%s is a socket; name a file with -o", Printable(path))
	case link.Mode()&os.ModeSymlink != 0 && strings.HasPrefix(path, "/dev/"):
		return nil, fmt.Errorf("%s is a link that belongs to the system; name a file with -o", Printable(path))
	}
	return nil, nil
}

// outputError says that the output cannot be written, and what to do.
func outputError(path string, err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch { // without the name of the temporary file
	case errors.As(err, &pe):
		err = pe.Err
	case errors.As(err, &le):
		err = le.Err
	}
	return fmt.Errorf("%s: cannot write there: %w; name another output with -o", Printable(path), err)
}

// size returns how many bytes have been written, where written is how many went into a
// pipe or device.
func (o *output) size(written int64) int64 {
	if o.temp == "" {
		return written
	}
	return sizeOf(o.temp)
}

// commit puts the finished file in its place. What was there becomes PATH.old,
// as with perf, unless it was empty.
func (o *output) commit() error {
	if o.keep {
		return nil
	}
	if o.temp == "" {
		return o.file.Close()
	}
	if err := o.file.Close(); err != nil {
		return outputError(o.path, err)
	}
	old := o.path + ".old"
	st, err := os.Lstat(o.path)
	kept := err == nil && st.Size() > 0
	if kept {
		if o.dir {
			os.RemoveAll(old) // a directory in its place would be in the way
		}
		if err := os.Rename(o.path, old); err != nil {
			return outputError(old, err)
		}
	}
	if err := os.Rename(o.temp, o.path); err != nil {
		if kept {
			os.Rename(old, o.path)
		}
		return outputError(o.path, err)
	}
	o.temp = ""
	return nil
}

// abandon removes what has been written. After commit it does nothing.
func (o *output) abandon() {
	if !o.keep {
		o.file.Close()
	}
	if o.temp != "" {
		os.RemoveAll(o.temp)
	}
}
