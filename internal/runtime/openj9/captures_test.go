package openj9_test

import (
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/runtime/openj9"
	"github.com/jitinject/jitinject/internal/source"
)

// writeCapture writes a capture of a body, and returns the path of its metadata.
func writeCapture(t *testing.T, dir, name string, b *j9meta.Body, methods []j9meta.CaptureMethod, change func(*j9meta.Description)) string {
	t.Helper()
	blob, err := j9gen.Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	c := &j9meta.Description{Base: j9meta.Address(b.Base), StartPC: j9meta.Address(b.Header.StartPC), Methods: slices.Clone(methods)}
	if change != nil {
		change(c)
	}
	text := j9gen.Description(c)
	path := filepath.Join(dir, name+".bin")
	if err := os.WriteFile(path, blob, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Captures of all machines: pointer size and byte order are found out, and what is said of the
// code is what J9Code says, part by part.
func TestJ9Captures_EveryMachine(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for uname, l := range map[string]j9meta.Layout{
		"x86_64":  {Machine: elf.EM_X86_64, PointerSize: 8, Order: binary.LittleEndian},
		"i686":    {Machine: elf.EM_386, PointerSize: 4, Order: binary.LittleEndian},
		"aarch64": {Machine: elf.EM_AARCH64, PointerSize: 8, Order: binary.LittleEndian},
		"armv7l":  {Machine: elf.EM_ARM, PointerSize: 4, Order: binary.LittleEndian},
		"ppc64le": {Machine: elf.EM_PPC64, PointerSize: 8, Order: binary.LittleEndian},
		"ppc64":   {Machine: elf.EM_PPC64, PointerSize: 8, Order: binary.BigEndian},
		"s390x":   {Machine: elf.EM_S390, PointerSize: 8, Order: binary.BigEndian},
		"riscv64": {Machine: elf.EM_RISCV, PointerSize: 8, Order: binary.LittleEndian},
	} {
		for _, cold := range []j9gen.Choice{j9gen.Never, j9gen.Always} {
			b := j9gen.Random(rng, j9gen.Options{Layout: l, Cold: cold, Sites: 5, Maps: 20})
			methods := j9gen.Methods(rng, b)
			c, err := openj9.OpenCapture(writeCapture(t, t.TempDir(), "X", b, methods, nil), uname, l.Order)
			if err != nil {
				t.Fatalf("for %v: unexpected error: %v", uname, err)
			}
			d := openj9.NewCaptures([]*openj9.Capture{c}, uname)
			parts := 1
			if cold == j9gen.Always {
				parts = 2
			}
			if d.NumFunctions() != parts || len(d.Events) != parts || d.Target().Machine != uint32(l.Machine) || d.Target().Order != l.Order || len(c.Problems) > 0 {
				t.Fatalf("%s: got %+v, %+v; want NumFunctions() = %v, %d events, Target().Machine = %v, Target().Order = %v, no problems", uname, d, c.Problems, parts, parts, uint32(l.Machine), l.Order)
			}
			r := d.Functions()
			for i := range parts {
				fn, err := r.Function(i)
				if err != nil {
					t.Fatalf("for %v: unexpected error: %v", uname, err)
				}
				lo, hi := b.Header.Warm()
				if i == 1 {
					lo, hi = b.Header.Cold()
				}
				m := methods[0]
				if want := strings.ReplaceAll(m.Class, "/", ".") + "." + m.Name + m.Signature; string(fn.Name) != want || fn.Addr != lo || fn.Size != hi-lo || fn.Code != nil {
					t.Errorf("%s, part %d: %s at %#x, %d bytes", uname, i, fn.Name, fn.Addr, fn.Size)
				}
				checkJ9Stacks(t, uname, fn, b, methods, uint32(lo-b.Header.StartPC))
			}
		}
	}
}

// checkJ9Stacks compares a function's inlined calls with the stacks that the metadata has.
func checkJ9Stacks(t *testing.T, what string, fn *jitcode.Function, b *j9meta.Body, methods []j9meta.CaptureMethod, first uint32) {
	t.Helper()
	names := make(map[uint64]string)
	for _, m := range methods {
		names[uint64(m.Method)] = strings.ReplaceAll(m.Class, "/", ".") + "." + m.Name + m.Signature
	}
	for _, r := range b.Ranges() {
		for _, at := range []uint32{r.Start, r.End - 1} {
			if at < first || uint64(at-first) >= fn.Size {
				continue
			}
			var want []string
			for _, f := range b.Stack(nil, r.Info) {
				if f.Unloaded {
					want = append(want, "[unloaded]")
				} else {
					want = append(want, names[f.Method])
				}
			}
			slices.Reverse(want)
			got := []string{string(fn.Name)}
			for parent := -1; ; {
				i := slices.IndexFunc(fn.Inlines, func(c jitcode.Inline) bool {
					return c.Parent == parent && slices.ContainsFunc(fn.Ranges[c.First:c.Last], func(r jitcode.Range) bool { return uint64(at-first)-r.Offset < r.Size })
				})
				if i < 0 {
					break
				}
				got = append(got, string(fn.Origins[fn.Inlines[i].Origin].Name))
				parent = i
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s: at +%#x\n got %q\nwant %q", what, at, got, want)
			}
		}
	}
}

// What is of another machine than the recording is refused; where the recording does not say, what is
// said of it counts.
func TestJ9Captures_OtherMachineThanRecording(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	l := j9meta.Layout{Machine: elf.EM_X86_64, PointerSize: 8, Order: binary.LittleEndian}
	b := j9gen.Random(rng, j9gen.Options{Layout: l})
	for _, c := range []struct {
		says  string
		uname string
		order binary.ByteOrder
		want  string // "" for none
		got   elf.Machine
	}{
		{"", "x86_64", binary.LittleEndian, "", elf.EM_X86_64},
		{"x86_64", "x86_64", binary.LittleEndian, "", elf.EM_X86_64},
		{"x86_64", "", binary.LittleEndian, "", elf.EM_X86_64},
		{"", "", binary.LittleEndian, "", elf.EM_NONE},
		{"aarch64", "x86_64", binary.LittleEndian, "it is of another machine than the recording: EM_AARCH64, with pointers of 8 bytes, LittleEndian", 0},
		{"", "s390x", binary.BigEndian, "it is of another machine than the recording: ", 0},
	} {
		path := writeCapture(t, t.TempDir(), "X", b, nil, func(d *j9meta.Description) { d.Machine = c.says })
		got, err := openj9.OpenCapture(path, c.uname, c.order)
		switch {
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path)):
			t.Errorf("for %+v: got %v; want an error with %q that begins with %q", c, err, c.want, path)
		case c.want == "" && err != nil:
			t.Errorf("for %+v: got %v; want no error", c, err)
		case c.want == "":
			if d := openj9.NewCaptures([]*openj9.Capture{got}, c.uname); d.Target().Machine != uint32(c.got) {
				t.Errorf("for %+v: got machine %d, want %d", c, d.Target().Machine, c.got)
			}
		}
	}
}

// A capture that has changed since it was opened is no function any more.
func TestJ9Captures_ChangedSinceOpened(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	l := j9meta.Layout{Machine: elf.EM_X86_64, PointerSize: 8, Order: binary.LittleEndian}
	dir := t.TempDir()
	open := func() *openj9.Captures {
		path := writeCapture(t, dir, "X", j9gen.Random(rng, j9gen.Options{Layout: l, StartPC: 0x10000000, Cold: j9gen.Never}), nil, nil)
		c, err := openj9.OpenCapture(path, "x86_64", l.Order)
		if err != nil {
			t.Fatal(err)
		}
		return openj9.NewCaptures([]*openj9.Capture{c}, "x86_64")
	}
	d := open()
	writeCapture(t, dir, "X", j9gen.Random(rng, j9gen.Options{Layout: l, StartPC: 0x20000000, Cold: j9gen.Never}), nil, nil)
	if _, err := d.Functions().Function(0); err == nil || !strings.Contains(err.Error(), "was another capture when it was read first") {
		t.Error(err)
	}
	d = open()
	if err := os.Remove(filepath.Join(dir, "X.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Functions().Function(0); err == nil || !strings.Contains(err.Error(), "there is no such file") {
		t.Error(err)
	}
	if err := d.Functions().Targets(0, func(int64) {}); err == nil {
		t.Error("there are targets of code that is not known")
	}
}

// Readers give the same, whoever they are; listings come again as they were counted.
func TestJ9Captures_ReadTwice(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	l := j9meta.Layout{Machine: elf.EM_X86_64, PointerSize: 8, Order: binary.LittleEndian}
	dir := t.TempDir()
	var captures []*openj9.Capture
	for i := range 5 {
		b := j9gen.Random(rng, j9gen.Options{Layout: l, StartPC: 0x10000000 + uint64(i)*0x1000000, CodeSize: 0x2000, Cold: j9gen.Never, Native: j9gen.Never})
		c, err := openj9.OpenCapture(writeCapture(t, dir, string(rune('a'+i)), b, nil, nil), "x86_64", l.Order)
		if err != nil {
			t.Fatal(err)
		}
		captures = append(captures, c)
	}
	d := openj9.NewCaptures(captures, "x86_64")
	one, other := d.Functions(), d.Functions()
	for _, i := range []int{0, 1, 2, 3, 4, 2, 0} {
		a, err := one.Function(i)
		if err != nil {
			t.Fatal(err)
		}
		b, err := other.Function(i)
		if err != nil || len(a.Lines) == 0 || !reflect.DeepEqual(a, b) {
			t.Errorf("function %d: %+v, %+v, %v", i, a, b, err)
		}
		for k, text := range a.Sources {
			n := slices.IndexFunc(d.Sources(), func(s source.Source) bool { return s.Function == i && s.Name == a.Files[k] })
			if n < 0 {
				t.Fatalf("function %d: no source %s", i, a.Files[k])
			}
			again, err := d.SourceText(n)
			if err != nil || string(again) != text || d.Sources()[n].Size != len(text) {
				t.Errorf("function %d, %s: %v", i, a.Files[k], err)
			}
		}
	}
	if len(d.Sources()) < 5 {
		t.Errorf("%d listings", len(d.Sources()))
	}
	d.PlaceSource(0, "elsewhere")
	if fn, err := d.Functions().Function(d.Sources()[0].Function); err != nil || !slices.Contains(fn.Files, "elsewhere") {
		t.Errorf(`got %q, %v; want no error, fn.Files with "elsewhere"`, fn.Files, err)
	}
}

// The listings of a capture are made together: it is not read again for each.
func TestJ9Captures_ListingsMadeTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	l := j9meta.Layout{Machine: elf.EM_X86_64, PointerSize: 8, Order: binary.LittleEndian}
	b := j9gen.Random(rng, j9gen.Options{Layout: l, CodeSize: 0x8000, Cold: j9gen.Never, Native: j9gen.Never, Sites: 100, Maps: 400})
	path := writeCapture(t, t.TempDir(), "X", b, nil, nil)
	c, err := openj9.OpenCapture(path, "x86_64", l.Order)
	if err != nil {
		t.Fatal(err)
	}
	d := openj9.NewCaptures([]*openj9.Capture{c}, "x86_64")
	for i := range d.Sources() {
		if text, err := d.SourceText(i); err != nil || len(text) != d.Sources()[i].Size {
			t.Fatalf("listing %d: got %d bytes, %v; want %d bytes", i, len(text), err, d.Sources()[i].Size)
		}
		if i == 0 {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := len(d.Sources()); got < 3 {
		t.Errorf("got %d sources, want 3 at least", got)
	}
}
