package jitdump_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
	"github.com/jitinject/jitinject/internal/jitcode"
	jitdumps "github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// Whatever a dump holds, what comes out keeps the promises of package jitcode.
func FuzzScan(f *testing.F) {
	for _, name := range []string{"php", "lli-hot"} {
		dump, err := os.ReadFile(testrec.Dumps(f, testrec.Unpack(f, name))[0])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(dump[:min(len(dump), 4096)])
	}
	// The last functions of a V8 dump, with their freed names, and some of BeamAsm.
	for name, from := range map[string]int{"node-hot": 2200, "erlang": 15800} {
		dump, err := os.ReadFile(testrec.Dumps(f, testrec.Unpack(f, name))[0])
		if err != nil {
			f.Fatal(err)
		}
		r, err := jitdump.NewReader(bytes.NewReader(dump))
		if err != nil {
			f.Fatal(err)
		}
		for n := 0; n < from; {
			raw, err := r.Next()
			if err != nil {
				f.Fatal(err)
			}
			if raw.ID == jitdump.IDLoad {
				n++
			}
		}
		f.Add(append(bytes.Clone(dump[:40]), dump[r.Offset():min(int64(len(dump)), r.Offset()+8000)]...))
	}
	b := newDump(f, x86)
	b.add(freed(0x1000, "/home/me/src/program.js", "\x38\xc6\x02\x00\x00\x00\x00\x00", 3, 4, 5))
	b.add(&jitdump.Unwinding{HeaderSize: 4, Data: make([]byte, 20)})
	b.load("JS:*f /home/me/src/program.js:1:1", 0x1000, 64)
	b.add(&jitdump.Move{PID: 100, OldCodeAddr: 0x1000, NewCodeAddr: 0x2000, CodeSize: 64, CodeIndex: 3})
	f.Add(b.out.Bytes())
	b = newDump(f, x86)
	b.add(jitdump.NewEmbeddedSource("a.toy", []byte("fn outer() {}")))
	b.add(inlined(f))
	b.load("outer", 0x1000, 0x30)
	b.load("f", 0x2000, 0x20)
	f.Add(b.out.Bytes())
	b = newDump(f, x86)
	b.add(j9Record(f, j9Body(f), j9Methods(), 0x1000))
	b.load("p.A.outer()V", 0x1000, 0x48)
	f.Add(b.out.Bytes())
	rng := rand.New(rand.NewPCG(1, 2))
	for _, l := range []j9meta.Layout{
		{Machine: elf.EM_X86_64, HeaderSize: 216}, {Machine: elf.EM_ARM}, {Machine: elf.EM_PPC64, Order: binary.BigEndian},
	} {
		body := j9gen.Random(rng, j9gen.Options{Layout: l, CodeSize: 200, Cold: j9gen.Always, ColdSize: 48, Sites: 5, Maps: 12})
		b = newDump(f, j9Dump(body.Layout))
		methods := javaMethods(j9gen.Methods(rng, body))
		for _, get := range []func() (uint64, uint64){body.Header.Warm, body.Header.Cold} {
			start, end := get()
			b.add(j9Record(f, body, methods, start))
			b.load("method", start, int(end-start))
		}
		f.Add(b.out.Bytes())
	}
	f.Fuzz(func(t *testing.T, dump []byte) {
		d, err := jitdumps.OpenFile(bytes.NewReader(dump))
		if err != nil {
			return
		}
		if err := d.Scan(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, e := range d.Events {
			if int(e.Function) >= d.NumFunctions() || e.Addr+e.Size < e.Addr {
				t.Fatalf("event %+v", e)
			}
		}
		r := d.Reader()
		for i := range d.NumFunctions() {
			fn, err := r.Function(i)
			if err != nil {
				t.Fatalf("function %d: %v", i, err)
			}
			for j, l := range fn.Lines {
				if l.Offset >= fn.Size || j > 0 && l.Offset <= fn.Lines[j-1].Offset || l.Line != 0 && l.File >= len(fn.Files) {
					t.Fatalf("function %d: lines %+v of %d files for %d bytes", i, fn.Lines, len(fn.Files), len(fn.Code))
				}
			}
			checkTree(t, fn)
			for _, text := range fn.Sources {
				if len(text) > jitcode.MaxText {
					t.Fatalf("function %d has a text of %d bytes", i, len(text))
				}
			}
			if len(fn.Lines) > 0 && fn.Lines[0].Line == 0 {
				t.Fatalf("function %d begins with no line: %+v", i, fn.Lines)
			}
		}
		for i, s := range d.Sources() {
			if text, err := d.SourceText(i); err != nil || len(text) != s.Size {
				t.Fatalf("source %+v: %d bytes, %v", s, len(text), err)
			}
		}
		d.Fixes()
	})
}

// checkTree holds a function against what package jitcode promises of inlined calls.
func checkTree(t *testing.T, fn *jitcode.Function) {
	for _, o := range fn.Origins {
		if o.File >= len(fn.Files) || bytes.IndexByte(o.Name, 0) >= 0 {
			t.Fatalf("origin %+v of %d files", o, len(fn.Files))
		}
	}
	if len(fn.Sources) > len(fn.Files) || len(fn.Inlines) > 0 && len(fn.Origins) == 0 {
		t.Fatalf("%d texts, %d files, %d origins", len(fn.Sources), len(fn.Files), len(fn.Origins))
	}
	for i, c := range fn.Inlines {
		if c.Parent >= i || c.Origin >= len(fn.Origins) || c.First >= c.Last || c.Last > len(fn.Ranges) {
			t.Fatalf("call %d is %+v", i, c)
		}
		around := []jitcode.Range{{Size: fn.Size}}
		if c.Parent >= 0 {
			around = fn.Ranges[fn.Inlines[c.Parent].First:fn.Inlines[c.Parent].Last]
		}
		end := uint64(0)
		for _, r := range fn.Ranges[c.First:c.Last] {
			if r.Size == 0 || r.Offset < end {
				t.Fatalf("call %d has ranges %+v", i, fn.Ranges[c.First:c.Last])
			}
			end = r.Offset + r.Size
			if !slices.ContainsFunc(around, func(p jitcode.Range) bool { return p.Offset <= r.Offset && end <= p.Offset+p.Size }) {
				t.Fatalf("call %d has %+v, which is not inside %+v", i, r, around)
			}
		}
	}
}
