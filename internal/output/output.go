package output

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

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/safefile"
)

// An Output is the file that a result goes into: written beside its place, and
// put there when it is whole.
type Output struct {
	path   string
	file   *os.File
	parent int               // descriptor of the directory that path is in
	Temp   *safefile.Partial // where it is being written; nil for a device or a pipe
	Stream bool              // it gets the pipe format
	dir    bool              // it is a directory; file is data in it
	keep   bool              // it stays open
}

// Open starts the output. It refuses what would destroy the input or a dump.
func Open(opts *config.Options, in *recording.Input, dumps []*model.Dump) (*Output, error) {
	path := opts.Output
	if path == "-" {
		f := opts.Stdout
		if f == nil {
			f = os.Stdout
		}
		if _, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS); err == nil {
			return nil, errors.New("standard output is a terminal, which a recording would upset; name a file with -o")
		}
		return &Output{path: "standard output", file: f, Stream: true, keep: true}, nil
	}
	if wantsDir(path) {
		return openOutputDir(opts, in)
	}
	for _, p := range []string{path, path + ".old"} {
		st, err := os.Stat(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, Error(p, err)
		}
		what := ""
		if os.SameFile(st, in.Info) {
			what = "the input"
		}
		for _, d := range dumps {
			if dst, err := d.File.Stat(); err == nil && os.SameFile(st, dst) {
				what = fmt.Sprintf("the dump of process %d", d.PID)
			}
			for _, other := range d.OtherFiles() {
				if dst, err := os.Stat(other); err == nil && os.SameFile(st, dst) {
					what = fmt.Sprintf("a capture of process %d", d.PID)
				}
			}
		}
		switch {
		case what != "" && p == path:
			return nil, fmt.Errorf("%s is %s; name another output with -o", quote.Printable(path), what)
		case what != "":
			return nil, fmt.Errorf("%s is %s, and would be replaced by the present %s; name another output with -o", quote.Printable(p), what, quote.Printable(path))
		case p != path && st.IsDir():
			return nil, fmt.Errorf("%s is a directory, where the present %s would go; name another output with -o", quote.Printable(p), quote.Printable(path))
		case p == path:
			if o, err := openSpecial(path, st.Mode()); o != nil || err != nil {
				return o, err
			}
		}
	}
	// As perf does, only the owner may read it: a recording holds addresses.
	o := &Output{path: path}
	err := o.create(func() (err error) {
		o.file, o.Temp, err = safefile.Create(o.parent, filepath.Base(path), 0o600)
		return err
	})
	if err != nil {
		return nil, Error(path, err)
	}
	return o, nil
}

// create has something made in the directory that the output is to be in.
func (o *Output) create(do func() error) (err error) {
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
func openSpecial(path string, mode fs.FileMode) (*Output, error) {
	link, err := os.Lstat(path)
	if err != nil {
		return nil, Error(path, err)
	}
	switch {
	case mode.IsDir():
		return nil, fmt.Errorf("%s is a directory; name a file with -o", quote.Printable(path))
	case mode&os.ModeDevice != 0:
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, Error(path, err)
		}
		return &Output{path: path, file: f}, nil
	case mode&os.ModeNamedPipe != 0:
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, Error(path, err)
		}
		return &Output{path: path, file: f, Stream: true}, nil
	case mode&os.ModeSocket != 0:
		return nil, fmt.Errorf("%s is a socket; name a file with -o", quote.Printable(path))
	case link.Mode()&os.ModeSymlink != 0 && strings.HasPrefix(path, "/dev/"):
		return nil, fmt.Errorf("%s is a link that belongs to the system; name a file with -o", quote.Printable(path))
	}
	return nil, nil
}

// Error says that the output cannot be written, and what to do.
func Error(path string, err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch { // without the name of the temporary file
	case errors.As(err, &pe):
		err = pe.Err
	case errors.As(err, &le):
		err = le.Err
	}
	return fmt.Errorf("%s: cannot write there: %w; name another output with -o", quote.Printable(path), err)
}

// GiveUp has a pipe that nobody empties keep the run from its end no longer than until
// ctx is cancelled. The caller calls what it returns when no more is written.
func (o *Output) GiveUp(ctx context.Context) (stop func() bool) {
	if !o.Stream {
		return func() bool { return true }
	}
	return context.AfterFunc(ctx, func() { o.file.SetWriteDeadline(time.Now()) }) // standard output may have none
}

// Size returns how many bytes have been written, where written is how many went into a
// pipe or device.
func (o *Output) Size(written int64) int64 {
	if o.Temp == nil {
		return written
	}
	return recording.SizeOf(o.inside(""))
}

// Commit puts the finished file in its place. What was there becomes PATH.old,
// as with perf, unless it was empty.
func (o *Output) Commit() error {
	if o.keep {
		return nil
	}
	if o.Temp == nil {
		return o.file.Close()
	}
	if err := o.file.Close(); err != nil {
		return Error(o.path, err)
	}
	name := filepath.Base(o.path)
	old := name + ".old"
	var st unix.Stat_t
	kept := unix.Fstatat(o.parent, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Size > 0
	if kept {
		if o.dir {
			safefile.RemoveDir(o.parent, old) // a directory in its place would be in the way
		}
		if err := o.keepOld(name, old); err != nil {
			return Error(o.path+".old", err)
		}
	}
	if err := o.Temp.Rename(name); err != nil {
		if kept {
			unix.Renameat(o.parent, old, o.parent, name)
		}
		return Error(o.path, err)
	}
	return nil
}

// keepOld gives the file name the name old. Where there are hard links it has both for
// a moment, so that there is never none.
func (o *Output) keepOld(name, old string) error {
	for i := range safefile.Guessed {
		second := fmt.Sprintf(".%.200s.%d.partial", old, i)
		safefile.RemoveStale(o.parent, second, unix.S_IFREG)
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

// Abandon removes what has been written. After commit it removes nothing.
func (o *Output) Abandon() {
	if !o.keep && o.file != nil {
		o.file.Close()
	}
	if o.Temp == nil {
		return
	}
	if o.dir && o.Temp.Name != "" {
		safefile.RemoveDir(o.parent, o.Temp.Name)
	}
	o.Temp.Remove()
	unix.Close(o.parent)
}
