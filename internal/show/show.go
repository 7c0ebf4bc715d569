package show

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
)

// Options say what is shown and how.
type Options struct {
	JSON        bool
	Hex         bool // the bytes of records, too
	Disassemble bool // code, with its source lines
	Filter      Filter
	Stats       bool // how often and how long functions ran, by an XRay trace or a Mono log

	// XRayBinary is the program that wrote a trace of XRay, for the names of its
	// functions. Without one, "", they are shown by their numbers.
	XRayBinary string

	// Sources says where the text of source lines may come from beside the file
	// itself: the file of that name. nil reads none.
	Sources func(name string) ([]byte, bool)

	// Stdin is read for the name "-".
	Stdin *os.File
}

// ErrUnknown says that a file has none of the formats that are known here. Callers
// test for it with errors.Is.
var ErrUnknown = errors.New("it is no jitdump, perf.data, ELF file, Mono log, XRay trace or capture of OpenJ9's metadata")

// ErrNoMatch says that a file has nothing that the filter lets through, and that nothing
// was written. Callers test for it with errors.Is.
var ErrNoMatch = errors.New("it has no record that satisfies the filter")

// Damaged is the error of a file of which something could not be read. What could was
// shown, and so was each problem, where it is.
type Damaged struct {
	Problems int
	First    string
}

func (d *Damaged) Error() string {
	if d.Problems == 1 {
		return d.First
	}
	return fmt.Sprintf("%s; there are %d such problems, which the output has in their places", d.First, d.Problems)
}

// A LostOutput is an error of writing, not of the file.
type LostOutput struct{ Err error }

func (l *LostOutput) Error() string { return "the output cannot be written: " + l.Err.Error() }
func (l *LostOutput) Unwrap() error { return l.Err }

// errNoCalls says that there is nothing that statistics could be of.
var errNoCalls = errors.New("statistics are of calls, and this is neither an XRay trace nor a Mono log")

// A format is a kind of file: how it begins, and who shows it.
type format struct {
	name   string
	magics []string
	is     func(head []byte) bool // instead of magics
	calls  bool                   // it may have calls that statistics are of, and has no code
	show   func(*viewer) error    // the error is about the whole file
}

// formats are all that are known, recognized by their first bytes.
var formats = []format{
	{"jitdump", []string{"DTiJ", "JiTD"}, nil, false, showJitdump},
	{"perf.data", []string{"PERFILE2", "2ELIFREP"}, nil, false, showRecording},
	{"ELF", []string{"\x7fELF"}, nil, false, showELF},
	{monolog.FormatName, []string{"\x01ZPM", gzipMagic}, nil, true, showMono},
	{xrayfdr.FormatName, nil, xrayfdr.Looks, true, showXRay},
}

// gzipMagic begins what gzip has packed, as it may a Mono log.
const gzipMagic = "\x1f\x8b"

// A viewer shows one file.
type viewer struct {
	opts   *Options
	out    form
	path   string
	file   *os.File // nil for a pipe or a directory
	pipe   io.Reader
	size   int64
	magic  string // that the file was recognized by
	texts  *sourceTexts
	damage Damaged
}

// File shows a file, a directory of perf record, or for "-" what comes through
// Options.Stdin. It returns nil, *Damaged, *LostOutput, ErrNoMatch, or an error about a
// file of which nothing could be shown, which wraps ErrUnknown if it is of another format.
func File(w io.Writer, path string, opts *Options) error {
	if bins, alone := capturesIn(path); len(bins) > 0 {
		return showCaptures(w, bins, alone, opts)
	}
	v := &viewer{opts: opts, path: path, texts: &sourceTexts{read: opts.Sources}}
	if opts.JSON {
		v.out = &jsonForm{page: page{w: w}, hexed: opts.Hex}
	} else {
		v.out = &textForm{page: page{w: w}, hexed: opts.Hex}
	}
	f, err := v.open()
	if err != nil {
		return err
	}
	if f != os.Stdin && f != opts.Stdin {
		defer f.Close()
	}
	err = v.recognized(f)
	v.out.flush()
	switch lost := v.out.lost(); {
	case lost != nil:
		return &LostOutput{lost}
	case err != nil:
		return err
	case v.damage.Problems > 0:
		return &v.damage
	case v.out.holds():
		return ErrNoMatch
	}
	return nil
}

// open opens what was named, without waiting for anybody to write to it.
func (v *viewer) open() (*os.File, error) {
	if v.path == "-" {
		if v.opts.Stdin == nil {
			return os.Stdin, nil
		}
		return v.opts.Stdin, nil
	}
	f, err := os.OpenFile(v.path, os.O_RDONLY, 0)
	var pathErr *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("there is no such file")
	case errors.As(err, &pathErr):
		return nil, fmt.Errorf("cannot read it: %w", pathErr.Err)
	}
	return f, err
}

// recognized finds out what f is and shows it.
func (v *viewer) recognized(f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	var head [8]byte
	n := 0
	switch mode := st.Mode(); {
	case mode.IsDir():
		return showDirectory(v)
	case mode.IsRegular():
		v.file, v.size = f, st.Size()
		if j9meta.IsCapture(v.path) {
			if v.opts.Stats {
				return errNoCalls
			}
			return showCapture(v)
		}
		if n, err = f.ReadAt(head[:], 0); err != nil && err != io.EOF {
			return fmt.Errorf("cannot read it: %w", err)
		}
	case mode&(os.ModeNamedPipe|os.ModeSocket) != 0:
		if n, err = io.ReadFull(f, head[:]); err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return fmt.Errorf("cannot read it: %w", err)
		}
		v.pipe = io.MultiReader(bytes.NewReader(head[:n]), f)
	default:
		return errors.New("it is neither a file nor a pipe nor a directory of perf record")
	}
	for _, format := range formats {
		if format.is != nil && format.is(head[:n]) {
			return v.by(&format)
		}
		if v.opts.Stats && !format.calls {
			continue
		}
		for _, magic := range format.magics {
			if bytes.HasPrefix(head[:n], []byte(magic)) {
				v.magic = magic
				return v.by(&format)
			}
		}
	}
	if n == 0 {
		return fmt.Errorf("%w: it is empty", ErrUnknown)
	}
	if v.opts.Stats {
		return errNoCalls
	}
	if _, _, named := j9meta.CapturePaths(v.path); named && v.file != nil {
		if _, err := j9meta.ReadCapture(v.path); err != nil {
			return fmt.Errorf("%w: it begins with % x; as a capture: %w", ErrUnknown, head[:n], err)
		}
	}
	return fmt.Errorf("%w: it begins with % x", ErrUnknown, head[:n])
}

// by has a format show the file, if it has what is asked for.
func (v *viewer) by(f *format) error {
	if v.opts.Disassemble && f.calls {
		return fmt.Errorf("%s files have no code to disassemble; leave out -d", f.name)
	}
	return f.show(v)
}

// needsFile is the error for formats that are read back and forth.
func (v *viewer) needsFile(format string) error {
	if v.file == nil {
		return fmt.Errorf("a file of %s cannot be read from a pipe; put it into a file and name that", format)
	}
	return nil
}

// begun shows what the file is: the first item of all. With a filter, that is worth
// a line only if there is another.
func (v *viewer) begun(format string) {
	v.out.begin(item{offset: -1, typ: "file", size: -1})
	if v.opts.Filter.chooses() {
		v.out.hold()
	}
	v.out.str("name", []byte(v.path))
	v.out.word("format", format)
}

// problem shows what could not be read, where it is; -1 for nowhere.
func (v *viewer) problem(offset int64, err error) {
	v.out.begin(item{offset: offset, typ: "error", size: -1})
	v.out.str("text", []byte(err.Error()))
	v.out.end()
	v.damage.Problems++
	if v.damage.Problems == 1 {
		v.damage.First = err.Error()
	}
}

// lost reports whether nobody reads the output any more.
func (v *viewer) lost() bool { return v.out.lost() != nil }
