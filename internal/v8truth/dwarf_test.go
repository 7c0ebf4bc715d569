package v8truth_test

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"io"
	"path"
	"slices"
	"testing"
)

// A place is a function at a line, as the DWARF of an object has it.
type place struct {
	name         string
	file         string
	line, column int
}

// An object has the lines and inlined calls of addresses, from DWARF.
type object struct {
	rows      []dwarf.LineEntry
	functions []*function
}

// A function is a subprogram, or a call that was inlined.
type function struct {
	name   string
	ranges [][2]uint64
	call   place // of an inlined call: where it is called; without a name
	inside []*function
}

func (f *function) has(addr uint64) bool {
	return slices.ContainsFunc(f.ranges, func(r [2]uint64) bool { return r[0] <= addr && addr < r[1] })
}

// openObject reads the DWARF of an object with Go's own reader.
func openObject(t *testing.T, file string) *object {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := f.DWARF()
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	o := &object{}
	r := d.Reader()
	for {
		unit, err := r.Next()
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if unit == nil {
			break
		}
		if unit.Tag != dwarf.TagCompileUnit {
			t.Fatalf("%s: got %v at the top; want a unit", file, unit.Tag)
		}
		files := o.readLines(t, d, unit)
		if unit.Children {
			o.functions = append(o.functions, children(t, d, r, files)...)
		}
	}
	slices.SortStableFunc(o.rows, func(a, b dwarf.LineEntry) int { return cmp.Compare(a.Address, b.Address) })
	return o
}

// readLines reads the line table of a unit and returns its files.
func (o *object) readLines(t *testing.T, d *dwarf.Data, unit *dwarf.Entry) []*dwarf.LineFile {
	t.Helper()
	lr, err := d.LineReader(unit)
	if err != nil {
		t.Fatal(err)
	}
	if lr == nil {
		return nil
	}
	for {
		var e dwarf.LineEntry
		if err := lr.Next(&e); errors.Is(err, io.EOF) {
			return lr.Files()
		} else if err != nil {
			t.Fatal(err)
		}
		o.rows = append(o.rows, e)
	}
}

// children reads the subprograms and inlined calls below an entry.
func children(t *testing.T, d *dwarf.Data, r *dwarf.Reader, files []*dwarf.LineFile) (all []*function) {
	t.Helper()
	for {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil || e.Tag == 0 {
			return all
		}
		var inside []*function
		if e.Children {
			inside = children(t, d, r, files)
		}
		if e.Tag != dwarf.TagSubprogram && e.Tag != dwarf.TagInlinedSubroutine {
			all = append(all, inside...)
			continue
		}
		f := &function{name: name(t, d, e), inside: inside}
		if f.ranges, err = d.Ranges(e); err != nil {
			t.Fatal(err)
		}
		if e.Tag == dwarf.TagInlinedSubroutine {
			if n := number(e, dwarf.AttrCallFile); n > 0 || len(files) > 0 && files[0] != nil && e.AttrField(dwarf.AttrCallFile) != nil {
				f.call.file = files[n].Name
			}
			f.call.line, f.call.column = number(e, dwarf.AttrCallLine), number(e, dwarf.AttrCallColumn)
		}
		all = append(all, f)
	}
}

func number(e *dwarf.Entry, attr dwarf.Attr) int {
	n, _ := e.Val(attr).(int64)
	return int(n)
}

// name returns the name of a subprogram, or of the one that an entry refers to.
func name(t *testing.T, d *dwarf.Data, e *dwarf.Entry) string {
	t.Helper()
	for {
		if n, ok := e.Val(dwarf.AttrName).(string); ok {
			return n
		}
		at, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			return ""
		}
		r := d.Reader()
		r.Seek(at)
		var err error
		if e, err = r.Next(); err != nil {
			t.Fatal(err)
		}
	}
}

// chain returns the functions that an address is in, the innermost first.
func (o *object) chain(addr uint64) (list []place) {
	at := place{}
	// The last of several rows with one address counts.
	i, _ := slices.BinarySearchFunc(o.rows, addr+1, func(e dwarf.LineEntry, a uint64) int { return cmp.Compare(e.Address, a) })
	if i--; i >= 0 && !o.rows[i].EndSequence {
		e := o.rows[i]
		at.line, at.column = e.Line, e.Column
		if e.File != nil {
			at.file = e.File.Name
		}
	}
	var calls []*function
	for inside := o.functions; ; {
		k := slices.IndexFunc(inside, func(f *function) bool { return f.has(addr) })
		if k < 0 {
			break
		}
		calls = append(calls, inside[k])
		inside = inside[k].inside
	}
	for _, f := range slices.Backward(calls) {
		at.name = f.name
		at.file = path.Clean(at.file)
		list = append(list, at)
		at = f.call
	}
	return list
}
