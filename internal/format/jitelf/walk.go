package jitelf

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"slices"
)

// readTree reads the entries of all units, and the line tables that they name.
func (o *Object) readTree(c *contents) {
	d, units, err := newDWARF(o.order, c)
	if err != nil {
		o.problem(fmt.Errorf("%w; lines and inlined calls are left out", err))
	}
	if d == nil {
		return
	}
	t := &o.index.tree
	size := 0
	for _, b := range c.data {
		size += len(b)
	}
	t.work, t.kept = workPerByte*size+minWork, keptPerByte*size+minWork
	r := d.Reader()
	for _, u := range units {
		if u.entry == u.end {
			continue
		}
		if err := o.readUnit(c, r, &u); err != nil {
			o.problem(fmt.Errorf("DWARF: unit at offset %#x of %s: %w", u.at, debugInfo, err))
		}
		if t.work < 0 || t.kept < 0 {
			o.problem(errTooMuch)
			break
		}
	}
	t.stack = nil
	t.cover()
	slices.SortStableFunc(t.extents, func(a, b extent) int { return cmp.Compare(a.low, b.low) })
	if t.deep > 0 {
		o.problem(fmt.Errorf("DWARF: %d inlined calls are deeper than %d; they are left out", t.deep, maxDepth))
	}
}

// readUnit reads the entries of a unit.
func (o *Object) readUnit(c *contents, r *dwarf.Reader, u *unitHeader) error {
	t := &o.index.tree
	t.stack = append(t.stack[:0], place{-1, -1})
	number := int32(len(t.units))
	var extents rangeReader
	t.units = append(t.units, unit{table: -1})
	r.Seek(dwarf.Offset(u.entry))
	for t.work >= 0 && t.kept >= 0 {
		e, err := r.Next()
		if err != nil {
			return err
		}
		if e == nil || e.Tag != 0 && uint64(e.Offset) >= u.end {
			return nil
		}
		t.work -= entryWork(e)
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
			t.work -= size
			t.kept -= 16 * len(ranges)
			if err != nil {
				o.problem(err)
			}
			if e.Tag == dwarf.TagSubprogram {
				at = t.addSubprogram(e, number, ranges)
			} else {
				at = t.addCall(e, at, ranges)
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

// entryWork returns the bytes that debug/dwarf allocated for an entry, roughly.
func entryWork(e *dwarf.Entry) int {
	n := 64 + 48*len(e.Field)
	for i := range e.Field {
		if s, ok := e.Field[i].Val.(string); ok {
			n += len(s)
		}
	}
	return n
}

// rootEntry reads the first entry of a unit, and its line table.
func (o *Object) rootEntry(c *contents, e *dwarf.Entry, number int32) error {
	for _, attr := range []dwarf.Attr{attrDwoName, attrGNUDwoName} {
		if name, ok := e.Val(attr).(string); ok {
			o.problem(fmt.Errorf("DWARF: functions are described in %s, which is not read: their inlined calls may be missing", printable([]byte(name))))
		}
	}
	at, ok := e.Val(dwarf.AttrStmtList).(int64)
	if !ok || e.Tag != dwarf.TagCompileUnit && e.Tag != dwarf.TagPartialUnit && e.Tag != tagSkeleton {
		return nil
	}
	dir, _ := e.Val(dwarf.AttrCompDir).(string)
	table, err := o.index.lines.add(o, c, at, dir)
	o.index.tree.units[number].table = table
	return err
}
