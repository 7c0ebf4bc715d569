package codebytes

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/procmem"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Bytes of code that dumps lack come from core dumps of the process, from the process itself, and
// from files that were mapped in it. A file must be proven to be of the process: wrong instructions
// are worse than none.

// A Memory is the memory of a whole process: that in a core dump, or that of a running process.
type Memory interface {
	jitcode.Memory
	PID() int // 0 if unknown
	Files() []elfcore.File
	Segments() []elfcore.Segment
}

// A File is a file of Options.CodeFrom, or a process of Options.Live. One of Core, Live and image is
// not nil.
type File struct {
	Path string // as the user named it; of a process, its directory in /proc
	Core *elfcore.Core
	Live *procmem.Process

	image *elffile.File // a program or a shared object

	file *sys.File   // nil for a process
	more []*sys.File // further files that were read for it; they may be closed
	cut  int64       // size of a core in bytes if it was cut off, or 0
	used bool        // something was read from it
	tail bool        // the end of a dump was read from it
	idle uint32      // process of SetIdle, or 0
	why  string      // why it is not of the last process that it was tried for
}

// Memory returns the memory of a process, or nil if the file is an image.
func (f *File) Memory() Memory {
	switch {
	case f.Core != nil:
		return f.Core
	case f.Live != nil:
		return f.Live
	}
	return nil
}

// Target returns the class, byte order and machine of the process. It must not be an image.
func (f *File) Target() (elf.Class, binary.ByteOrder, elf.Machine) {
	if f.Core != nil {
		return f.Core.Class, f.Core.Order, f.Core.Machine
	}
	return f.Live.Class, f.Live.Order, f.Live.Machine
}

// Use notes that something was read from the file.
func (f *File) Use() { f.used = true }

// UseTail notes that the end of a dump was read from the memory.
func (f *File) UseTail() { f.tail = true }

// Reads notes that another file is read to find code in the memory.
func (f *File) Reads(file *sys.File) { f.more = append(f.more, file) }

// SetIdle notes that the memory is of a process that can register code for debuggers, and has none
// registered.
func (f *File) SetIdle(pid uint32) { f.idle = pid }

// Idle returns the process of SetIdle, or 0 if there is none or if something was read from the file.
func (f *File) Idle() uint32 {
	if f.used {
		return 0
	}
	return f.idle
}

// Files are the files with code of a run.
type Files struct {
	Rec *recording.Recording
	// Files are those of Options.CodeFrom, then the processes of Options.Live.
	Files []*File
	asked bool // there was a dump without code

	mapped []*mappedFiles // mapped files of processes, opened when needed
}

// Open opens the files of opts.CodeFrom and the processes of opts.Live. It fails for a file that is
// neither a core dump nor a program. A damaged core dump becomes a problem in found, and so does a process
// that cannot be read, or that is not in the recording. The caller closes the files.
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
	for _, pid := range opts.Live {
		if rec.Processes[pid] == nil { // a matter like that of a core of another process
			found.Problem(report.Problem{Code: report.ProblemNoCode, Offset: -1, Text: fmt.Sprintf("%s: there is no process %d in the recording; nothing is read from its memory", report.Mentioned("Live", fmt.Sprint(pid)), pid), Advice: "name a process that was recorded"})
			continue
		}
		p, err := procmem.Open(pid)
		if err != nil {
			found.Problem(unreadable(pid, err))
			continue
		}
		c.Files = append(c.Files, &File{Path: procmem.Dir(pid), Live: p})
	}
	return c, nil
}

// unreadable returns the problem of a process that cannot be opened.
func unreadable(pid uint32, err error) report.Problem {
	p := report.Problem{Code: report.ProblemNoCode, Offset: -1, Text: fmt.Sprintf("process %d: nothing is read from its memory: %v", pid, err)}
	switch {
	case errors.Is(err, procmem.ErrNotAllowed):
		p.Advice = procmem.AdviceAllowed
	case errors.Is(err, procmem.ErrNone), errors.Is(err, procmem.ErrEnded):
		p.Advice = "inject while it runs, or make a core dump of it while it runs (gcore PID) and name that with " + report.Mentioned("CodeFrom", "FILE")
	default:
		p.Advice = "make a core dump of it (gcore PID) and name that with " + report.Mentioned("CodeFrom", "FILE")
	}
	return p
}

// A damagedCore is the error for a damaged core dump.
type damagedCore struct{ err error }

// Error returns the fault.
func (e *damagedCore) Error() string { return e.err.Error() }

// Unwrap returns the error of reading the core dump.
func (e *damagedCore) Unwrap() error { return e.err }

// openCodeFile opens a core dump or an ELF file.
func openCodeFile(path string) (*File, error) {
	fd, err := sys.OpenPath(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	file, err := safefile.RegularFile(fd, path)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, file: file}
	f.Core, err = elfcore.Open(file)
	switch {
	case err == nil:
		if info, err := file.Stat(); err == nil && uint64(info.Size()) < f.Core.End() {
			f.cut = info.Size()
		}
	case !errors.Is(err, elfcore.ErrNotCore):
		err = &damagedCore{err}
	default:
		f.Core = nil
		if f.image, err = elffile.Open(file); err != nil {
			err = notELF(file)
		} else if f.image.Type != elf.ET_DYN && f.image.Type != elf.ET_EXEC {
			err = fmt.Errorf("it is an ELF file, but no program or shared object (%v)", f.image.Type)
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
	if tool := Unpacker(head); tool != "" {
		return report.Advise(errors.New("it is compressed"), "unpack it with %s", tool)
	}
	return errors.New("it is neither a core dump nor another ELF file")
}

// Unpacker returns the command that unpacks a compressed file with these first bytes, or "".
func Unpacker(head []byte) string {
	for _, p := range []struct{ magic, with string }{{"\x28\xb5\x2f\xfd", "zstd -d"}, {"\x04\x22\x4d\x18", "lz4 -d"}, {"\x1f\x8b", "gzip -d"}, {"\xfd7zX", "xz -d"}} {
		if bytes.HasPrefix(head, []byte(p.magic)) {
			return p.with
		}
	}
	return ""
}

// EachFailed calls f with each file that could not be read, at least in part, and its first error. c may be
// nil.
func (c *Files) EachFailed(f func(path string, err error)) {
	if c == nil {
		return
	}
	files := func(files ...*sys.File) {
		for _, file := range files {
			if file != nil && file.Failed() != nil {
				f(file.Name(), file.Failed())
			}
		}
	}
	for _, file := range c.Files {
		files(file.file)
		files(file.more...)
	}
	for _, m := range c.mapped {
		for _, name := range slices.Sorted(maps.Keys(m.failed)) {
			f(name, m.failed[name])
		}
		for _, name := range slices.Sorted(maps.Keys(m.files)) {
			files(m.files[name])
		}
	}
}

// Close closes the files. c may be nil.
func (c *Files) Close() {
	if c == nil {
		return
	}
	for _, f := range c.Files {
		if f.file != nil {
			f.file.Close()
		}
		if f.Live != nil {
			f.Live.Close()
		}
	}
	for _, m := range c.mapped {
		m.close()
	}
}
