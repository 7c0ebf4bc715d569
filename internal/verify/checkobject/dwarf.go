package checkobject

import (
	"context"
	"debug/dwarf"
	"errors"
	"io"

	"github.com/jitinject/jitinject/internal/dwarfline"
)

// What DWARF says about jitted code, as debug/dwarf reads it.

// debug checks units and line tables. llvm-dwarfdump --verify checks the entries in units.
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
			continue
		}
		low, high := o.unit(data, e)
		if at, _ := e.Val(dwarf.AttrStmtList).(int64); !tables[at] {
			tables[at] = true
			o.lineTable(data, lines, e, low, high)
		}
	}
}

// unit checks which code a unit is about, and returns its range, or that of .text.
func (o *Object) unit(data *dwarf.Data, e *dwarf.Entry) (low, high uint64) {
	at := offset(o.ELF.Section(".debug_info")) + int64(e.Offset)
	ranges, err := data.Ranges(e)
	if err != nil || len(ranges) == 0 {
		o.Violation("object/unit", at, "a unit does not say which code it is about")
		return o.Text.Addr, o.Text.Addr + o.Text.Size
	}
	low, high = ranges[0][0], ranges[0][1]
	for _, r := range ranges {
		low, high = min(low, r[0]), max(high, r[1])
	}
	if low < o.Text.Addr || high > o.Text.Addr+o.Text.Size || low > high {
		o.Violation("object/unit", at, "a unit is about %#x to %#x, .text is at %#x to %#x", low, high, o.Text.Addr, o.Text.Addr+o.Text.Size)
		return o.Text.Addr, o.Text.Addr + o.Text.Size
	}
	return low, high
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
