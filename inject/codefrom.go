package inject

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
)

// Bytes of code that dumps do not have: from core dumps of the process, and from files
// that were mapped in it. Nothing is taken from a file that is not shown to be of the
// process: wrong instructions are worse than none.

// A codeFile is a file of Options.CodeFrom.
type codeFile struct {
	path  string
	file  *os.File
	core  *elfcore.Core // or else it is an image
	image *elf.File

	used bool
	why  string // it is of none of the processes that it was tried for
}

// codeFiles are all of them.
type codeFiles struct {
	rec   *recording
	files []*codeFile
	asked bool // there was a dump without code

	mapped []*mappedFiles // of processes
}

// openCode opens the files of opts.CodeFrom. It fails for a file that is neither a core
// dump nor a program. A damaged core dump becomes a problem of sum.
func openCode(rec *recording, opts *Options, sum *Summary) (*codeFiles, error) {
	c := &codeFiles{rec: rec}
	for _, path := range opts.CodeFrom {
		f, err := openCodeFile(path)
		if damaged := (*damagedCore)(nil); errors.As(err, &damaged) {
			sum.problem(problemOf(path, fmt.Errorf("no code can be taken from it: %w", err), "make another core dump, with room for all of it"))
			continue
		}
		if err != nil {
			c.close()
			err = fmt.Errorf("--code-from %s: %w", Printable(path), plainError(err))
			if errors.As(err, new(*advisedError)) {
				return nil, err
			}
			return nil, advise(err, "name a core dump of the process, or a file that it had mapped")
		}
		if f.core != nil {
			for _, err := range f.core.Problems {
				opts.logf(2, "%s: %v", Printable(path), err)
			}
		}
		c.files = append(c.files, f)
	}
	return c, nil
}

// A damagedCore is the error for a damaged core dump.
type damagedCore struct{ err error }

func (e *damagedCore) Error() string { return e.err.Error() }
func (e *damagedCore) Unwrap() error { return e.err }

// openCodeFile opens a core dump or an ELF file.
func openCodeFile(path string) (*codeFile, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	file, err := regularFile(fd, path)
	if err != nil {
		return nil, err
	}
	f := &codeFile{path: path, file: file}
	f.core, err = elfcore.Open(file)
	switch {
	case err == nil:
	case !errors.Is(err, elfcore.ErrNotCore):
		err = &damagedCore{err}
	default:
		f.core = nil
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

// notELF says what a file is that is neither.
func notELF(file *os.File) error {
	head := make([]byte, 4)
	if _, err := file.ReadAt(head, 0); err != nil && len(head) == 0 {
		return err
	}
	for _, p := range []struct{ magic, with string }{{"\x28\xb5\x2f\xfd", "zstd -d"}, {"\x04\x22\x4d\x18", "lz4 -d"}, {"\x1f\x8b", "gzip -d"}, {"\xfd7zX", "xz -d"}} {
		if bytes.HasPrefix(head, []byte(p.magic)) {
			return advise(errors.New("it is compressed"), "unpack it with %s", p.with)
		}
	}
	return errors.New("it is neither a core dump nor another ELF file")
}

func (c *codeFiles) close() {
	if c == nil {
		return
	}
	for _, f := range c.files {
		f.file.Close()
	}
	for _, m := range c.mapped {
		m.close()
	}
}

// give gives a dump, if its format has no code, what there is of its process: first from
// the files that were named, in their order, and then from those that were mapped.
func (c *codeFiles) give(d *dump, opts *Options, sum *Summary) {
	codeless, ok := d.source.(source.Codeless)
	if !ok || c == nil {
		return
	}
	c.asked = true
	var sources []source.CodeSource
	maps := c.rec.fileMapsOf(d.pid, d.lastTime())
	for _, f := range c.files {
		var mem jitcode.Memory
		var note string
		var err error
		if f.core != nil {
			mem, note, err = c.rec.coreMemory(f, d, maps)
			mem = executableOf(f.core, mem)
		} else {
			mem, note, err = c.rec.imageMemory(f, d.pid, maps)
		}
		if note != "" {
			sum.note(Printable(f.path) + ": " + note)
		}
		if err != nil {
			f.why = err.Error()
			opts.logf(2, "%s: not of process %d: %v", Printable(f.path), d.pid, err)
			continue
		}
		f.used = true
		opts.logf(1, "%s: code of process %d", Printable(f.path), d.pid)
		sources = append(sources, source.CodeSource{Memory: mem, Snapshot: f.core != nil})
	}
	mapped := &mappedFiles{rec: c.rec, maps: maps, files: make(map[string]*os.File)}
	c.mapped = append(c.mapped, mapped)
	d.codeFiles = len(sources)
	late := codeless.CodeFrom(append(sources, source.CodeSource{Memory: mapped}), d.codeWorld(maps))
	for i, first := 0, true; i < len(sources); i++ {
		if sources[i].Snapshot && (first || late[i] < d.late) {
			d.late, first = late[i], false
		}
	}
}

// codeWorld is what the recording says of the memory of a dump's process. maps are its
// executable mappings.
func (d *dump) codeWorld(maps []fileMap) source.CodeWorld {
	files := exactRanges(maps, func(m *fileMap) bool { return m.name != "" && !strings.HasPrefix(m.name, "[") })
	return source.CodeWorld{
		Skip:   func(function int) bool { return d.strays[function] },
		InFile: files.hold,
		Mapped: func(addr, since uint64) bool {
			return d.match.Kind == ClockNone || d.match.Kind == ClockStart || slices.ContainsFunc(maps, func(m fileMap) bool {
				return m.name == "" && addr >= m.lo && addr < m.hi && m.time > d.clock(since)
			})
		},
	}
}

// report says which files were of no use, and why.
func (c *codeFiles) report(sum *Summary) {
	for _, f := range c.files {
		switch {
		case f.used:
		case !c.asked:
			sum.note(fmt.Sprintf("%s: not needed: no dump without code was found", Printable(f.path)))
		default:
			sum.problem(Problem{File: f.path, Offset: -1, Text: f.why + "; no code is taken from it", Advice: "name a core dump of the process that was recorded"})
		}
	}
}

// bringsCode reports whether the dump alone says what its functions are.
func (d *dump) bringsCode() bool {
	_, codeless := d.source.(source.Codeless)
	return !codeless
}

// hasCode reports whether the bytes of a function are known.
func (d *dump) hasCode(function int) bool {
	some, ok := d.source.(interface{ HasCode(function int) bool })
	return !ok || some.HasCode(function)
}

// lastTime returns when the last thing happened that the dump tells of, by the
// recording's clock.
func (d *dump) lastTime() (time uint64) {
	for i := range d.source.Scanned().Events {
		time = max(time, d.clock(d.source.Scanned().Events[i].Time))
	}
	return time
}

// sameName reports whether two paths are of one file, as far as they tell.
func sameName(a, b string) bool { return filepath.Clean(a) == filepath.Clean(b) }
