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
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// An Output is the file or directory for a result. It is written to a temporary file, then
// renamed.
type Output struct {
	path   string
	file   *sys.File
	parent int               // descriptor of the directory of path
	noSync bool              // Commit does not wait for the disk
	Temp   *safefile.Partial // the temporary file; nil for a device or a pipe
	Stream bool              // it gets the pipe format
	dir    bool              // it is a directory; file is data in it
	keep   bool              // file stays open: it is the caller's

	progress *report.Progress // Commit says there that the result is complete
}

// Open opens the output. It refuses a path that would destroy the input. The caller calls Commit or
// Abandon, or both in this order.
func Open(opts *config.Options, in *recording.Input) (*Output, error) {
	path := opts.Output
	if path == "-" {
		f := opts.Stdout
		if f == nil {
			f = os.Stdout
		}
		if _, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS); err == nil {
			return nil, errors.New("standard output is a terminal, and a recording is binary; name a file with " + inOutput())
		}
		o := &Output{path: "standard output", file: sys.Of(f), Stream: true, keep: true, noSync: opts.NoSync, progress: opts.Progress}
		if again := reopenPipe(o.file); again != nil {
			o.file, o.keep = again, false
		}
		return o, nil
	}
	if wantsDir(path) {
		return openOutputDir(opts, in)
	}
	err := refuse(path, func(st fs.FileInfo) (string, error) {
		if os.SameFile(st, in.Info) {
			return "the input", nil
		}
		return "", nil
	})
	if err != nil {
		return nil, err
	}
	if st, err := sys.Stat(path); err == nil {
		if o, err := openSpecial(opts, st.Mode()); o != nil || err != nil {
			return o, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, Error(path, err)
	}
	// As with perf, only the owner may read it: a recording has addresses.
	o := &Output{path: path, noSync: opts.NoSync, progress: opts.Progress}
	err = o.create(func() (err error) {
		o.file, o.Temp, err = safefile.CreateResult(o.parent, filepath.Base(path), 0o600)
		return err
	})
	if err != nil {
		return nil, Error(path, err)
	}
	return o, nil
}

// Spares fails if the result would replace the file of a dump.
func (o *Output) Spares(dumps []*model.Dump) error {
	if o.Temp == nil || o.dir {
		return nil
	}
	return refuse(o.path, func(st fs.FileInfo) (what string, err error) {
		for _, d := range dumps {
			dst, err := d.File.Stat()
			if err != nil { // it may be the dump that would be replaced
				return "", fmt.Errorf("%s: %w", quote.Printable(d.Path), safefile.WithoutPath(err))
			}
			if os.SameFile(st, dst) {
				what = fmt.Sprintf("the dump of process %d", d.PID)
			}
			for _, other := range d.OtherFiles() {
				dst, err := sys.Stat(other)
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					return "", fmt.Errorf("%s: %w", quote.Printable(other), safefile.WithoutPath(err))
				}
				if err == nil && os.SameFile(st, dst) {
					what = fmt.Sprintf("a capture of process %d", d.PID)
				}
			}
		}
		return what, nil
	})
}

// refuse fails if the result would replace a file that must stay: one with its name, or one with the
// name that its predecessor gets. what says in words which file that is, or "" for others.
func refuse(path string, what func(fs.FileInfo) (string, error)) error {
	for _, p := range []string{path, path + ".old"} {
		st, err := sys.Stat(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return Error(p, err)
		}
		what, err := what(st)
		switch {
		case err != nil:
			return err
		case what != "" && p == path:
			return fmt.Errorf("%s is %s; name another output with %s", quote.Printable(path), what, inOutput())
		case what != "":
			return fmt.Errorf("%s is %s, and the current %s would be renamed to it; name another output with %s", quote.Printable(p), what, quote.Printable(path), inOutput())
		case p != path && st.IsDir():
			return fmt.Errorf("%s is a directory, and the current %s would be renamed to it; name another output with %s", quote.Printable(p), quote.Printable(path), inOutput())
		}
	}
	return nil
}

// reopenPipe opens a pipe once more, so that GiveUp can end writes to it: writes through standard
// output block, and other programs may rely on that. It returns nil if f is no pipe, or if that fails.
func reopenPipe(f *sys.File) *sys.File {
	if st, err := f.Stat(); err != nil || st.Mode()&os.ModeNamedPipe == 0 {
		return nil
	}
	fd, err := sys.OpenPath(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	return sys.NewFile(fd, f.Name())
}

// create opens the directory of the output and calls do.
func (o *Output) create(do func() error) (err error) {
	dir := filepath.Dir(o.path)
	o.parent, err = sys.OpenPath(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.EACCES) { // a directory in which one may write, but not look
		o.parent, err = sys.OpenPath(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return err
	}
	if err = o.checkOwner(); err == nil {
		err = safefile.FinishOld(o.parent, filepath.Base(o.path))
	}
	if err == nil {
		err = do()
	}
	if err != nil {
		sys.Close(o.parent)
		return err
	}
	return nil
}

func inOutput() string { return report.Mentioned("Output", "") }

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
	return fmt.Errorf("%s: cannot write there: %w; %s", quote.Printable(path), err, report.AdviceOr(err, "name another output with "+inOutput()))
}

// IsOwn reports whether an error is about the temporary file. The user does not know its name.
func (o *Output) IsOwn(err error) bool {
	var pe *fs.PathError
	return errors.As(err, &pe) && o.Temp != nil && (pe.Path == o.Temp.Name || strings.HasPrefix(pe.Path, o.inside("")))
}

// GiveUp makes writes to a pipe fail once ctx is cancelled: a pipe without a reader would block
// them. The caller calls stop after the last write.
func (o *Output) GiveUp(ctx context.Context) (stop func() bool) {
	if !o.Stream {
		return func() bool { return true }
	}
	// A pipe that could not be opened again has no deadlines.
	return context.AfterFunc(ctx, func() { o.file.SetWriteDeadline(time.Now()) })
}

// Size returns how many bytes have been written. written is the number for a pipe or a device.
func (o *Output) Size(written int64) int64 {
	if o.Temp == nil {
		return written
	}
	return recording.SizeOf(o.inside(""))
}

// Abandon removes what has been written. After Commit it removes nothing. left says which file could
// not be removed, or is "".
func (o *Output) Abandon() (left string) {
	if !o.keep && o.file != nil {
		o.file.Close()
	}
	if o.Temp == nil {
		return ""
	}
	path := o.inside("")
	err := o.Temp.Remove()
	sys.Close(o.parent)
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%s could not be removed: %v; remove it by hand", quote.Printable(filepath.Clean(path)), safefile.WithoutPath(err))
}
