package jitobj

import (
	"crypto/md5"
	"debug/dwarf"
	"slices"

	"github.com/jitinject/jitinject/dwarfgen"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/mangled"
)

// Conversion of a function to DWARF.

// debugInfo describes fn, with its code at b.at: a unit with one subprogram, its inlined calls, and
// the lines. A function without lines and inlined calls gets no unit: its symbol is enough.
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

// mainFile returns the index of fn's own file, or -1. It is the file of the function's declaration,
// or else that of its first line.
func mainFile(fn *jitcode.Function) int {
	if len(fn.Origins) > 0 && fn.Origins[0].File >= 0 {
		return fn.Origins[0].File
	}
	if len(fn.Lines) > 0 {
		return fn.Lines[0].File
	}
	return -1
}

// fileID returns the id of one of fn's files. Only files in use are in the table.
func (b *Builder) fileID(fn *jitcode.Function, i int) dwarfgen.FileID {
	if b.files[i] < 0 {
		add := b.unit.Lines.AddFile
		for k := range min(len(fn.Sources), len(fn.Files)) {
			if i < len(fn.Sources) && b.files[k] >= 0 && fn.Files[k] == fn.Files[i] && fn.Sources[k] != fn.Sources[i] {
				add = b.unit.Lines.AddOtherFile // of one name, such as that of all evaluated code
			}
		}
		b.files[i] = add(fn.Files[i])
	}
	return b.files[i]
}

// lines fills the unit's line table. A function without lines gets a table without lines, because
// declarations and calls refer to its files.
//
// A row also begins at the start and the end of each inlined call. elfutils searches the calls
// around the row's address, not around the address it was asked about.
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

// subprogram adds the entry of the function, with its symbol's name. Readers take an entry with
// another name for an inlined one.
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

// name sets the name of an entry, and its linkage name if that differs.
func (b *Builder) name(id dwarfgen.EntryID, name string) {
	plain := mangled.Demangle(name)
	b.unit.AddAttrs(id, dwarfgen.String(dwarf.AttrName, plain))
	if plain != name {
		b.unit.AddAttrs(id, dwarfgen.String(dwarf.AttrLinkageName, name))
	}
}

// declared sets the place of a function's declaration, if it is known.
func (b *Builder) declared(id dwarfgen.EntryID, fn *jitcode.Function, o *jitcode.Origin) {
	if o.File < 0 {
		return
	}
	b.unit.AddAttrs(id, dwarfgen.File(dwarf.AttrDeclFile, b.fileID(fn, o.File)))
	b.place(id, dwarf.AttrDeclLine, o.Line, dwarf.AttrDeclColumn, o.Column)
}

// place sets the line and column of an entry, if they are known.
func (b *Builder) place(id dwarfgen.EntryID, lineAttr dwarf.Attr, line uint32, columnAttr dwarf.Attr, column uint32) {
	if line == 0 {
		return
	}
	b.unit.AddAttrs(id, dwarfgen.Number(lineAttr, uint64(line)))
	if column != 0 {
		b.unit.AddAttrs(id, dwarfgen.Number(columnAttr, uint64(column)))
	}
}

// texts adds the known contents of files to the line table.
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

// names returns a name of an inlined function, and its demangled form, with a cache, because demangling is slow and
// inlined functions may share a long name.
func (b *Builder) names(of []byte) [2]string {
	names, ok := b.plain[string(of)]
	if !ok {
		if b.plain == nil || len(b.plain) >= maxPlain {
			b.plain = make(map[string][2]string)
		}
		names = [2]string{string(of), mangled.Demangle(string(of))}
		b.plain[names[0]] = names
	}
	return names
}

// maxPlain bounds the size of this cache.
const maxPlain = 1000
