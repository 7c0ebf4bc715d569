package jitdump

import (
	"bytes"
	"cmp"
	"math"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/jitdump"
)

// Conversion of records with an inline tree to origins, inlined calls and rows.

// inlineInfo adds the content of a record to the function. It reports whether the record has lines.
// A tree that breaks a rule is dropped as a whole: code in a wrong inlined call would be worse than
// none.
func (r *Reader) inlineInfo(raw *jitdump.Raw) bool {
	info, err := r.decodeTree(raw)
	if info == nil && raw.ID == jitdump.IDOpenJ9 {
		r.problem(raw.Offset, "%v; the function is left without the lines and inlined calls of its metadata", err)
		r.fixes.trees.Add(1)
		return false
	}
	if raw.ID == jitdump.IDDebugInfo2 && info != nil && r.isLate(outerOf(info)) {
		r.problem(raw.Offset, "%s at offset %#x is about %q, which was loaded before it; it is left out, with its lines and inlined calls", raw.ID, raw.Offset, jitcode.Beginning(outerOf(info), 100))
		r.fixes.trees.Add(1)
		return false
	}
	return r.useTree(info, err, raw.Offset)
}

// isLate reports whether a record before the function is about the function before that, which has no
// record: it has that function's name, and not this one's. Names of functions may be longer than those
// in records.
func (r *Reader) isLate(outer []byte) bool {
	if len(outer) == 0 || bytes.Contains(r.fn.Name, outer) || r.function == 0 {
		return false
	}
	if before := r.listing.partsOf(r.function - 1); before.inline.Size != 0 {
		return false
	}
	name, _, err := r.listing.NewCodeReader().Code(r.function - 1)
	return err == nil && bytes.Equal(name, outer)
}

// outerOf returns the name of the function that a record describes, or nil.
func outerOf(info *jitdump.DebugInfo2) []byte {
	if len(info.Functions) == 0 || uint64(info.Functions[0].Name) >= uint64(len(info.Names)) {
		return nil
	}
	return info.Names[info.Functions[0].Name]
}

// useTree adds a decoded record at an offset to the function, or the part that was decoded before err.
func (m *lineMaker) useTree(info *jitdump.DebugInfo2, err error, off int64) bool {
	if info == nil {
		m.problem(off, "%v; the record is left out, with its lines and inlined calls", err)
		m.fixes.trees.Add(1)
		return false
	}
	return m.useFiles(info, m.recordFiles(info), err, off)
}

// useFiles is useTree with the indexes of the record's files in fn.Files.
func (m *lineMaker) useFiles(info *jitdump.DebugInfo2, files []int, err error, off int64) bool {
	if err == nil {
		err = info.CheckTree(m.fn.Size)
	}
	if err != nil {
		m.badTree(off, err)
	} else {
		m.addCalls(info, files)
	}
	known, complained := false, false
	for _, l := range info.Lines {
		w := row{off: int64(l.Offset), line: l.Line, column: l.Column + 1, file: -1}
		switch {
		case uint64(l.File) < uint64(len(files)):
			w.file = files[l.File]
		case !complained:
			complained = true
			m.problem(off, "%v; such lines are left out", info.CheckLines())
		}
		if w.line > maxLine {
			w.line = 0
			m.fixes.absurdLines.Add(1)
		}
		if w.file < 0 {
			w.file, w.line = 0, 0
		}
		known = known || w.line != 0
		m.rows = append(m.rows, w)
	}
	m.sortRows()
	if !known {
		m.rows = m.rows[:0]
	}
	return known
}

// badTree adds the problem of a tree that was dropped.
func (m *lineMaker) badTree(off int64, err error) {
	m.problem(off, "%v; the function is left without inlined calls", err)
	m.fixes.trees.Add(1)
}

// decodeTree returns a record of any kind in the current form. With an error, the record may be
// nil, and only its lines are usable.
func (r *Reader) decodeTree(raw *jitdump.Raw) (*jitdump.DebugInfo2, error) {
	if raw.ID == jitdump.IDOpenJ9 {
		lines, err := r.j9Lines(raw)
		r.listings = lines.Listings
		return lines.Info, err
	}
	info := &r.info2
	err := raw.DebugInfo2(info)
	// If the counts are wrong, lists may begin elsewhere. Their contents show it.
	switch {
	case err != nil && !linesFit(info, r.fn.Size):
		return nil, err
	case err == nil && !isPadding(info.Extra):
		if err := info.CheckTree(r.fn.Size); err != nil {
			return nil, err
		}
	}
	return info, err
}

// linesFit reports whether a record has lines, and these fit its files and size bytes of code.
func linesFit(info *jitdump.DebugInfo2, size uint64) bool {
	n := len(info.Lines)
	return n > 0 && isPadding(info.Extra) && info.CheckLines() == nil && uint64(info.Lines[n-1].Offset) <= size
}

// isPadding reports whether b has only zeros.
func isPadding(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

// recordFiles adds the files of a record to fn.Files. It returns their indexes there, by index in
// the record; -1 stands for an unusable name.
func (m *lineMaker) recordFiles(info *jitdump.DebugInfo2) []int {
	m.files = m.files[:0]
	for _, name := range info.Files {
		at := -1
		if len(name) > 0 {
			at = m.file(name, false)
		}
		m.files = append(m.files, at)
	}
	return m.files
}

// addCalls sets the function's origins and inlined calls from a record that keeps all rules. In the
// record, columns count from 0. The unknown column is 0xffffffff: adding 1 makes it 0.
func (m *lineMaker) addCalls(info *jitdump.DebugInfo2, files []int) {
	fn := &m.fn
	for _, f := range info.Functions {
		name := info.Names[f.Name]
		switch {
		case len(name) == 0:
			name = unnamed
		case len(name) > jitcode.MaxOriginName:
			name = jitcode.Beginning(name, jitcode.MaxOriginName)
		}
		fn.Origins = append(fn.Origins, jitcode.Origin{
			Name: name, File: files[f.File], Line: knownLine(f.Line), Column: f.Column + 1,
		})
	}
	var stack [jitdump.MaxDepth + 1]int // latest call of each depth
	ranges := info.Ranges
	for _, c := range info.Calls {
		first := len(fn.Ranges)
		for _, rng := range ranges[:c.RangeCount] {
			if rng.Size > 0 {
				fn.Ranges = append(fn.Ranges, jitcode.Range{Offset: uint64(rng.Start), Size: uint64(rng.Size)})
			}
		}
		ranges = ranges[c.RangeCount:]
		if first == len(fn.Ranges) {
			stack[c.Depth] = -1 // no code is left of it, nor of calls inside it
			continue
		}
		sorting.By(fn.Ranges[first:], func(a, b jitcode.Range) int { return cmp.Compare(a.Offset, b.Offset) })
		fn.Ranges = joined(fn.Ranges, first)
		parent := -1
		if c.Depth > 0 {
			parent = stack[c.Depth-1]
		}
		stack[c.Depth] = len(fn.Inlines)
		fn.Inlines = append(fn.Inlines, jitcode.Inline{
			Parent: parent, Origin: int(c.Function), Line: knownLine(c.Line), Column: c.Column + 1,
			First: first, Last: len(fn.Ranges),
		})
	}
}

// unnamed replaces an empty function name: tools drop calls without a name.
var unnamed = []byte("(anonymous)")

// joined joins adjacent ranges, from index first on.
func joined(ranges []jitcode.Range, first int) []jitcode.Range {
	n := first
	for _, r := range ranges[first:] {
		if n > first && ranges[n-1].Offset+ranges[n-1].Size == r.Offset {
			ranges[n-1].Size += r.Size
			continue
		}
		ranges[n] = r
		n++
	}
	return ranges[:n]
}

// lineColumn returns a column of a line table, or 0 if it exceeds 65535. elfutils and LLVM have 16
// bits for columns, and elfutils drops a whole table with a larger one.
func lineColumn(column uint32) uint32 {
	if column > math.MaxUint16 {
		return 0
	}
	return column
}

// knownLine returns line, or 0 for a number that no file has.
func knownLine(line uint32) uint32 {
	if line > maxLine {
		return 0
	}
	return line
}
