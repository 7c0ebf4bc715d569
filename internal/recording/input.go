package recording

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/perfdata"
)

// An Input is a recording open for reading: a file, which may be in pipe format, or a directory. A
// pipe must be copied before that: see [Input.Spool].
type Input struct {
	Path  string // as it was named; "standard input" for "-"
	Dir   string // the directory that it is in; "." for "-"
	Info  os.FileInfo
	Order binary.ByteOrder
	// File has the header, attrs and features.
	File *perfdata.File
	// Plain is the file if its records lie in it uncompressed and one after the other, but for those of a
	// pipe's header, or else nil.
	Plain *sys.File

	DirNames []string // names of the files of a directory; nil for other inputs
	Missing  []string // names of files that the directory should have, but lacks

	// Blocks returns a stream from the first record on.
	Blocks func() perfdata.Stream
	source *sys.File
	piped  bool // see IsPipe
	// Close closes the input.
	Close func() error

	// Progress is told of each walk over the input. It may be nil.
	Progress *report.Progress

	listed listings // see List
}

// Open opens the recording that opts.Input names. As with perf, it must belong to the user or to
// root, unless opts.Force is set: its contents decide which files are read and written. The
// caller closes the result.
func Open(opts *config.Options) (*Input, error) {
	in := &Input{Path: opts.Input, Dir: filepath.Dir(opts.Input), Progress: opts.Progress}
	f := sys.Of(cmp.Or(opts.Stdin, os.Stdin))
	if opts.Input == "-" {
		in.Path, in.Dir = "standard input", "."
		in.Close = func() error { return nil }
	} else {
		var err error
		if f, err = openNamed(opts); errors.Is(err, fs.ErrNotExist) {
			return nil, absent(opts.Input, opts)
		} else if err != nil {
			err = fmt.Errorf("%s: cannot read it: %w", quote.Printable(opts.Input), safefile.WithoutPath(err))
			if advice := report.AdviceOr(err, ""); advice != "" {
				err = report.Advise(err, "%s", advice)
			}
			return nil, err
		}
		in.Close = f.Close
	}
	in.source = f
	err := in.open(f, opts)
	if err != nil {
		in.Close()
		return nil, Error(in.Path, err)
	}
	return in, nil
}

// absent returns the error of a recording that does not exist. perf record --switch-output adds the time to
// the name of each part, to hundredths of a second.
func absent(path string, opts *config.Options) error {
	parts, err := sys.Glob(filepath.Dir(path), quote.Literal(filepath.Base(path))+"."+strings.Repeat("[0-9]", 16))
	if err != nil {
		return fmt.Errorf("%s: there is no such file, and its directory cannot be read: %w", quote.Printable(path), safefile.WithoutPath(err))
	}
	if len(parts) == 0 {
		return fmt.Errorf("%s: there is no such file; make one with jitinject record COMMAND, or name it with %s", quote.Printable(path), report.Mentioned("Input", ""))
	}
	var names []string
	for _, part := range parts[:min(len(parts), maxParts)] {
		names = append(names, quote.Printable(part))
	}
	if more := len(parts) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return fmt.Errorf("%s: there is no such file, but parts of it from perf record --switch-output: %s; each is a recording: %s",
		quote.Printable(path), strings.Join(names, ", "), opts.Again(report.Setting{Field: "Input", Value: parts[0], IsPath: true}))
}

// maxParts bounds how many parts a message names.
const maxParts = 8

// openNamed opens the file that the options name. It opens a FIFO only if the user named it and if it
// belongs to the user or to root. Another user may have put it there, to feed us or to make us wait
// for ever.
func openNamed(opts *config.Options) (*sys.File, error) {
	st, err := sys.Stat(opts.Input)
	if err != nil {
		return nil, err
	}
	flags := os.O_RDONLY
	switch mode := st.Mode(); {
	case mode&os.ModeDevice != 0:
		return nil, errors.New("it is a device")
	case mode&os.ModeNamedPipe == 0:
		flags |= unix.O_NONBLOCK // a FIFO in its place must not stop us
	case opts.DefaultInput:
		return nil, errors.New("it is a FIFO; name it with " + report.Mentioned("Input", "") + " if you mean it")
	case !opts.Force && !safefile.OwnedByUserOrRoot(st):
		return nil, errNotOurs()
	}
	f, err := sys.OpenFile(opts.Input, flags, 0)
	if err != nil {
		return nil, err
	}
	now, err := f.Stat()
	if err == nil && !os.SameFile(st, now) && now.Mode().Type() != st.Mode().Type() {
		err = errors.New("it was replaced a moment ago; inject again")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// errNotOurs says that another user made the input.
func errNotOurs() error {
	return errors.New("it belongs neither to you nor to root; use " + report.Mentioned("Force", "") + " to read it anyway")
}

func (in *Input) open(f *sys.File, opts *config.Options) (err error) {
	if in.Info, err = f.Stat(); err != nil {
		return err
	}
	mode := in.Info.Mode()
	if (mode.IsRegular() || mode.IsDir()) && !opts.Force && !safefile.OwnedByUserOrRoot(in.Info) {
		return errNotOurs()
	}
	switch {
	case mode.IsDir():
		return in.openDir()
	case mode.IsRegular():
		return in.openFile(f)
	case mode&(os.ModeNamedPipe|os.ModeSocket) != 0:
		in.piped = true
		return nil
	case opts.Input == "-":
		return errors.New("there is no recording in it; name one with " + report.Mentioned("Input", "") + ", or pipe perf record -o - into it")
	}
	return errors.New("it is neither a file nor a pipe")
}

func (in *Input) openFile(f *sys.File) error {
	file, err := perfdata.Open(f, in.Info.Size())
	if err != nil {
		return err
	}
	if file.Header.Features.Has(perfdata.FeatureDirFormat) {
		return errors.New("it is one of the files of a recording in directory format; name the directory with " + report.Mentioned("Input", ""))
	}
	in.File, in.Order = file, file.Header.Order
	if !file.Header.Features.Has(perfdata.FeatureCompressed) && !file.Header.Unfinished {
		in.Plain = f
	}
	in.Blocks = func() perfdata.Stream { return file.Blocks() }
	return nil
}

func (in *Input) openDir() error {
	d, err := perfdata.OpenDirFS(sys.DirFS(in.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("it is a directory without a file called data, so perf record did not make it")
	} else if err != nil {
		return err
	}
	closeSelf := in.Close
	in.Close = func() error { d.Close(); return closeSelf() }
	in.File, in.Order = d.File, d.File.Header.Order
	in.Dir = filepath.Dir(filepath.Clean(in.Path))
	in.Blocks = d.Blocks
	in.DirNames = d.Names()
	in.Missing = d.Missing
	return nil
}

// Failed returns the first error of reading the recording's file, or nil.
func (in *Input) Failed() error { return in.source.Failed() }

// Size returns the recording's size in bytes.
func (in *Input) Size() int64 {
	if !in.Info.IsDir() {
		return in.Info.Size()
	}
	return SizeOf(in.Path)
}

// SizeOf returns the size of a file, or the total size of the files in a directory, in bytes.
func SizeOf(path string) (n int64) {
	st, err := sys.Stat(path)
	if err != nil {
		return 0
	}
	if !st.IsDir() {
		return st.Size()
	}
	entries, _ := sys.ReadDir(path)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
	}
	return n
}

// Error returns an error about the recording with its path, and with advice where there is some.
func Error(path string, err error) error {
	advice := ""
	switch {
	case errors.Is(err, perfdata.ErrNoData):
		advice = "; was perf record stopped before it could write?"
	case errors.Is(err, perfdata.ErrNotPerfData):
		advice = "; name the file that perf record wrote with " + report.Mentioned("Input", "")
	}
	return &namedError{path, err, advice}
}

// Error returns an error about the recording with its path, and with advice where there is some. Text
// among the records of a stream looks like an impossible record.
func (in *Input) Error(err error) error {
	if in.File.IsPipe && errors.As(err, new(*perfdata.Error)) {
		return &namedError{in.Path, err, "; " + report.AdvicePipe}
	}
	return Error(in.Path, err)
}

// A namedError is an error about a recording.
type namedError struct {
	path   string
	err    error
	advice string
}

// Error returns the text of the error, with the recording's name before it.
func (e *namedError) Error() string {
	return report.About(e.path, strings.TrimPrefix(e.err.Error(), perfdata.FormatName+": ")+e.advice)
}

// Unwrap returns the error without the recording's name.
func (e *namedError) Unwrap() error { return e.err }

// WithoutData returns an error of writing. It is about the recording if that holds no data.
func WithoutData(path string, err error) error {
	if errors.Is(err, perfdata.ErrNoData) {
		return Error(path, err)
	}
	return err
}
