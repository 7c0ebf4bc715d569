package showelf

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jitinject/jitinject/internal/dwarfline"
	"github.com/jitinject/jitinject/internal/show/listing"
)

// An objectDebug is what the DWARF of an object says of its code.
type objectDebug struct {
	lines []objectLine   // by address
	calls []listing.Call // with addresses instead of offsets, by the first
}

// An objectLine is a row of a line table; end marks where a run of rows ends.
type objectLine struct {
	addr         uint64
	file         string
	line, column uint64
	end          bool
}

// maxInlined bounds how many runs of inlined calls of an object are believed in.
const maxInlined = 4 << 20

// readDebug reads the DWARF of a file, as far as lines and inlined calls go. Without any
// it returns nil.
func readDebug(f *elf.File) (*objectDebug, error) {
	if f.Section(".debug_info") == nil {
		return nil, nil
	}
	var lineSection []byte
	if s := f.Section(".debug_line"); s != nil {
		var err error
		if lineSection, err = s.Data(); err != nil {
			return nil, fmt.Errorf("DWARF: the line tables cannot be read: %w", err)
		}
	}
	data, err := f.DWARF()
	if err != nil {
		return nil, fmt.Errorf("DWARF: %w", err)
	}
	d := &objectDebug{}
	defer d.sort()
	r := data.Reader()
	size := f.Section(".debug_info").Size
	for n := uint64(0); ; n++ {
		e, err := r.Next()
		if err != nil {
			return d, fmt.Errorf("DWARF: %w", err)
		}
		if e == nil {
			break
		}
		// An entry has a byte at least. debug/dwarf stays where it is for ever at a
		// LEB128 that the end of the section cuts.
		if n > size {
			return d, errors.New("DWARF: the last entry of .debug_info ends inside a number")
		}
		if e.Tag == dwarf.TagCompileUnit {
			if err := d.unit(data, r, e, lineSection, f); err != nil {
				return d, err
			}
		}
		r.SkipChildren()
	}
	return d, nil
}

// sort puts lines and calls into the order of addresses.
func (d *objectDebug) sort() {
	slices.SortStableFunc(d.calls, func(a, b listing.Call) int { return cmp.Compare(a.First, b.First) })
	slices.SortStableFunc(d.lines, func(a, b objectLine) int {
		if c := cmp.Compare(a.addr, b.addr); c != 0 {
			return c
		}
		if a.end != b.end { // a run that ends here stands before one that begins
			if a.end {
				return -1
			}
			return 1
		}
		return 0
	})
}

// unit reads one unit.
func (d *objectDebug) unit(data *dwarf.Data, r *dwarf.Reader, e *dwarf.Entry, lines []byte, f *elf.File) error {
	var files []*dwarf.LineFile
	if off, ok := e.Val(dwarf.AttrStmtList).(int64); ok {
		if err := dwarfline.CheckHeader(f.ByteOrder, lines, off); err != nil {
			return err
		}
		lr, err := data.LineReader(e)
		if err != nil {
			return fmt.Errorf("DWARF: %w", err)
		}
		if lr != nil {
			var le dwarf.LineEntry
			for {
				err := lr.Next(&le)
				if err == io.EOF {
					break
				} else if err != nil {
					return fmt.Errorf("DWARF: %w", err)
				}
				l := objectLine{addr: le.Address, line: uint64(max(le.Line, 0)), column: uint64(max(le.Column, 0)), end: le.EndSequence}
				if le.File != nil {
					l.file = le.File.Name
				}
				d.lines = append(d.lines, l)
			}
			files = lr.Files()
		}
	}
	if e.Children {
		sub := data.Reader()
		sub.Seek(e.Offset)
		if _, err := sub.Next(); err != nil {
			return fmt.Errorf("DWARF: %w", err)
		}
		return d.tree(data, sub, files)
	}
	return nil
}

// tree collects the inlined calls below an entry. depth counts those around an entry.
func (d *objectDebug) tree(data *dwarf.Data, r *dwarf.Reader, files []*dwarf.LineFile) error {
	inlined := []bool{false} // of the entries around
	depth, id := 0, len(d.calls)
	for len(inlined) > 0 {
		e, err := r.Next()
		if err != nil {
			return fmt.Errorf("DWARF: %w", err)
		}
		if e == nil {
			return nil
		}
		if e.Tag == 0 {
			if inlined[len(inlined)-1] {
				depth--
			}
			inlined = inlined[:len(inlined)-1]
			continue
		}
		is := e.Tag == dwarf.TagInlinedSubroutine
		if is {
			id++
			if err := d.call(data, e, files, depth, id); err != nil {
				return err
			}
		}
		if e.Children {
			if len(inlined) >= listing.MaxDepth {
				return fmt.Errorf("DWARF: entries at offset %#x of .debug_info are nested more than %d deep", e.Offset, listing.MaxDepth)
			}
			inlined = append(inlined, is)
			if is {
				depth++
			}
		}
	}
	return nil
}

// call adds an inlined call.
func (d *objectDebug) call(data *dwarf.Data, e *dwarf.Entry, files []*dwarf.LineFile, depth, id int) error {
	ranges, err := data.Ranges(e)
	if err != nil {
		return fmt.Errorf("DWARF: %w", err)
	}
	c := listing.Call{ID: id, Depth: depth}
	if line, ok := e.Val(dwarf.AttrCallLine).(int64); ok && line > 0 {
		c.Line = uint64(line)
	}
	if column, ok := e.Val(dwarf.AttrCallColumn).(int64); ok && column > 0 {
		c.Column = uint64(column)
	}
	if file, ok := e.Val(dwarf.AttrCallFile).(int64); ok && file >= 0 && file < int64(len(files)) && files[file] != nil {
		c.File = files[file].Name
	}
	if off, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
		origin := data.Reader()
		origin.Seek(off)
		if o, err := origin.Next(); err == nil && o != nil {
			c.Function, _ = o.Val(dwarf.AttrName).(string)
		}
	}
	for _, r := range ranges {
		if r[1] <= r[0] {
			continue
		}
		if len(d.calls) >= maxInlined {
			return errors.New("DWARF: implausible number of inlined calls")
		}
		c.First, c.End = r[0], r[1]
		d.calls = append(d.calls, c)
	}
	return nil
}

// linesOf returns the lines of a function, with offsets from its start.
func (d *objectDebug) linesOf(start, size uint64) (lines []listing.Line) {
	i, _ := slices.BinarySearchFunc(d.lines, start, func(l objectLine, addr uint64) int { return cmp.Compare(l.addr, addr) })
	for ; i < len(d.lines) && d.lines[i].addr-start < size; i++ {
		if l := &d.lines[i]; !l.end {
			lines = append(lines, listing.Line{Offset: l.addr - start, File: l.file, Line: l.line, Column: l.column})
		}
	}
	return lines
}

// callsOf returns the inlined calls of a function, with offsets from its start, in the
// order of the tree; the runs of one call follow each other.
func (d *objectDebug) callsOf(start, size uint64) (calls []listing.Call) {
	i, _ := slices.BinarySearchFunc(d.calls, start, func(c listing.Call, addr uint64) int { return cmp.Compare(c.First, addr) })
	for ; i < len(d.calls) && d.calls[i].First-start < size; i++ {
		c := d.calls[i]
		c.First, c.End = c.First-start, c.End-start
		calls = append(calls, c)
	}
	slices.SortStableFunc(calls, func(a, b listing.Call) int { return cmp.Compare(a.ID, b.ID) })
	return calls
}
