package jitobj

import (
	"debug/dwarf"

	"github.com/jitinject/jitinject/dwarfgen"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// Conversion of the inlined calls of a function to entries.

// ids are the entries of the current function.
type ids struct {
	abstract []dwarfgen.EntryID // of origins; 0 if there is none yet
	inlined  []dwarfgen.EntryID // of inlined calls
}

// inlines adds the tree of inlined calls below the function's entry. It also adds an abstract entry
// for each called function, with the common attributes of all its inlined calls [DWARF5 3.3.8].
func (b *Builder) inlines(outer dwarfgen.EntryID, fn *jitcode.Function) {
	u := &b.unit
	b.ids.abstract = append(b.ids.abstract[:0], make([]dwarfgen.EntryID, len(fn.Origins))...)
	b.ids.inlined = b.ids.inlined[:0]
	n := len(fn.Inlines) + len(fn.Origins)
	u.Grow(n, 6*n) // at once: to grow step by step takes twice the memory
	for i := range fn.Inlines {
		call := &fn.Inlines[i]
		parent, caller := outer, 0
		if call.Parent >= 0 {
			parent, caller = b.ids.inlined[call.Parent], fn.Inlines[call.Parent].Origin
		}
		id := u.Add(parent, dwarf.TagInlinedSubroutine, dwarfgen.Ref(dwarf.AttrAbstractOrigin, b.abstract(fn, call.Origin)))
		b.ids.inlined = append(b.ids.inlined, id)
		b.extent(id, fn.Ranges[call.First:call.Last])
		file, line, column := fn.Origins[caller].File, call.Line, call.Column
		if call.Elsewhere {
			file = call.File
		}
		if file < 0 {
			// gdb drops calls without a call site. Any file will do, as line 0 is in none.
			file, line, column = mainFile(fn), 0, 0
		}
		if file >= 0 {
			u.AddAttrs(id, dwarfgen.File(dwarf.AttrCallFile, b.fileID(fn, file)))
		}
		u.AddAttrs(id, dwarfgen.Number(dwarf.AttrCallLine, uint64(line)))
		if column != 0 {
			u.AddAttrs(id, dwarfgen.Number(dwarf.AttrCallColumn, uint64(column)))
		}
	}
}

// abstract returns the abstract entry of an origin.
func (b *Builder) abstract(fn *jitcode.Function, origin int) dwarfgen.EntryID {
	if b.ids.abstract[origin] == 0 {
		id := b.unit.Add(0, dwarf.TagSubprogram)
		names := b.names(fn.Origins[origin].Name)
		// At the first query, libbfd gives the symbol's name to an inlined function without a
		// linkage name.
		b.unit.AddAttrs(id, dwarfgen.Shared(dwarf.AttrName, names[1]), dwarfgen.Shared(dwarf.AttrLinkageName, names[0]))
		b.declared(id, fn, &fn.Origins[origin])
		b.unit.AddAttrs(id, dwarfgen.Number(dwarf.AttrInline, inlInlined))
		b.ids.abstract[origin] = id
	}
	return b.ids.abstract[origin]
}

// inlInlined is DW_INL_inlined: inlined, without having been declared so.
const inlInlined = 1

// extent sets the code ranges of an entry.
func (b *Builder) extent(id dwarfgen.EntryID, ranges []jitcode.Range) {
	u := &b.unit
	if len(ranges) == 1 {
		low := b.at + ranges[0].Offset
		u.AddAttrs(id, dwarfgen.Addr(dwarf.AttrLowpc, low), dwarfgen.Size(dwarf.AttrHighpc, ranges[0].Size))
		return
	}
	b.ranges = b.ranges[:0]
	for _, r := range ranges {
		low := b.at + r.Offset
		b.ranges = append(b.ranges, dwarfgen.Range{Low: low, High: low + r.Size})
	}
	u.AddAttrs(id, u.Ranges(dwarf.AttrRanges, b.ranges))
}
