package jitobj

import (
	"crypto/md5"
	"debug/dwarf"
	"slices"

	"github.com/ianlancetaylor/demangle"

	"github.com/jitinject/jitinject/dwarfgen"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// From a function to its DWARF.

// debugInfo describes fn, whose code is at b.at: a unit with one subprogram, what was
// inlined into it, and the lines. A function of which neither is known gets none: its
// symbol says all there is to say.
func (b *Builder) debugInfo(fn *jitcode.Function) {
	if len(fn.Lines) == 0 && len(fn.Inlines) == 0 {
		return
	}
	u := &b.unit
	u.Reset(dwarfgen.Shared(dwarf.AttrProducer, b.opts.Producer))
	u.Low, u.High = b.at, b.at+fn.Size
	u.Lines.Dir = b.opts.CompDir
	b.files = b.files[:0]
	for range fn.Files {
		b.files = append(b.files, -1)
	}
	main := mainFile(fn)
	if main >= 0 {
		b.fileID(fn, main) // the first file of the table is the unit's own
		u.AddAttrs(0, dwarfgen.Path(dwarf.AttrName, fn.Files[main]))
	}
	u.AddAttrs(0, dwarfgen.Path(dwarf.AttrCompDir, b.opts.CompDir))
	b.lines(fn)
	b.subprogram(fn)
	b.texts(fn)
	b.dwarf.Add(u)
}

// mainFile returns the index of the file that fn is of, as far as that is known,
// or -1: the file it is declared in, or else that of its first line.
func mainFile(fn *jitcode.Function) int {
	if len(fn.Origins) > 0 && fn.Origins[0].File >= 0 {
		return fn.Origins[0].File
	}
	if len(fn.Lines) > 0 {
		return fn.Lines[0].File
	}
	return -1
}

// fileID returns the id of one of fn's files. Only those that something refers to
// get into the table.
func (b *Builder) fileID(fn *jitcode.Function, i int) dwarfgen.FileID {
	if b.files[i] < 0 {
		b.files[i] = b.unit.Lines.AddFile(fn.Files[i])
	}
	return b.files[i]
}

// lines fills the unit's line table. A function without lines gets one that says
// so: declarations and calls refer to its files.
//
// A row begins wherever an inlined call begins or ends, too: elfutils looks for
// the calls around the row's address instead of the one that it was asked about.
func (b *Builder) lines(fn *jitcode.Function) {
	t := &b.unit.Lines
	b.edges = b.edges[:0]
	for _, r := range fn.Ranges {
		b.edges = append(b.edges, r.Offset, r.Offset+r.Size)
	}
	slices.Sort(b.edges)
	edges := slices.Compact(b.edges)
	row := dwarfgen.Row{Addr: b.at}
	if len(fn.Lines) == 0 || fn.Lines[0].Offset > 0 && len(edges) > 0 {
		t.AddRow(row)
	}
	rowsUpTo := func(end uint64) {
		for ; len(edges) > 0 && edges[0] < end; edges = edges[1:] {
			if addr := b.at + edges[0]; addr > row.Addr {
				row.Addr = addr
				t.AddRow(row)
			}
		}
	}
	for _, l := range fn.Lines {
		rowsUpTo(l.Offset)
		row = dwarfgen.Row{Addr: b.at + l.Offset, File: max(b.files[l.File], 0), Line: l.Line, Column: l.Column}
		if l.Line != 0 {
			row.File = b.fileID(fn, l.File)
		}
		t.AddRow(row)
	}
	rowsUpTo(fn.Size)
	t.AddRow(dwarfgen.Row{Addr: b.unit.High, End: true})
}

// subprogram adds the entry of the function, which has its symbol's name: readers
// take an entry of another name for one that was inlined.
func (b *Builder) subprogram(fn *jitcode.Function) {
	u := &b.unit
	id := u.Add(0, dwarf.TagSubprogram)
	b.name(id, string(fn.Name))
	if len(fn.Origins) > 0 {
		b.declared(id, fn, &fn.Origins[0])
	}
	u.AddAttrs(id, dwarfgen.Flag(dwarf.AttrExternal), dwarfgen.Addr(dwarf.AttrLowpc, u.Low), dwarfgen.Size(dwarf.AttrHighpc, u.High-u.Low))
	b.inlines(id, fn)
}

// name gives an entry its name, and its linkage name if that is another.
func (b *Builder) name(id dwarfgen.EntryID, name string) {
	plain := demangled(name)
	b.unit.AddAttrs(id, dwarfgen.String(dwarf.AttrName, plain))
	if plain != name {
		b.unit.AddAttrs(id, dwarfgen.String(dwarf.AttrLinkageName, name))
	}
}

// declared says where a function is declared, as far as that is known.
func (b *Builder) declared(id dwarfgen.EntryID, fn *jitcode.Function, o *jitcode.Origin) {
	if o.File < 0 {
		return
	}
	b.unit.AddAttrs(id, dwarfgen.File(dwarf.AttrDeclFile, b.fileID(fn, o.File)))
	b.place(id, dwarf.AttrDeclLine, o.Line, dwarf.AttrDeclColumn, o.Column)
}

// place adds a line and column to an entry, as far as they are known.
func (b *Builder) place(id dwarfgen.EntryID, lineAttr dwarf.Attr, line uint32, columnAttr dwarf.Attr, column uint32) {
	if line == 0 {
		return
	}
	b.unit.AddAttrs(id, dwarfgen.Number(lineAttr, uint64(line)))
	if column != 0 {
		b.unit.AddAttrs(id, dwarfgen.Number(columnAttr, uint64(column)))
	}
}

// texts puts what is known of the contents of files into the line table.
func (b *Builder) texts(fn *jitcode.Function) {
	for i, text := range fn.Sources {
		if text == "" || b.files[i] < 0 {
			continue
		}
		b.unit.Lines.SetMD5(b.files[i], md5.Sum([]byte(text)))
		if b.opts.Embed {
			b.unit.Lines.SetSource(b.files[i], text)
		}
	}
}

// Names come from files that anyone may have written, and demangling one may
// need much more room than the name itself: for the result, and, as it recurses,
// for the stack.
const (
	maxMangled   = 8 << 10 // longer names stay as they are
	maxDemangled = 16      // the result has up to 2^16 bytes
)

// plainName returns demangled(name), which takes its time, for names that come again.
func (b *Builder) plainName(name string) string {
	plain, ok := b.plain[name]
	if !ok {
		if b.plain == nil || len(b.plain) >= maxPlain {
			b.plain = make(map[string]string)
		}
		plain = demangled(name)
		b.plain[name] = plain
	}
	return plain
}

// maxPlain bounds how many names are remembered.
const maxPlain = 1000

func demangled(name string) string {
	if len(name) > maxMangled {
		return name
	}
	return demangle.Filter(name, demangle.MaxLength(maxDemangled))
}
