package checkobject

import (
	"context"
	"debug/dwarf"
	"errors"
	"io"

	"github.com/jitinject/jitinject/internal/format/dwarfdata"
)

// What DWARF says about jitted code, as debug/dwarf reads it.

// debug checks units and line tables. llvm-dwarfdump --verify checks the entries in units.
func (o *Object) debug(ctx context.Context) {
	info := o.ELF.Section(".debug_info")
	if info == nil || o.Text == nil {
		return
	}
	data, err := o.ELF.DWARF() // a bundle has a line table for each function
	if err != nil {
		o.Violation("object/unit", offset(info), "%v", err)
		return
	}
	if data == nil {
		return
	}
	r := data.Reader()
	tables := make(map[int64]bool) // line tables that were looked at
	for ctx.Err() == nil {
		e, err := r.Next()
		if err != nil {
			o.Violation("object/unit", offset(info), "%v", err)
			return
		}
		if e == nil {
			return
		}
		if e.Tag != dwarf.TagCompileUnit {
			continue
		}
		low, high := o.unit(data, e)
		if at, _ := e.Val(dwarf.AttrStmtList).(int64); !tables[at] {
			tables[at] = true
			o.lineTable(data, e, low, high)
		}
	}
}

// unit checks which code a unit is about, and returns its range, or that of .text.
func (o *Object) unit(data *dwarfdata.Data, e *dwarf.Entry) (low, high uint64) {
	at := offset(o.ELF.Section(".debug_info")) + int64(e.Offset)
	ranges, err := data.RangesOf(e)
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

// lineTable checks the rows of a unit.
func (o *Object) lineTable(data *dwarfdata.Data, e *dwarf.Entry, low, high uint64) {
	section := o.ELF.Section(".debug_line")
	at, ok := e.Val(dwarf.AttrStmtList).(int64)
	if !ok || section == nil {
		return
	}
	lr, err := data.LineReader(e)
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
