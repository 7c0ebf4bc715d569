package codebytes

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/source"
)

// Bytes of code that dumps lack come from core dumps of the process, and from files that were
// mapped in it. A file must be proven to be of the process: wrong instructions are worse than
// none.

// A codeFile is a file of Options.CodeFrom.
type codeFile struct {
	// path is as the user named it.
	path string
	file *sys.File
	Core *elfcore.Core // nil if it is an image
	// image is nil if it is a core dump.
	image *elf.File

	// used says that a dump has code from it.
	used bool
	why  string // why it is not of the last process that it was tried for
}

// Files are the files with code of a run.
type Files struct {
	Rec *recording.Recording
	// Files are those of Options.CodeFrom.
	Files []*codeFile
	asked bool // there was a dump without code

	mapped []*mappedFiles // mapped files of processes, opened when needed
}

// Resolve opens the files of opts.CodeFrom and gives each dump without code the files with its
// code. The error is of options that cannot be followed. The caller closes the files.
func Resolve(rec *recording.Recording, dumps []*model.Dump, opts *config.Options) (*Files, report.Findings, error) {
	var found report.Findings
	c, err := Open(rec, opts, &found)
	if err != nil {
		return nil, found, err
	}
	for _, d := range dumps {
		c.Provide(d, opts, &found)
	}
	c.Report(&found)
	return c, found, nil
}

// Open opens the files of opts.CodeFrom. It fails for a file that is neither a core dump nor a
// program. A damaged core dump becomes a problem in found. The caller closes the files.
func Open(rec *recording.Recording, opts *config.Options, found *report.Findings) (*Files, error) {
	c := &Files{Rec: rec}
	for _, path := range opts.CodeFrom {
		f, err := openCodeFile(path)
		if damaged := (*damagedCore)(nil); errors.As(err, &damaged) {
			found.Problem(report.ProblemOf(path, fmt.Errorf("no code can be taken from it: %w", err), "make another core dump, with room for all of it"))
			continue
		}
		if err != nil {
			c.Close()
			err = fmt.Errorf("%s: %w", report.MentionedPath("CodeFrom", path), safefile.PlainError(err))
			if errors.As(err, new(*report.AdvisedError)) {
				return nil, err
			}
			return nil, report.Advise(err, "name a core dump of the process, or a file that it had mapped")
		}
		if f.Core != nil {
			for _, err := range f.Core.Problems {
				opts.Logf(2, "%s: %v", quote.Printable(path), err)
			}
		}
		c.Files = append(c.Files, f)
	}
	return c, nil
}

// A damagedCore is the error for a damaged core dump.
type damagedCore struct{ err error }

// Error returns the fault.
func (e *damagedCore) Error() string { return e.err.Error() }

// Unwrap returns the error of reading the core dump.
func (e *damagedCore) Unwrap() error { return e.err }

// openCodeFile opens a core dump or an ELF file.
func openCodeFile(path string) (*codeFile, error) {
	fd, err := sys.OpenPath(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	file, err := safefile.RegularFile(fd, path)
	if err != nil {
		return nil, err
	}
	f := &codeFile{path: path, file: file}
	f.Core, err = elfcore.Open(file)
	switch {
	case err == nil:
	case !errors.Is(err, elfcore.ErrNotCore):
		err = &damagedCore{err}
	default:
		f.Core = nil
		if f.image, err = elf.NewFile(file); err != nil {
			err = notELF(file)
		} else if f.image.Type != elf.ET_DYN && f.image.Type != elf.ET_EXEC {
			err = fmt.Errorf("it is an ELF file that nobody runs (%v)", f.image.Type)
		}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return f, nil
}

// notELF returns an error that describes a file which is neither.
func notELF(file *sys.File) error {
	head := make([]byte, 4)
	if _, err := file.ReadAt(head, 0); err != nil && len(head) == 0 {
		return err
	}
	for _, p := range []struct{ magic, with string }{{"\x28\xb5\x2f\xfd", "zstd -d"}, {"\x04\x22\x4d\x18", "lz4 -d"}, {"\x1f\x8b", "gzip -d"}, {"\xfd7zX", "xz -d"}} {
		if bytes.HasPrefix(head, []byte(p.magic)) {
			return report.Advise(errors.New("it is compressed"), "unpack it with %s", p.with)
		}
	}
	return errors.New("it is neither a core dump nor another ELF file")
}

// Close closes the files. c may be nil.
func (c *Files) Close() {
	if c == nil {
		return
	}
	for _, f := range c.Files {
		f.file.Close()
	}
	for _, m := range c.mapped {
		m.close()
	}
}

// Provide gives a dump without code the memory of its process. The files of Options.CodeFrom come
// first, in their order, and mapped files last. Dumps of other formats are left alone.
func (c *Files) Provide(d *model.Dump, opts *config.Options, found *report.Findings) {
	codeless, ok := d.Source.(source.WithoutCode)
	if !ok || c == nil {
		return
	}
	c.asked = true
	var sources []source.CodeSource
	maps := c.Rec.FileMapsOf(d.PID, LastTime(d))
	for _, f := range c.Files {
		var mem jitcode.Memory
		var note string
		var err error
		if f.Core != nil {
			mem, note, err = CoreMemory(c.Rec, f, d, maps)
			mem = executableOf(f.Core, mem)
		} else {
			mem, note, err = imagesOf(c.Rec, f, d.PID, maps)
		}
		if note != "" {
			found.Note(quote.Printable(f.path) + ": " + note)
		}
		if err != nil {
			f.why = err.Error()
			opts.Logf(2, "%s: not of process %d: %v", quote.Printable(f.path), d.PID, err)
			continue
		}
		f.used = true
		opts.Logf(1, "%s: code of process %d", quote.Printable(f.path), d.PID)
		sources = append(sources, source.CodeSource{Memory: mem, Snapshot: f.Core != nil})
	}
	mapped := &mappedFiles{rec: c.Rec, maps: maps, line: lineOf(maps), files: make(map[string]*sys.File)}
	c.mapped = append(c.mapped, mapped)
	d.CodeFiles = len(sources)
	late := codeless.CodeFrom(append(sources, source.CodeSource{Memory: mapped}), codeWorld(d, maps))
	for i, first := 0, true; i < len(sources); i++ {
		if sources[i].Snapshot && (first || late[i] < d.Late) {
			d.Late, first = late[i], false
		}
	}
}

// codeWorld returns what the recording says about the memory of a dump's process. maps are the
// executable mappings of that.
func codeWorld(d *model.Dump, maps []recording.FileMap) source.CodeWorld {
	memory := slices.DeleteFunc(slices.Clone(maps), func(m recording.FileMap) bool { return m.Name != "" })
	line := lineOf(memory)
	files := recording.ExactRanges(maps, func(m *recording.FileMap) bool { return m.Name != "" && !strings.HasPrefix(m.Name, "[") })
	return source.CodeWorld{
		Skip:   func(function int) bool { return d.Unmapped[function] },
		InFile: files.Hold,
		Mapped: func(addr, since uint64) bool {
			return d.Match.Kind == report.ClockNone || d.Match.Kind == report.ClockStart || mappedAfter(memory, line, addr, d.Clock(since))
		},
	}
}

// mappedAfter reports whether an address was mapped after a time. maps are in the order of their
// times.
func mappedAfter(maps []recording.FileMap, line *addrs.Timeline, addr, time uint64) bool {
	from, _ := slices.BinarySearchFunc(maps, time, func(m recording.FileMap, time uint64) int {
		if m.Time <= time {
			return -1
		}
		return 1
	})
	return line.First(addrs.Range{Lo: addr, Hi: addr + 1}, from, len(maps)) >= 0
}

// Report adds findings about the files that were of no use, with the reason.
func (c *Files) Report(found *report.Findings) {
	for _, f := range c.Files {
		switch {
		case f.used:
		case !c.asked:
			found.Note(fmt.Sprintf("%s: not needed: no dump without code was found", quote.Printable(f.path)))
		default:
			found.Problem(report.Problem{File: f.path, Offset: -1, Text: f.why + "; no code is taken from it", Advice: "name a core dump of the process that was recorded"})
		}
	}
}

// BringsCode reports whether a dump has the bytes of its functions.
func BringsCode(d *model.Dump) bool {
	_, codeless := d.Source.(source.WithoutCode)
	return !codeless
}

// HasCode reports whether the bytes of a function are known.
func HasCode(d *model.Dump, function int) bool {
	some, ok := d.Source.(interface{ HasCode(function int) bool })
	return !ok || some.HasCode(function)
}

// LastTime returns the time of the dump's last event, by the recording's clock.
func LastTime(d *model.Dump) (time uint64) {
	for i := range d.Source.Scanned().Events {
		time = max(time, d.Clock(d.Source.Scanned().Events[i].Time))
	}
	return time
}

// sameName reports whether two paths are equal, apart from their spelling.
func sameName(a, b string) bool { return filepath.Clean(a) == filepath.Clean(b) }
