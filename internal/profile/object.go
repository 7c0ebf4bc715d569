package profile

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"sort"
	"strings"

	"github.com/jitinject/jitinject/internal/format/dwarfdata"
	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/perfcache"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// This file reads the line tables and inline trees of an object.

// A located is a function at an address, or a call that was inlined there. There may be many of a function.
type located struct {
	*origin
	from string // file of the line, "" if unknown
	at   int    // line, 0 if unknown
}

// An object is a file with the DWARF of jitted functions.
type object struct {
	elf       *elffile.File
	data      *dwarfdata.Data
	names     map[dwarf.Offset]*origin
	lastLines *lineTable // the line table that was read last, or nil

	asked, entered, simplified int // lookups, inlined calls in their answers, and lookups without all of those
}

// A lineTable is a line table that was read.
type lineTable struct {
	at    int64 // offset in .debug_line
	files []*dwarf.LineFile
	rows  []dwarf.LineEntry // sorted by address
}

// An origin is a function, and where it is declared: "" and 0 if unknown.
type origin struct {
	name, file string
	line       int
}

var unknownOrigin = new(origin)

// openObject reads the sections of an object. The file must stay open while the object is used.
func openObject(f *elffile.File) (o *object, err error) {
	o = &object{elf: f, names: make(map[dwarf.Offset]*origin)}
	o.data, err = f.DWARF()
	return o, err
}

// virtual returns the address for which DWARF describes a place in the file. perf asks for it, too.
func virtual(f *elffile.File, offset uint64) (addr uint64, ok bool) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && offset-p.Off < p.Filesz {
			return offset - p.Off + p.Vaddr, true
		}
	}
	return offset, false
}

// A lookup is a question: what is at an address. The answer has the innermost call first, and stays
// empty where nothing is known.
type lookup struct {
	addr   uint64
	answer []located
	simple bool // without inlined calls, because they are too many
}

// locate answers lookups, which are sorted by address. It reads only the units that they are in.
func (o *object) locate(lookups []lookup) error {
	if o.data == nil {
		return nil
	}
	o.asked = len(lookups)
	r := o.data.Reader()
	for i := range o.data.Units {
		if err := o.locateIn(r, &o.data.Units[i], lookups); err != nil {
			return fmt.Errorf("DWARF: %w", err)
		}
	}
	return nil
}

// locateIn answers the lookups that are in the code of a unit.
func (o *object) locateIn(r *dwarfdata.Reader, header *dwarfdata.Unit, lookups []lookup) error {
	r.Seek(dwarf.Offset(header.Entry))
	e, err := r.Next()
	if err != nil || e == nil || e.Tag != dwarf.TagCompileUnit {
		return err
	}
	ranges, err := o.data.RangesOf(e)
	if err != nil {
		return err
	}
	var asked []*lookup
	for _, rg := range ranges {
		from := sort.Search(len(lookups), func(i int) bool { return lookups[i].addr >= rg[0] })
		for i := from; i < len(lookups) && lookups[i].addr < rg[1]; i++ {
			if lookups[i].answer == nil {
				asked = append(asked, &lookups[i])
			}
		}
	}
	if len(asked) == 0 {
		return nil
	}
	return o.unit(r, e, asked)
}

// unit answers the lookups of a unit, and reads its entries to their end.
func (o *object) unit(r *dwarfdata.Reader, e *dwarf.Entry, asked []*lookup) error {
	u := unit{object: o, reader: r}
	if err := u.readLines(e); err != nil {
		return err
	}
	for _, q := range asked {
		file, line := u.lineAt(q.addr)
		q.answer = []located{{unknownOrigin, file, line}}
	}
	if !e.Children {
		return nil
	}
	return u.children(asked, nil)
}

// An elfFile is an open file with code.
type elfFile struct {
	elf  *elffile.File
	file *sys.File
	path string // which may be in perf's build-id cache
}

func (f *elfFile) close() { f.file.Close() }

// openELF opens a file with code, at its path or in perf's build-id cache. It fails if what is there is
// not the recorded file, by its build id. The caller closes it.
func (t *tables) openELF(path string) (*elfFile, error) {
	want := t.rec.buildIDs[path]
	file, err := sys.Open(path)
	if err == nil {
		f, err := newELF(file, path, want)
		if err == nil || want == "" {
			return f, err
		}
		if cached, _ := openCached(want); cached != nil {
			return newELF(cached, cached.Name(), want)
		}
		return nil, err
	}
	if want != "" {
		if cached, _ := openCached(want); cached != nil {
			return newELF(cached, cached.Name(), want)
		}
	}
	return nil, fmt.Errorf("%s: %w", quote.Printable(path), safefile.WithoutPath(err))
}

// newELF returns an open file, or closes it and says why it cannot be used.
func newELF(file *sys.File, path, want string) (*elfFile, error) {
	f, err := elffile.Open(file)
	if err == nil {
		got := strings.TrimRight(f.BuildID(), "\x00")
		if want == "" || got == want {
			return &elfFile{f, file, path}, nil
		}
		err = fmt.Errorf("it is not the recorded file: its build id is %x, and that in the recording %x", got, want)
	}
	file.Close()
	return nil, fmt.Errorf("%s: %w", quote.Printable(path), err)
}

// openCached opens the file of a build id in perf's cache.
func openCached(id string) (*sys.File, error) {
	dir, err := perfcache.Find()
	if err != nil {
		return nil, err
	}
	cache, err := perfcache.OpenExisting(dir)
	if err != nil {
		return nil, err
	}
	defer cache.Close()
	return cache.OpenFile([]byte(id))
}
