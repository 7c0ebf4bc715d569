package inject

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// An output is the file that a result goes into: written beside its place, and
// put there when it is whole.
type output struct {
	path   string
	file   *os.File
	parent int      // descriptor of the directory that path is in
	temp   *partial // where it is being written; nil for a device or a pipe
	stream bool     // it gets the pipe format
	dir    bool     // it is a directory; file is data in it
	keep   bool     // it stays open
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
			for _, other := range d.otherFiles() {
				if dst, err := os.Stat(other); err == nil && os.SameFile(st, dst) {
					what = fmt.Sprintf("a capture of process %d", d.pid)
				}
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
	o := &output{path: path}
	err := o.create(func() (err error) {
		o.file, o.temp, err = createPartial(o.parent, filepath.Base(path), 0o600)
		return err
	})
	if err != nil {
		return nil, outputError(path, err)
	}
	return o, nil
}

// create has something made in the directory that the output is to be in.
func (o *output) create(do func() error) (err error) {
	if o.parent, err = unix.Open(filepath.Dir(o.path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return err
	}
	if err = do(); err != nil {
		unix.Close(o.parent)
	}
	return err
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

// giveUp has a pipe that nobody empties keep the run from its end no longer than until
// ctx is cancelled. The caller calls what it returns when no more is written.
func (o *output) giveUp(ctx context.Context) (stop func() bool) {
	if !o.stream {
		return func() bool { return true }
	}
	return context.AfterFunc(ctx, func() { o.file.SetWriteDeadline(time.Now()) }) // standard output may have none
}

// size returns how many bytes have been written, where written is how many went into a
// pipe or device.
func (o *output) size(written int64) int64 {
	if o.temp == nil {
		return written
	}
	return sizeOf(o.inside(""))
}

// commit puts the finished file in its place. What was there becomes PATH.old,
// as with perf, unless it was empty.
func (o *output) commit() error {
	if o.keep {
		return nil
	}
	if o.temp == nil {
		return o.file.Close()
	}
	if err := o.file.Close(); err != nil {
		return outputError(o.path, err)
	}
	name := filepath.Base(o.path)
	old := name + ".old"
	var st unix.Stat_t
	kept := unix.Fstatat(o.parent, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Size > 0
	if kept {
		if o.dir {
			removePartialDir(o.parent, old) // a directory in its place would be in the way
		}
		if err := o.keepOld(name, old); err != nil {
			return outputError(o.path+".old", err)
		}
	}
	if err := o.temp.rename(name); err != nil {
		if kept {
			unix.Renameat(o.parent, old, o.parent, name)
		}
		return outputError(o.path, err)
	}
	return nil
}

// keepOld gives the file name the name old. Where there are hard links it has both for
// a moment, so that there is never none.
func (o *output) keepOld(name, old string) error {
	for i := range guessed {
		second := fmt.Sprintf(".%.200s.%d.partial", old, i)
		removeStale(o.parent, second, unix.S_IFREG)
		err := unix.Linkat(o.parent, name, o.parent, second, 0)
		if errors.Is(err, unix.EEXIST) {
			continue
		}
		if err == nil {
			if err = unix.Renameat(o.parent, second, o.parent, old); err == nil {
				// Two names of one file stay two names.
				unix.Unlinkat(o.parent, second, 0)
				return nil
			}
			unix.Unlinkat(o.parent, second, 0)
		}
		break
	}
	return unix.Renameat(o.parent, name, o.parent, old)
}

// abandon removes what has been written. After commit it removes nothing.
func (o *output) abandon() {
	if !o.keep && o.file != nil {
		o.file.Close()
	}
	if o.temp == nil {
		return
	}
	if o.dir && o.temp.name != "" {
		removePartialDir(o.parent, o.temp.name)
	}
	o.temp.remove()
	unix.Close(o.parent)
}
