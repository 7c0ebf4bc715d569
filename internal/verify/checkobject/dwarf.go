package checkobject

import (
	"cmp"
	"context"
	"debug/dwarf"
	"errors"
	"io"
	"slices"

	"github.com/jitinject/jitinject/internal/dwarfline"
)

// What DWARF says about jitted code, as debug/dwarf reads it.

// maxTreeDepth is how deep entries may lie in each other.
const maxTreeDepth = 1000

// debug checks units, line tables and inlined calls.
func (o *Object) debug(ctx context.Context) {
	info := o.ELF.Section(".debug_info")
	if info == nil || o.Text == nil {
		return
	}
	data, err := o.ELF.DWARF()
	if err != nil {
		o.Violation("object/unit", offset(info), "%v", err)
		return
	}
	var lines []byte // .debug_line, of which a bundle has a table for each function
	if s := o.ELF.Section(".debug_line"); s != nil {
		if lines, err = s.Data(); err != nil {
			o.Violation("object/lines", offset(s), "%v", err)
			return
		}
	}
	r := data.Reader()
	tables := make(map[int64]bool) // line tables that were looked at
	for n := uint64(0); ctx.Err() == nil; n++ {
		e, err := r.Next()
		if err != nil {
			o.Violation("object/unit", offset(info), "%v", err)
			return
		}
		if e == nil {
			return
		}
		// An entry has a byte at least. debug/dwarf stays where it is for ever at a
		// LEB128 that the end of the section cuts.
		if n > info.Size {
			o.Violation("object/elf", offset(info), "the last entry ends inside a number")
			return
		}
		if e.Tag != dwarf.TagCompileUnit {
			r.SkipChildren()
			continue
		}
		low, high, ok := o.unit(data, e)
		if at, _ := e.Val(dwarf.AttrStmtList).(int64); !tables[at] {
			tables[at] = true
			o.lineTable(data, lines, e, low, high)
		}
		if !ok || !e.Children {
			r.SkipChildren()
			continue
		}
		t := treeCheck{o: o, data: data, reader: r}
		if !t.children([][2]uint64{{low, high}}, 0) {
			return
		}
	}
}

// unit checks which code a unit is about.
func (o *Object) unit(data *dwarf.Data, e *dwarf.Entry) (low, high uint64, ok bool) {
	at := offset(o.ELF.Section(".debug_info")) + int64(e.Offset)
	ranges, err := data.Ranges(e)
	if err != nil || len(ranges) == 0 {
		o.Violation("object/unit", at, "a unit does not say which code it is about")
		return o.Text.Addr, o.Text.Addr + o.Text.Size, false
	}
	low, high = ranges[0][0], ranges[0][1]
	for _, r := range ranges {
		low, high = min(low, r[0]), max(high, r[1])
	}
	if low < o.Text.Addr || high > o.Text.Addr+o.Text.Size || low > high {
		o.Violation("object/unit", at, "a unit is about %#x to %#x, .text is at %#x to %#x", low, high, o.Text.Addr, o.Text.Addr+o.Text.Size)
		return o.Text.Addr, o.Text.Addr + o.Text.Size, false
	}
	return low, high, true
}

// lineTable checks the rows of a unit. lines is .debug_line.
func (o *Object) lineTable(data *dwarf.Data, lines []byte, e *dwarf.Entry, low, high uint64) {
	section := o.ELF.Section(".debug_line")
	at, ok := e.Val(dwarf.AttrStmtList).(int64)
	if !ok || section == nil {
		return
	}
	err := dwarfline.CheckHeader(o.ELF.ByteOrder, lines, at)
	var lr *dwarf.LineReader
	if err == nil {
		lr, err = data.LineReader(e)
	}
	if err != nil || lr == nil {
		if err != nil {
			o.Violation("object/lines", 0, "%v", err)
		}
		return
	}
	at += offset(section)
	var row dwarf.LineEntry
	var last uint64
	rows := 0 // of the sequence
	for {
		err := lr.Next(&row)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			o.Violation("object/lines", at, "%v", err)
			return
		}
		switch {
		case row.Address < low || row.Address > high || row.Address == high && !row.EndSequence && high > low:
			o.Violation("object/lines", at, "a row at %#x, the code is at %#x to %#x", row.Address, low, high)
			return
		case rows > 0 && row.Address < last:
			o.Violation("object/lines", at, "a row at %#x after one at %#x", row.Address, last)
			return
		case row.EndSequence && rows > 0 && row.Address == last:
			o.Violation("object/lines", at, "a sequence ends at its last row, %#x, so the line of that row covers no code", last)
			return
		}
		last = row.Address
		if rows++; row.EndSequence {
			rows = 0
		}
	}
	if rows > 0 {
		o.Violation("object/lines", at, "a sequence of %d rows has no end", rows)
	}
}

// A treeCheck walks the entries of a unit.
type treeCheck struct {
	o      *Object
	data   *dwarf.Data
	reader *dwarf.Reader
}

// children checks the children of an entry with code in ranges around, which are
// sorted, and reports whether to go on.
func (t *treeCheck) children(around [][2]uint64, depth int) bool {
	var taken [][2]uint64
	for {
		e, err := t.reader.Next()
		if err != nil {
			return t.violated(nil, "%v", err)
		}
		if e == nil || e.Tag == 0 {
			break
		}
		inner := around
		switch e.Tag {
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine, dwarf.TagLexDwarfBlock:
			ranges, err := t.data.Ranges(e)
			if err != nil {
				return t.violated(e, "%v", err)
			}
			for _, r := range ranges {
				if r[0] > r[1] || !within(r, around) {
					return t.violated(e, "%s is about %#x to %#x, which is not in what is around it", e.Tag, r[0], r[1])
				}
				if r[0] < r[1] {
					taken = append(taken, r)
				}
			}
			if e.Tag == dwarf.TagInlinedSubroutine && e.Val(dwarf.AttrAbstractOrigin) == nil {
				return t.violated(e, "an inlined call does not say of what")
			}
			inner = slices.DeleteFunc(ranges, func(r [2]uint64) bool { return r[0] == r[1] })
			slices.SortFunc(inner, byStart)
		}
		if e.Children {
			if depth == maxTreeDepth {
				return t.violated(e, "entries lie more than %d deep in each other", maxTreeDepth)
			}
			if !t.children(inner, depth+1) {
				return false
			}
		}
	}
	slices.SortFunc(taken, byStart)
	for i := 1; i < len(taken); i++ {
		if taken[i-1][1] > taken[i][0] {
			return t.violated(nil, "code at %#x is of two entries of one depth", taken[i][0])
		}
	}
	return true
}

func (t *treeCheck) violated(e *dwarf.Entry, format string, args ...any) bool {
	at := offset(t.o.ELF.Section(".debug_info"))
	if e != nil {
		at += int64(e.Offset)
	}
	t.o.Violation("object/tree", at, format, args...)
	return false
}

func byStart(a, b [2]uint64) int { return cmp.Compare(a[0], b[0]) }

// within reports whether one of the ranges, which are sorted, contains r.
func within(r [2]uint64, ranges [][2]uint64) bool {
	behind, _ := slices.BinarySearchFunc(ranges, r[0], func(a [2]uint64, start uint64) int {
		if a[0] <= start {
			return -1
		}
		return 1
	})
	return behind > 0 && r[1] <= ranges[behind-1][1]
}
