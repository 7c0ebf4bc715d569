package jitelf

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"fmt"

	"github.com/jitinject/jitinject/internal/format/dwarfdata"
	"github.com/jitinject/jitinject/internal/sorting"
)

// readTree reads the entries of all units, and the line tables that they name.
func (o *Object) readTree(c *contents) {
	err := c.need(dwarfdata.EntryNames...)
	var d *dwarfdata.Data
	if err == nil {
		d, err = dwarfdata.New(o.order, c.data)
	}
	if err != nil {
		o.problem(fmt.Errorf("%w; lines and inlined calls are left out", err))
	}
	if d == nil {
		return
	}
	t := &o.index.tree
	r := d.Reader()
	for _, u := range d.Units {
		if u.Entry == u.End {
			continue
		}
		err := o.readUnit(c, d, r, &u)
		if c.kept < 0 {
			err = dwarfdata.ErrTooMuch
		}
		if errors.Is(err, dwarfdata.ErrTooMuch) {
			o.problem(err)
			break
		}
		if err != nil {
			o.problem(fmt.Errorf("DWARF: unit at offset %#x of %s: %w", u.At, dwarfdata.Info, err))
		}
	}
	t.stack = nil
	t.cover(c)
	sorting.Stable(t.extents, func(a, b extent) int { return cmp.Compare(a.low, b.low) })
	if t.deep > 0 {
		o.problem(fmt.Errorf("DWARF: %d inlined calls are deeper than %d; they are left out", t.deep, maxDepth))
	}
}

// readUnit reads the entries of a unit.
func (o *Object) readUnit(c *contents, d *dwarfdata.Data, r *dwarfdata.Reader, u *dwarfdata.Unit) error {
	t := &o.index.tree
	t.stack = append(t.stack[:0], place{-1, -1})
	number := int32(len(t.units))
	var extents rangeReader
	t.units = append(t.units, unit{table: -1})
	r.Seek(dwarf.Offset(u.Entry))
	for c.kept >= 0 {
		e, err := r.Next()
		if err != nil {
			return err
		}
		if e == nil || e.Tag != 0 && uint64(e.Offset) >= u.End {
			return nil
		}
		if e.Tag == 0 {
			if len(t.stack) <= 2 {
				return nil // the children of the unit's entry end
			}
			t.stack = t.stack[:len(t.stack)-1]
			continue
		}
		at := t.stack[len(t.stack)-1]
		if len(t.stack) == 1 {
			extents = newRangeReader(o, c, u, e)
			if err := o.rootEntry(c, e, number); err != nil {
				o.problem(err)
			}
		} else if e.Tag == dwarf.TagSubprogram || e.Tag == dwarf.TagInlinedSubroutine {
			ranges, size, err := extents.read(e)
			if err := d.Charge(size); err != nil {
				return err
			}
			c.kept -= 40*len(ranges) + 100 // and the entry
			if err != nil {
				o.problem(err)
			}
			if e.Tag == dwarf.TagSubprogram {
				at = t.addSubprogram(e, number, ranges)
				c.kept -= len(t.subprograms[at.subprogram].name) + len(t.subprograms[at.subprogram].linkage)
			} else {
				at = t.addCall(e, at, ranges)
				c.kept -= 100 // of its description
			}
		}
		if e.Children {
			t.stack = append(t.stack, at)
		} else if len(t.stack) == 1 {
			return nil
		}
	}
	return nil
}

// rootEntry reads the first entry of a unit, and its line table.
func (o *Object) rootEntry(c *contents, e *dwarf.Entry, number int32) error {
	for _, attr := range []dwarf.Attr{attrDwoName, attrGNUDwoName} {
		if name, ok := e.Val(attr).(string); ok {
			o.problem(fmt.Errorf("DWARF: functions are described in %s, which is not read: their inlined calls may be missing", printable(name)))
		}
	}
	at, ok := e.Val(dwarf.AttrStmtList).(int64)
	if !ok || e.Tag != dwarf.TagCompileUnit && e.Tag != dwarf.TagPartialUnit && e.Tag != tagSkeleton {
		return nil
	}
	dir, _ := e.Val(dwarf.AttrCompDir).(string)
	table, err := o.index.lines.read(o, c, at, dir)
	o.index.tree.units[number].table = table
	return err
}
