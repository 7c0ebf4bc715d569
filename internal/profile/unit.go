package profile

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/jitinject/jitinject/internal/format/dwarfdata"
	"github.com/jitinject/jitinject/internal/mangled"
	"github.com/jitinject/jitinject/internal/sorting"
)

// A unit is a unit that is being read.
type unit struct {
	*object
	reader *dwarfdata.Reader
	files  []*dwarf.LineFile
	rows   []dwarf.LineEntry // sorted by address
}

// readLines reads the line table of a unit. Units may share it.
func (u *unit) readLines(e *dwarf.Entry) error {
	off, ok := e.Val(dwarf.AttrStmtList).(int64)
	if !ok {
		return nil
	}
	if u.lastLines == nil || u.lastLines.at != off {
		t := &lineTable{at: off}
		lr, err := u.data.LineReader(e)
		if err != nil || lr == nil {
			return err
		}
		var row dwarf.LineEntry
		for {
			if err := lr.Next(&row); err == io.EOF {
				break
			} else if err != nil {
				return err
			}
			if err := u.data.Charge(rowSize); err != nil {
				return err
			}
			t.rows = append(t.rows, row)
		}
		sorting.Stable(t.rows, func(a, b dwarf.LineEntry) int { return cmp.Compare(a.Address, b.Address) })
		t.files = lr.Files()
		u.lastLines = t
	}
	u.rows, u.files = u.lastLines.rows, u.lastLines.files
	return nil
}

// maxName bounds the name of an inlined function, which each stack with it may repeat, in bytes.
const maxName = 4 << 10

// rowSize is the size of a row in memory, in bytes.
const rowSize = 64

// lineAt returns the line of an address, "" and 0 if there is none.
func (u *unit) lineAt(addr uint64) (file string, line int) {
	i := sort.Search(len(u.rows), func(i int) bool { return u.rows[i].Address > addr }) - 1
	if i < 0 || u.rows[i].EndSequence || u.rows[i].Line == 0 || u.rows[i].File == nil {
		return "", 0
	}
	return u.rows[i].File.Name, u.rows[i].Line
}

// file returns the name of a file of the unit's line table that an attribute of an entry has.
func (u *unit) file(e *dwarf.Entry, attr dwarf.Attr) string {
	if i, ok := e.Val(attr).(int64); ok && i >= 0 && i < int64(len(u.files)) && u.files[i] != nil {
		return u.files[i].Name
	}
	return ""
}

func number(e *dwarf.Entry, attr dwarf.Attr) int {
	n, _ := e.Val(attr).(int64)
	return int(n)
}

// maxDepth bounds the depth of entries: objects may come from others.
const maxDepth = 1000

// children reads the entries below one of the unit's, to their end. asked are the lookups in that, and
// path the entries above.
func (u *unit) children(asked []*lookup, path []*dwarf.Entry) error {
	if len(path) > maxDepth {
		return fmt.Errorf("DWARF: entries are more than %d deep", maxDepth)
	}
	for {
		e, err := u.reader.Next()
		if err != nil {
			return err
		}
		if e == nil || e.Tag == 0 {
			return nil
		}
		below := asked
		switch e.Tag {
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			if below, err = u.within(e, asked); err != nil {
				return err
			}
			var from *origin
			if len(below) > 0 {
				if from, err = u.origin(e); err != nil {
					return err
				}
			}
			for _, q := range below {
				u.enter(e, from, q)
			}
		}
		if !e.Children {
			continue
		}
		if len(below) == 0 {
			err = u.reader.SkipChildren(e)
		} else {
			err = u.children(below, append(path, e))
		}
		if err != nil {
			return err
		}
	}
}

func (u *unit) within(e *dwarf.Entry, asked []*lookup) (in []*lookup, err error) {
	ranges, err := u.data.RangesOf(e)
	if err != nil {
		return nil, err
	}
	for _, q := range asked {
		if !q.simple && slices.ContainsFunc(ranges, func(rg [2]uint64) bool { return q.addr >= rg[0] && q.addr < rg[1] }) {
			in = append(in, q)
		}
	}
	return in, nil
}

// enter adds an entry to the answer of a lookup. The line found so far is that of the new innermost
// function, and the place of the call is that of its caller.
func (u *unit) enter(e *dwarf.Entry, of *origin, q *lookup) {
	inner := &q.answer[0]
	if e.Tag == dwarf.TagSubprogram {
		inner.origin = of
		return
	}
	if u.entered++; len(q.answer) > maxStack || u.entered > maxFrames+framesPerStack*u.asked {
		u.simplified++
		q.answer, q.simple = slices.Clone(q.answer[len(q.answer)-1:]), true
		return
	}
	call := located{of, inner.from, inner.at}
	inner.from, inner.at = "", 0
	if line := number(e, dwarf.AttrCallLine); line > 0 {
		inner.from, inner.at = u.file(e, dwarf.AttrCallFile), line
	}
	q.answer = slices.Insert(q.answer, 0, call)
}

// origin returns the function of an entry with code. perf has the names of those that were not inlined.
func (u *unit) origin(e *dwarf.Entry) (from *origin, err error) {
	if e.Tag == dwarf.TagSubprogram {
		return &origin{file: u.file(e, dwarf.AttrDeclFile), line: number(e, dwarf.AttrDeclLine)}, nil
	}
	off, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
	if !ok {
		return unknownOrigin, nil
	}
	if from, ok = u.names[off]; ok {
		return from, nil
	}
	r := u.data.Reader()
	r.Seek(off)
	f, err := r.Next()
	if err != nil || f == nil {
		return unknownOrigin, err
	}
	name, _ := f.Val(dwarf.AttrName).(string)
	if linkage, ok := f.Val(dwarf.AttrLinkageName).(string); ok && linkage != name {
		name = mangled.WithoutParameters(linkage)
	}
	from = &origin{name[:min(len(name), maxName)], u.file(f, dwarf.AttrDeclFile), number(f, dwarf.AttrDeclLine)}
	u.names[off] = from
	return from, nil
}
