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
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// An Output is the file or directory for a result. It is written to a temporary file, then
// renamed.
type Output struct {
	path   string
	file   *sys.File
	parent int               // descriptor of the directory of path
	Temp   *safefile.Partial // the temporary file; nil for a device or a pipe
	Stream bool              // it gets the pipe format
	dir    bool              // it is a directory; file is data in it
	keep   bool              // file stays open: it is the caller's
}

// Open opens the output. It refuses a path that would destroy the input or a dump. The caller
// calls Commit or Abandon, or both in this order.
func Open(opts *config.Options, in *recording.Input, dumps []*model.Dump) (*Output, error) {
	path := opts.Output
	if path == "-" {
		f := opts.Stdout
		if f == nil {
			f = os.Stdout
		}
		if _, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS); err == nil {
			return nil, errors.New("standard output is a terminal, which a recording would upset; name a file with " + inOutput)
		}
		return &Output{path: "standard output", file: sys.Of(f), Stream: true, keep: true}, nil
	}
	if wantsDir(path) {
		return openOutputDir(opts, in)
	}
	for _, p := range []string{path, path + ".old"} {
		st, err := sys.Stat(p)
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
				if dst, err := sys.Stat(other); err == nil && os.SameFile(st, dst) {
					what = fmt.Sprintf("a capture of process %d", d.PID)
				}
			}
		}
		switch {
		case what != "" && p == path:
			return nil, fmt.Errorf("%s is %s; name another output with "+inOutput, quote.Printable(path), what)
		case what != "":
			return nil, fmt.Errorf("%s is %s, and would be replaced by the present %s; name another output with "+inOutput, quote.Printable(p), what, quote.Printable(path))
		case p != path && st.IsDir():
			return nil, fmt.Errorf("%s is a directory, where the present %s would go; name another output with "+inOutput, quote.Printable(p), quote.Printable(path))
		case p == path:
			if o, err := openSpecial(path, st.Mode()); o != nil || err != nil {
				return o, err
			}
		}
	}
	// As with perf, only the owner may read it: a recording has addresses.
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

// create opens the directory of the output and calls do.
func (o *Output) create(do func() error) (err error) {
	if o.parent, err = sys.OpenPath(filepath.Dir(o.path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return err
	}
	if err = do(); err != nil {
		sys.Close(o.parent)
	}
	return err
}

// openSpecial opens outputs that exist and are no regular files, such as the device /dev/null. It
// returns nil for regular files, and fails for what cannot be an output.
func openSpecial(path string, mode fs.FileMode) (*Output, error) {
	link, err := sys.Lstat(path)
	if err != nil {
		return nil, Error(path, err)
	}
	switch {
	case mode.IsDir():
		return nil, fmt.Errorf("%s is a directory; name a file with "+inOutput, quote.Printable(path))
	case mode&os.ModeDevice != 0:
		f, err := sys.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, Error(path, err)
		}
		return &Output{path: path, file: f}, nil
	case mode&os.ModeNamedPipe != 0:
		f, err := sys.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, Error(path, err)
		}
		return &Output{path: path, file: f, Stream: true}, nil
	case mode&os.ModeSocket != 0:
		return nil, fmt.Errorf("%s is a socket; name a file with "+inOutput, quote.Printable(path))
	case link.Mode()&os.ModeSymlink != 0 && strings.HasPrefix(path, "/dev/"):
		return nil, fmt.Errorf("%s is a link that belongs to the system; name a file with "+inOutput, quote.Printable(path))
	}
	return nil, nil
}

// inOutput mentions Options.Output, as report.Mentioned does.
const inOutput = "`Options.Output`"

// Error returns an error that says that the output cannot be written, with advice.
func Error(path string, err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch { // omit the name of the temporary file
	case errors.As(err, &pe):
		err = pe.Err
	case errors.As(err, &le):
		err = le.Err
	}
	return fmt.Errorf("%s: cannot write there: %w; name another output with "+inOutput, quote.Printable(path), err)
}

// GiveUp makes writes to a pipe fail once ctx is cancelled: a pipe without a reader would block
// them. The caller calls stop after the last write.
func (o *Output) GiveUp(ctx context.Context) (stop func() bool) {
	if !o.Stream {
		return func() bool { return true }
	}
	// Standard output may have no deadlines.
	return context.AfterFunc(ctx, func() { o.file.SetWriteDeadline(time.Now()) })
}

// Size returns how many bytes have been written. written is the number for a pipe or a device.
func (o *Output) Size(written int64) int64 {
	if o.Temp == nil {
		return written
	}
	return recording.SizeOf(o.inside(""))
}

// Commit renames the finished file to its path. An earlier file becomes PATH.old, as with perf,
// unless it was empty.
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
	kept := sys.Fstatat(o.parent, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Size > 0
	if kept {
		if o.dir {
			// a directory there would block the renaming
			safefile.RemoveDir(o.parent, old)
		}
		if err := o.keepOld(name, old); err != nil {
			return Error(o.path+".old", err)
		}
	}
	if err := o.Temp.Rename(name); err != nil {
		if kept {
			sys.Renameat(o.parent, old, o.parent, name)
		}
		return Error(o.path, err)
	}
	return nil
}

// keepOld renames the file name to old. If the file system has hard links, it has both names for
// a moment, so that it is never without one.
func (o *Output) keepOld(name, old string) error {
	for i := range safefile.Guessed {
		second := fmt.Sprintf(".%.200s.%d.partial", old, i)
		safefile.RemoveStale(o.parent, second, unix.S_IFREG)
		err := sys.Linkat(o.parent, name, o.parent, second, 0)
		if errors.Is(err, unix.EEXIST) {
			continue
		}
		if err == nil {
			if err = sys.Renameat(o.parent, second, o.parent, old); err == nil {
				// Renaming one name of a file to another of its names removes
				// neither.
				sys.Unlinkat(o.parent, second, 0)
				return nil
			}
			sys.Unlinkat(o.parent, second, 0)
		}
		break
	}
	return sys.Renameat(o.parent, name, o.parent, old)
}

// Abandon removes what has been written. After Commit it removes nothing.
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
	sys.Close(o.parent)
}
