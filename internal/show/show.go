package show

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Options say what is shown and how.
type Options struct {
	JSON        bool
	Hex         bool // the bytes of records, too
	Disassemble bool // code, with its source lines
	Filter      Filter

	// Program is the program that wrote a trace, for the names of its functions. Without
	// one, "", they are shown by their numbers.
	Program string

	// Sources says where the text of source lines may come from beside the file
	// itself: the file of that name. nil reads none.
	Sources func(name string) ([]byte, error)

	// Stdin is read for the name "-".
	Stdin *os.File

	// Formats are all that a file may have. The first that takes a file shows it.
	Formats []Format
}

// ErrNoMatch says that a file has nothing that the filter lets through, and that nothing
// was written. Callers test for it with errors.Is.
var ErrNoMatch = errors.New("it has no record that satisfies the filter")

// Damaged is the error of a file with unreadable parts. What could was
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

// A Viewer is one file that is shown: formats read from it and write to its form.
type Viewer struct {
	Opts  *Options
	Out   *Form
	Path  string // as it was named; a format may set it to the file that offsets are in
	File  *sys.File
	Size  int64        // of File, in bytes
	Raw   io.ReaderAt  // has the bytes of the records; nil: File has
	Head  []byte       // the first bytes, at most eight
	Texts *SourceTexts // of source files

	// A format adds these to the fields of records; see [Fields]. All may be zero.
	Row     int                                            // the number of the row, in Add
	Version int                                            // of the format
	Known   func(key string, v uint64) (name, text string) // the field that follows one, with the name that its value has
	Add     func(o *Form, rec any)                         // writes what is no field, behind the fields of a struct

	stdin      *sys.File // if it is shown
	damage     Damaged
	flushed    int64 // the offset up to which the output was flushed
	oneProcess bool  // records need not name their process
	matcher    *matcher
}

// headSize is how many bytes tell the format of a file.
const headSize = 8

// File shows a file, or for "-" what comes through Options.Stdin. It returns
// nil, *Damaged, *LostOutput, ErrNoMatch, or an error about a file of which nothing could
// be shown, which wraps ErrUnknown if it has none of the formats.
func File(w io.Writer, path string, opts *Options) error {
	o := *opts
	o.Filter.prefixes = prefixesOf(opts.Formats)
	opts = &o
	v := &Viewer{Opts: opts, Path: path, Texts: &SourceTexts{read: opts.Sources, files: make(map[string]SourceText), own: make(map[string]SourceText), was: make(map[string]bool)}, Out: NewForm(w, opts.JSON, opts.Hex)}
	f, err := v.open()
	if err != nil {
		return err
	}
	defer v.close(f)
	err = v.recognized(f)
	v.Out.Flush()
	switch lost := v.Out.Lost(); {
	case lost != nil:
		return &LostOutput{lost}
	case err != nil:
		return err
	case f.Failed() != nil: // the parts that were not read are not shown
		return fmt.Errorf("cannot read it: %w", safefile.WithoutPath(f.Failed()))
	case v.damage.Problems > 0:
		return &v.damage
	case v.Out.held:
		return ErrNoMatch
	}
	return nil
}

// open opens the named file. It does not wait for a writer of a FIFO. A pipe is copied to a file without a
// name, because formats read back and forth.
func (v *Viewer) open() (*sys.File, error) {
	var f *sys.File
	var err error
	if v.Path == "-" {
		v.stdin = sys.Of(cmp.Or(v.Opts.Stdin, os.Stdin))
		f = v.stdin
	} else if f, err = sys.OpenFile(v.Path, os.O_RDONLY, 0); errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("there is no such file")
	} else if err != nil {
		return nil, fmt.Errorf("cannot read it: %w", safefile.WithoutPath(err))
	}
	st, err := f.Stat()
	switch {
	case err != nil:
	case st.Mode().IsRegular():
		return f, nil
	case st.IsDir():
		err = errors.New("it is a directory; name files in it. Directories of perf record are shown by perf report -D -i")
	case st.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0:
		var file *sys.File
		if file, err = spooled(f); err == nil {
			v.close(f)
			return file, nil
		}
	default:
		err = errors.New("it is neither a file nor a pipe")
	}
	v.close(f)
	return nil, err
}

// close closes a file, but not standard input: it may be named again.
func (v *Viewer) close(f *sys.File) {
	if f != v.stdin {
		f.Close()
	}
}

// spooled copies a pipe to a file for temporary data.
func spooled(pipe io.Reader) (*sys.File, error) {
	dir := os.TempDir()
	file, err := safefile.Unnamed(dir)
	if err == nil {
		if _, err = io.Copy(file, pipe); err == nil {
			return file, nil
		}
		file.Close()
	}
	return nil, fmt.Errorf("cannot copy it to %s: %w", quote.Printable(dir), safefile.WithoutPath(err))
}

// recognized finds out what f is and shows it.
func (v *Viewer) recognized(f *sys.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	v.File, v.Size = f, st.Size()
	v.Out.allow(v.Size)
	head := make([]byte, headSize)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return fmt.Errorf("cannot read it: %w", err)
	}
	v.Head = head[:n]
	for i := range v.Opts.Formats {
		if format := &v.Opts.Formats[i]; format.Begins != nil && format.Begins(v.Head) {
			return format.Show(v)
		}
	}
	for i := range v.Opts.Formats {
		if format := &v.Opts.Formats[i]; format.Named != nil && format.Named(v.Path) {
			return format.Show(v)
		}
	}
	if n == 0 {
		return v.Unknown("it is empty")
	}
	return v.Unknown(fmt.Sprintf("it begins with % x", v.Head))
}

// NoCode returns an error if disassembly was asked for, for formats without code.
func (v *Viewer) NoCode(format string) error {
	if v.Opts.Disassemble {
		return fmt.Errorf("%s files have no code to disassemble; leave out -d", format)
	}
	return nil
}

// ShownBy is the error about a file that other programs show. FILE in their commands becomes its
// name, as a shell reads it, and <FILE nothing for standard input.
func (v *Viewer) ShownBy(what, commands string) error {
	path := v.Path
	if path == "-" {
		commands = strings.ReplaceAll(commands, "<FILE ", "")
	}
	if path != "-" && strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	return fmt.Errorf("it is %s; %s", what, strings.ReplaceAll(commands, "FILE", quote.ShellWord(path)))
}

// Begun begins the first item, which says what the file is; the caller adds fields and ends it. With
// a filter it is written only if another item follows.
func (v *Viewer) Begun(format string) {
	v.Out.Begin(Item{Offset: -1, Type: "file", Size: -1})
	if v.Opts.Filter.chooses() {
		v.Out.held = true
	}
	v.Out.Str("name", []byte(v.Path))
	v.Out.Word("format", format)
}

// Problem shows an item about something that could not be read. Its offset is -1 if that has no
// place in the file.
func (v *Viewer) Problem(offset int64, err error) {
	v.Out.Begin(Item{Offset: offset, Type: "error", Size: -1})
	v.Out.Str("text", []byte(err.Error()))
	v.Out.End()
	v.damage.Problems++
	if v.damage.Problems == 1 {
		v.damage.First = err.Error()
	}
}

// Lost reports whether the output cannot be written any more.
func (v *Viewer) Lost() bool { return v.Out.Lost() != nil }
