package profile

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"sort"
)

// This file reads the line tables and inline trees of an object.

// A located is a function at an address, or a call that was inlined there.
type located struct {
	name string // of the inlined function; "" for the outermost one
	file string // of the line
	line int
	// decl is where the function is declared: "" and 0 if unknown.
	declFile string
	declLine int
}

// An object is a file with the DWARF of jitted functions.
type object struct {
	elf   *elf.File
	data  *dwarf.Data
	lines []byte // .debug_line
	names map[dwarf.Offset]origin
}

// An origin is a function that was inlined somewhere.
type origin struct {
	name, file string
	line       int
}

// openObject reads the sections of an object. The file must stay open while the object is used.
func openObject(f *elf.File) (o *object, err error) {
	o = &object{elf: f, names: make(map[dwarf.Offset]origin)}
	section := f.Section(".debug_line")
	if section == nil || f.Section(".debug_info") == nil {
		return o, nil // code without lines
	}
	if o.lines, err = section.Data(); err != nil {
		return nil, err
	}
	if o.data, err = f.DWARF(); err != nil {
		return nil, fmt.Errorf("DWARF: %w", err)
	}
	return o, nil
}

// virtual returns the address for which DWARF describes a place in the file. perf asks for it, too.
func virtual(f *elf.File, offset uint64) (addr uint64, ok bool) {
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
}

// locate answers lookups, which are sorted by address. It reads only the units that they are in.
func (o *object) locate(lookups []lookup) error {
	if o.data == nil {
		return nil
	}
	r := o.data.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			return fmt.Errorf("DWARF: %w", err)
		}
		if e == nil {
			return nil
		}
		if e.Tag != dwarf.TagCompileUnit {
			r.SkipChildren()
			continue
		}
		ranges, err := o.data.Ranges(e)
		if err != nil {
			return fmt.Errorf("DWARF: %w", err)
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
		if len(asked) > 0 {
			if err := o.unit(r, e, asked); err != nil {
				return err
			}
			if e.Children { // unit stops at the end of the entries of this unit
				continue
			}
		}
		r.SkipChildren()
	}
}

// unit answers the lookups of a unit, and reads its entries to their end.
func (o *object) unit(r *dwarf.Reader, e *dwarf.Entry, asked []*lookup) error {
	u := unit{object: o, reader: r}
	if err := u.readLines(e); err != nil {
		return err
	}
	for _, q := range asked {
		file, line := u.lineAt(q.addr)
		q.answer = []located{{file: file, line: line}}
	}
	if !e.Children {
		return nil
	}
	return u.children(asked, nil)
}
