package gdbjit

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/runtime/gdbjit/registered"
	"github.com/jitinject/jitinject/internal/testrec"
)

// realObjects returns the process of the real core, and the objects that it registered.
func realObjects(t testing.TB) (*registered.Process, *registered.Registered) {
	t.Helper()
	core, err := elfcore.Open(bytes.NewReader(testrec.Gunzip(t, "testdata/lli.core.gz")))
	if err != nil {
		t.Fatal(err)
	}
	p := &registered.Process{Memory: core, Class: core.Class, Order: core.Order, Machine: core.Machine}
	r, err := registered.Read(p, registered.Find(p))
	if err != nil || len(r.Objects) != 1 {
		t.Fatalf("got %+v, %v; want one object", r, err)
	}
	return p, r
}

// resized returns an object in which the symbol of a function has another size.
func resized(t *testing.T, o *registered.Object, name string, size uint64) registered.Object {
	t.Helper()
	image := bytes.Clone(o.Image)
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == name })
	binary.LittleEndian.PutUint64(image[f.SectionByType(elf.SHT_SYMTAB).Offset+uint64(i+1)*elf.Sym64Size+16:], size)
	changed := *o
	changed.Image = image
	opened, err := changed.Open()
	if err != nil {
		t.Fatal(err)
	}
	changed.Functions = opened.Functions()
	return changed
}

// names returns the names of a dump's functions.
func names(t *testing.T, d *Objects) (list []string) {
	t.Helper()
	r := d.Functions()
	for i := range d.NumFunctions() {
		fn, err := r.Function(i)
		if err != nil || !fn.HasCode() || len(fn.Lines) == 0 || len(fn.Unwind.Sent.FDEs) != 1 {
			t.Errorf("got %+v, %v; want a function with code, lines and a table", fn, err)
			continue
		}
		list = append(list, string(fn.Name))
	}
	return list
}

// A function is dropped if a file or another function is at its address.
func TestObjects_Contradictions(t *testing.T) {
	p, r := realObjects(t)
	o := r.Objects[0]
	for _, c := range []struct {
		name    string
		objects []registered.Object
		want    []string
		lost    Lost
	}{
		{"alone", []registered.Object{o}, []string{"first", "second", "main"}, Lost{}},
		{"registered twice", []registered.Object{o, o}, []string{"first", "second", "main"}, Lost{}},
		{"overlapping", []registered.Object{o, resized(t, &o, "second", 40)}, []string{"first", "main"}, Lost{Overlapping: 2}},
		{"beyond its section", []registered.Object{resized(t, &o, "main", 1<<20)}, []string{"first", "second"}, Lost{}},
	} {
		d := newObjects(p, &registered.Registered{Objects: c.objects}, "core", 0o600)
		if got := names(t, d); !slices.Equal(got, c.want) || d.Lost != c.lost {
			t.Errorf("%s: got %q, %+v; want %q, %+v", c.name, got, d.Lost, c.want, c.lost)
		}
		if len(d.Events) != d.NumFunctions() || d.HasTimes() {
			t.Errorf("%s: got events %+v; want one for each function, without times", c.name, d.Events)
		}
	}
}

// Functions that could not be executed are dropped.
func TestObjects_NotExecutable(t *testing.T) {
	p, r := realObjects(t)
	p.Memory = writable{p.Memory}
	if d := newObjects(p, r, "core", 0o600); d.NumFunctions() != 0 || d.Lost != (Lost{NotExecutable: 3}) {
		t.Errorf("got %d functions, %+v; want none", d.NumFunctions(), d.Lost)
	}
}

// writable is memory without the permission to execute.
type writable struct{ registered.Memory }

func (w writable) Segments() []elfcore.Segment {
	segments := slices.Clone(w.Memory.Segments())
	for i := range segments {
		segments[i].Flags &^= elf.PF_X
	}
	return segments
}

// Reading the registered objects of an arbitrary core ends without a panic.
func FuzzObjects(f *testing.F) {
	f.Add(testrec.Gunzip(f, "testdata/lli.core.gz"))
	f.Fuzz(func(t *testing.T, data []byte) {
		core, err := elfcore.Open(bytes.NewReader(data))
		if err != nil || len(data) > 1<<20 {
			return
		}
		p := &registered.Process{Memory: core, Class: core.Class, Order: core.Order, Machine: core.Machine}
		r, err := registered.Read(p, registered.Find(p))
		if err != nil {
			t.Fatalf("got error %v of a core; want problems only", err)
		}
		d := newObjects(p, r, "core", 0o600)
		reader := d.Functions()
		for i := range d.NumFunctions() {
			if fn, err := reader.Function(i); err == nil && len(fn.Code) > 0 && !fn.HasCode() {
				t.Errorf("got %d bytes of code of a function of %d; want all or none", len(fn.Code), fn.Size)
			}
		}
	})
}
