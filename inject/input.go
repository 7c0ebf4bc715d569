package inject

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/jitinject/jitinject/perfdata"
)

// An input is a recording open for reading, in whatever form it comes: a file, a
// directory, a stream in pipe format, or such a stream kept in a file.
type input struct {
	path  string // as it was named; "standard input" for "-"
	dir   string // where it is; the current directory for a stream
	info  os.FileInfo
	order binary.ByteOrder
	file  *perfdata.File // header, attrs and features; nil in pipe format, where they come as records
	plain *os.File       // that file, if its records lie in it one behind the other as they are

	dirNames []string // of the files of a directory
	missing  []string // of those that it should have, too

	blocks func() (perfdata.Stream, error) // from the first record on
	once   bool                            // which can be read only once
	close  func() error

	progress *Progress // that walks over it are told to; nil if nobody wants to know
}

// openInput opens the recording. As with perf, it must belong to the user or to
// root, unless Force says otherwise: what is in it steers what is read and made.
func openInput(opts *Options) (*input, error) {
	in := &input{path: opts.Input, dir: filepath.Dir(opts.Input), progress: opts.Progress}
	f := opts.Stdin
	if opts.Input == "-" {
		in.path, in.dir = "standard input", "."
		if f == nil {
			f = os.Stdin
		}
		in.close = func() error { return nil }
	} else {
		var err error
		if f, err = os.Open(opts.Input); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: there is no such file; make one with perf record -k mono, or name it with -i", Printable(opts.Input))
		} else if err != nil {
			return nil, fmt.Errorf("%s: cannot read it: %w", Printable(opts.Input), errors.Unwrap(err))
		}
		in.close = f.Close
	}
	err := in.open(f, opts)
	if err != nil {
		in.close()
		return nil, inputError(in.path, err)
	}
	return in, nil
}

func (in *input) open(f *os.File, opts *Options) (err error) {
	if in.info, err = f.Stat(); err != nil {
		return err
	}
	mode := in.info.Mode()
	if (mode.IsRegular() || mode.IsDir()) && !opts.Force && !ownedByUserOrRoot(in.info) {
		return errors.New("it belongs neither to you nor to root; use -f to read it all the same")
	}
	switch {
	case mode.IsDir():
		return in.openDir()
	case mode.IsRegular():
		return in.openFile(f)
	case mode&(os.ModeNamedPipe|os.ModeSocket) != 0:
		p, err := perfdata.OpenPipe(f)
		if err != nil {
			return err
		}
		in.once = true
		in.order = p.Order
		in.blocks = func() (perfdata.Stream, error) { return p.Blocks(), nil }
		return nil
	case opts.Input == "-":
		return errors.New("there is no recording in it; name one with -i, or pipe perf record -o - into it")
	}
	return errors.New("it is neither a file nor a pipe")
}

func (in *input) openFile(f *os.File) error {
	file, err := perfdata.Open(f, in.info.Size())
	if errors.Is(err, perfdata.ErrPipe) {
		p, err := perfdata.OpenPipe(io.NewSectionReader(f, 0, in.info.Size()))
		if err != nil {
			return err
		}
		in.order = p.Order
		in.blocks = func() (perfdata.Stream, error) {
			p, err := perfdata.OpenPipe(io.NewSectionReader(f, 0, in.info.Size()))
			if err != nil {
				return nil, err
			}
			return p.Blocks(), nil
		}
		return nil
	} else if err != nil {
		return err
	}
	if file.Header.Features.Has(perfdata.FeatureDirFormat) {
		return errors.New("it is one of the files of a recording in directory format; name the directory with -i")
	}
	in.file, in.order = file, file.Header.Order
	if !file.Header.Features.Has(perfdata.FeatureCompressed) && !file.Header.Unfinished {
		in.plain = f
	}
	in.blocks = func() (perfdata.Stream, error) { return file.Blocks(), nil }
	return nil
}

func (in *input) openDir() error {
	d, err := perfdata.OpenDir(in.path)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("it is a directory, but none that perf record makes: there is no file called data in it")
	} else if err != nil {
		return err
	}
	closeSelf := in.close
	in.close = func() error { d.Close(); return closeSelf() }
	in.file, in.order = d.File, d.File.Header.Order
	in.dir = filepath.Dir(filepath.Clean(in.path))
	in.blocks = d.Blocks
	in.dirNames = d.Names()
	in.missing = d.Missing
	return nil
}

// size returns the recording's size in bytes; 0 if it came through a pipe.
func (in *input) size() int64 {
	if !in.info.IsDir() {
		return in.info.Size()
	}
	return sizeOf(in.path)
}

// sizeOf returns the size of a file, or of the files in a directory.
func sizeOf(path string) (n int64) {
	st, err := os.Stat(path)
	if err != nil {
		return 0
	}
	if !st.IsDir() {
		return st.Size()
	}
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
	}
	return n
}

// inputError says what an error about the recording means for the user.
func inputError(path string, err error) error {
	advice := ""
	switch {
	case errors.Is(err, perfdata.ErrFile):
		advice = ", which cannot be read from a pipe; name the file with -i"
	case errors.Is(err, perfdata.ErrNoData):
		advice = "; was perf record stopped before it could write?"
	case errors.Is(err, perfdata.ErrNotPerfData):
		advice = "; name the file that perf record wrote with -i"
	}
	return fmt.Errorf("%s: %w%s", Printable(path), err, advice)
}
