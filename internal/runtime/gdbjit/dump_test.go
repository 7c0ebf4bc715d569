package gdbjit

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/runtime/gdbjit/registered"
	"github.com/jitinject/jitinject/internal/source"
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

// The second of two cores of a process adds functions. Functions that contradict each other are dropped
// from both.
func TestAttach_TwoCores(t *testing.T) {
	p, r := realObjects(t)
	o := r.Objects[0]
	dump := func(objects ...registered.Object) *model.Dump {
		return &model.Dump{Path: "core", Source: newObjects(p, &registered.Registered{Objects: objects}, "core", 0o600), Markers: []recording.Marker{{PID: 7}}}
	}
	for _, c := range []struct {
		name  string
		dumps []*model.Dump
		want  [][]string
	}{
		{"the same", []*model.Dump{dump(o), dump(o)}, [][]string{{"first", "second", "main"}}},
		{"contradicting", []*model.Dump{dump(o), dump(resized(t, &o, "second", 40))}, [][]string{{"first", "main"}}},
	} {
		attached, err := Attach(context.Background(), nil, c.dumps, nil)
		if err != nil || len(attached.Dumps) != len(c.want) {
			t.Fatalf("%s: got %+v, %v; want %d dumps", c.name, attached, err, len(c.want))
		}
		for i, d := range attached.Dumps {
			if got := names(t, d.Source.(*Objects)); !slices.Equal(got, c.want[i]) {
				t.Errorf("%s: got %q of dump %d; want %q", c.name, got, i, c.want[i])
			}
		}
	}
}

// Another dump of the process takes precedence where it has functions.
func TestAttach_OtherDump(t *testing.T) {
	p, r := realObjects(t)
	d := &model.Dump{Path: "core", Source: newObjects(p, r, "core", 0o600), Markers: []recording.Marker{{PID: 7}}}
	first := d.Source.Scanned().Events[0]
	other := &otherDump{Listing: source.Listing{Events: []jitcode.Event{{Addr: first.Addr + 8, Size: 8}}}}
	attached, err := Attach(context.Background(), nil, []*model.Dump{d, {Source: other, Markers: d.Markers}, {Source: other, Markers: []recording.Marker{{PID: 8}}}}, nil)
	if err != nil || len(attached.Dumps) != 3 || len(attached.Found.Notes) != 1 {
		t.Fatalf("got %+v, %v; want all dumps and a note", attached, err)
	}
	if got := names(t, d.Source.(*Objects)); !slices.Equal(got, []string{"second", "main"}) {
		t.Errorf("got %q; want second and main", got)
	}
}

// An otherDump is a dump of another format, as far as Attach uses it.
type otherDump struct {
	source.Dump
	source.Listing
}

func (d *otherDump) Scanned() *source.Listing { return &d.Listing }

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
