package jvmti_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
)

// TestAgent_PlayedOpenJ9 has the agent in a program that plays OpenJ9, under the compiler's
// sanitizers: no OpenJ9 is at hand for tests.
func TestAgent_PlayedOpenJ9(t *testing.T) {
	for _, b := range j9builds {
		t.Run(b.name, func(t *testing.T) {
			b.compile(t)
			for _, test := range []struct {
				name string
				f    func(*testing.T, *j9build)
			}{
				{"Vectors", testVectors},
				{"Generated", testGenerated},
				{"NotBelieved", testNotBelieved},
				{"Unloaded", testUnloaded},
				{"Redefined", testRedefined},
				{"Overwritten", testOverwritten},
				{"Churn", testChurn},
				{"BeforeLive", testBeforeLive},
				{"OtherNames", testOtherNames},
			} {
				t.Run(test.name, func(t *testing.T) { test.f(t, b) })
			}
		})
	}
}

// methodsOf returns the J9Methods that a body mentions.
func methodsOf(b *j9meta.Body) []uint64 {
	list := []uint64{b.Header.RAMMethod}
	for _, s := range b.Sites {
		list = append(list, s.Method)
	}
	for _, raw := range wideExceptions(b) {
		list = append(list, pointer(b, raw[16:]))
	}
	return list
}

// pointer reads a pointer of a body.
func pointer(b *j9meta.Body, raw []byte) uint64 {
	if b.Layout.PointerSize == 4 {
		return uint64(b.Layout.Order.Uint32(raw))
	}
	return b.Layout.Order.Uint64(raw)
}

// wideExceptions returns the entries of a body's exception table, if they have a method: at offset 16.
func wideExceptions(b *j9meta.Body) (entries [][]byte) {
	for _, s := range b.Sections {
		if s.Kind == j9meta.ExceptionInfo && b.Header.NumExceptionRanges&0x8000 != 0 {
			n := int(b.Header.NumExceptionRanges & 0x3fff)
			entries = slices.Collect(slices.Chunk(s.Bytes, len(s.Bytes)/n))
		}
	}
	return entries
}

// known returns those of a body's methods that lie in classes of count methods each:
// class K has its J9Methods at classes[K].
func known(b *j9meta.Body, classes map[int]uint64, count int) map[uint64]javaMethod {
	found := make(map[uint64]javaMethod)
	for _, m := range methodsOf(b) {
		for k, first := range classes {
			if at := m - first; at%32 == 0 && at/32 < uint64(count) {
				found[m] = javaMethod{k, int(at / 32)}
			}
		}
	}
	return found
}

func encode(t *testing.T, b *j9meta.Body) []byte {
	t.Helper()
	blob, err := j9gen.Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	return blob
}

// vector returns a reference vector, moved to where it lies in our VM.
func vector(t *testing.T, path string, base, code uint64, l j9meta.Layout) *j9meta.Body {
	t.Helper()
	blob, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := j9meta.Decode(blob, 0x7e0000000000, l)
	if err != nil {
		t.Fatal(err)
	}
	h := &b.Header
	b.Base = base
	h.EndWarmPC += code - h.StartPC
	h.EndPC += code - h.StartPC
	h.StartPC = code
	j9gen.Lay(b)
	if moved := encode(t, b); len(moved) != len(blob) {
		t.Fatalf("%s: %d bytes, %d when moved", path, len(blob), len(moved))
	}
	return b
}

func testVectors(t *testing.T, build *j9build) {
	if build.layout.PointerSize != 8 {
		return // the vectors are of 64-bit machines
	}
	paths, err := filepath.Glob("../../../internal/format/j9meta/testdata/*.bin")
	if err != nil || len(paths) < 6 {
		t.Fatalf("got %v, %v; want no error, at least 6 paths", paths, err)
	}
	f := newFakeJ9(t, build)
	classes := map[int]uint64{5: 0x500000}
	f.do("class", 5, classes[5], 8)
	f.do("prepare", 5)
	f.do("live")
	var bodies []*j9meta.Body
	for _, path := range paths {
		base, start := f.place()
		b := vector(t, path, base, start, build.layout)
		bodies = append(bodies, b)
		f.put(base, encode(t, b))
		size := int(b.Header.EndWarmPC - start)
		f.put(start, code(size))
		f.do("load", 5, 0, start, size, base)
	}
	functions, _ := f.run()
	if len(functions) != len(bodies) {
		t.Fatalf("%d functions of %d", len(functions), len(bodies))
	}
	for i, b := range bodies {
		t.Run(strings.TrimSuffix(filepath.Base(paths[i]), ".bin"), func(t *testing.T) {
			wantBody(t, functions[i], b, b.Header.StartPC, known(b, classes, 8))
			if m := functions[i].meta; m != nil && !bytes.Equal(functions[i].Code, code(len(functions[i].Code))) {
				t.Error("other code")
			}
			if name := string(functions[i].Name); name != "p.K5.m0(I)V" {
				t.Errorf("name %s", name)
			}
		})
	}
}

// wantBody compares a record with the body that it must hold.
func wantBody(t *testing.T, got j9function, b *j9meta.Body, code uint64, methods map[uint64]javaMethod) {
	t.Helper()
	if got.meta == nil {
		t.Fatal("no metadata")
	}
	m := got.meta
	if m.CodeAddr != code || m.Base != b.Base || int(m.PointerSize) != b.Layout.PointerSize || int(m.HeaderSize) != b.Layout.HeaderSize || len(m.Extra) > 7 {
		t.Errorf("code %#x, base %#x, pointers of %d, header of %d, %d bytes behind; want %#x, %#x, %d, %d",
			m.CodeAddr, m.Base, m.PointerSize, m.HeaderSize, len(m.Extra), code, b.Base, b.Layout.PointerSize, b.Layout.HeaderSize)
	}
	if !bytes.Equal(m.Metadata, encode(t, b)) {
		t.Error("other metadata")
	}
	wantMethods(t, m, methods)
}

// testGenerated posts bodies of all shapes, with their cold parts.
func testGenerated(t *testing.T, build *j9build) {
	for _, way := range []string{"process_vm_readv", "pipe", "no first thread", "no first thread and pipe"} {
		t.Run(way, func(t *testing.T) {
			f := newFakeJ9(t, build)
			if strings.HasPrefix(way, "no first thread") {
				f.env = append(f.env, "FAKEJ9_THREAD=1")
			}
			if strings.HasSuffix(way, "pipe") {
				f.do("refuse")
			}
			classes := map[int]uint64{5: 0x500000, 6: 0x501000, 7: 0x502000}
			for k, first := range classes {
				f.do("class", k, first, 8)
			}
			f.do("prepare", 6) // the others are found when the first method comes
			f.do("live")
			f.do("prepare", 5)
			f.do("prepare", 7)
			type loaded struct {
				body *j9meta.Body
				code uint64
			}
			var loads []loaded
			rng := rand.New(rand.NewPCG(1, 2))
			for range 150 {
				base, start := f.place()
				o := j9gen.Options{Layout: build.layout, Base: base, StartPC: start, CodeSize: uint32(100 + rng.IntN(500)), Method: 0x500000 + 32*rng.Uint64N(8)}
				if rng.IntN(4) == 0 {
					o.CodeSize = uint32(65530 + rng.IntN(10))
				}
				for range 1 + rng.IntN(20) {
					o.Inlines = append(o.Inlines, 0x500000+rng.Uint64N(4)<<12+32*rng.Uint64N(9)) // some are of no class
				}
				b := j9gen.Random(rng, o)
				h := &b.Header
				if wide := wideExceptions(b); len(wide) > 0 {
					b.Layout.Order.PutUint32(wide[0][16:], uint32(0x502000+32*rng.Uint64N(8))) // of no site, perhaps
					clear(wide[0][20 : 16+b.Layout.PointerSize])
				}
				f.put(base, encode(t, b))
				f.put(start, code(int(h.EndWarmPC-start)))
				f.do("load", 5, int(h.RAMMethod-0x500000)/32, start, h.EndWarmPC-start, base)
				loads = append(loads, loaded{b, start})
				if cold, end := h.Cold(); cold != 0 && end-start < slot/2 {
					f.put(cold, code(int(end-cold)))
					f.do("load", 5, int(h.RAMMethod-0x500000)/32, cold, end-cold, base)
					loads = append(loads, loaded{b, cold})
				}
			}
			functions, _ := f.run()
			if len(functions) != len(loads) {
				t.Fatalf("%d functions of %d", len(functions), len(loads))
			}
			cold, named := 0, 0
			for i, l := range loads {
				if l.code != l.body.Header.StartPC {
					cold++
				}
				methods := known(l.body, classes, 8)
				named += len(methods) - 1
				wantBody(t, functions[i], l.body, l.code, methods)
				if t.Failed() {
					t.Fatalf("body %d: %+v", i, l.body.Header)
				}
			}
			if cold < 10 || named < 100 {
				t.Errorf("%d cold parts, %d inlined methods with a name: the test shows little", cold, named)
			}
		})
	}
}

// testNotBelieved has compile_info that is not the metadata of the code. The function
// is there, under its name, and nothing else.
func testNotBelieved(t *testing.T, build *j9build) {
	for _, way := range []string{"process_vm_readv", "pipe"} {
		t.Run(way, func(t *testing.T) {
			f := newFakeJ9(t, build)
			if way == "pipe" {
				f.do("refuse")
			}
			f.do("class", 5, 0x500000, 8)
			f.do("prepare", 5)
			f.do("live")
			var what []string
			load := func(text string, start uint64, size int, info uint64) {
				what = append(what, text)
				f.put(start, code(max(size, 1)))
				f.do("load", 5, 3, start, size, info)
			}
			// body makes one that is good but for what change does, and damage to its bytes.
			body := func(text string, change func(h *j9meta.Header), size int, damage ...func(blob []byte)) {
				base, start := f.place()
				o := j9gen.Options{Layout: build.layout, Base: base, StartPC: start, CodeSize: 400, Cold: j9gen.Always, ColdPC: start + 0x800, ColdSize: 80, Method: 0x500060}
				b := j9gen.Random(rand.New(rand.NewPCG(3, 4)), o)
				blob := encode(t, b)
				if change != nil {
					change(&b.Header)
					blob = append(encode(t, b), make([]byte, slot/2)...)
				}
				for _, d := range damage {
					d(blob)
				}
				f.put(base, blob)
				load(text, start, size, base)
			}
			body("good", nil, 400)
			body("stub", nil, 400, func(blob []byte) { blob[build.sizeAt+4] |= byte(j9meta.IsStub) }) // the flags are behind the size
			body("being filled in", func(h *j9meta.Header) { h.Flags |= 8 }, 400)
			body("unloaded", func(h *j9meta.Header) { h.ConstantPool = 0 }, 400)
			body("other code", func(h *j9meta.Header) { h.StartPC -= 8 }, 400)
			body("code that ends before it begins", func(h *j9meta.Header) { h.StartPC, h.EndWarmPC = h.EndWarmPC, h.StartPC }, 400)
			body("size of the cold part", nil, 80)
			body("longer code", nil, 401)
			body("no code", nil, 0)
			what = what[:len(what)-1] // nothing is written
			sized := func(text string, size func(n int) int) {
				base, start := f.place()
				b := j9gen.Random(rand.New(rand.NewPCG(3, 4)), j9gen.Options{Layout: build.layout, Base: base, StartPC: start, CodeSize: 400, Cold: j9gen.Never, Method: 0x500060})
				blob := encode(t, b)
				binary.LittleEndian.PutUint32(blob[build.sizeAt:], uint32(size(len(blob))))
				what = append(what, text)
				f.put(start, code(400))
				f.do("end", base, f.file(blob))
				f.do("load", 5, 3, start, 400, (base+uint64(len(blob))+4095)&^4095-uint64(len(blob)))
			}
			exactly := func(size int) func(int) int { return func(int) int { return size } }
			sized("size up to unmapped memory and beyond", exactly(8192))
			sized("size a byte beyond", func(n int) int { return n + 1 })
			sized("size of a page more", exactly(3*4096))
			sized("small size", exactly(115))
			sized("negative size", exactly(-1))
			sized("huge size", exactly(16<<20+1))
			sized("large size", exactly(16<<20))
			_, start := f.place()
			big := encode(t, j9gen.Random(rand.New(rand.NewPCG(3, 4)), j9gen.Options{Layout: build.layout, Base: build.nowhere + 64*slot, StartPC: start, CodeSize: 400, Cold: j9gen.Never, Method: 0x500060}))
			binary.LittleEndian.PutUint32(big[build.sizeAt:], 16<<20+1)
			f.put(build.nowhere+64*slot, append(big, make([]byte, 16<<20)...))
			load("huge size of what is there", start, 400, build.nowhere+64*slot)
			base, start := f.place()
			load("NULL", start, 100, 0)
			load("small number", start+0x1000, 100, 8)
			load("unmapped", start+0x2000, 100, build.nowhere)
			load("last address", start+0x3000, 100, ^uint64(0)-16)
			load("kernel's", start+0x4000, 100, 0xffffffff81000000)
			load("itself", start+0x5000, 400, start+0x5000)
			f.do("end", base, f.file(make([]byte, 100)))
			load("half a header", start+0x6000, 100, (base+100+4095)&^4095-100)
			rng := rand.New(rand.NewPCG(5, 6))
			garbage := make([]byte, 1<<16)
			for i := range garbage {
				garbage[i] = byte(rng.Uint32())
			}
			base, start = f.place()
			f.put(base, garbage)
			for i := range uint64(20) {
				load("garbage", start+i<<12, 100, base+i*97)
			}
			functions, _ := f.run()
			if len(functions) != len(what) {
				t.Fatalf("%d functions of %d", len(functions), len(what))
			}
			for i, fn := range functions {
				if good := what[i] == "good"; good != (fn.meta != nil) {
					t.Errorf("%s: metadata: %v", what[i], fn.meta != nil)
				}
				if string(fn.Name) != "p.K5.m3(I)V" || !bytes.Equal(fn.Code, code(len(fn.Code))) {
					t.Errorf("%s: %s, %d bytes", what[i], fn.Name, len(fn.Code))
				}
			}
		})
	}
}

// testBeforeLive has methods that OpenJ9 tells of only when asked.
func testBeforeLive(t *testing.T, build *j9build) {
	f := newFakeJ9(t, build)
	f.options = ",names=short"
	f.do("class", 5, 0x500000, 8)
	f.do("class", 6, 0x501000, 8)
	f.do("prepare", 5)
	base, start := f.place()
	b := j9gen.Random(rand.New(rand.NewPCG(1, 9)), j9gen.Options{Layout: build.layout, Base: base, StartPC: start, CodeSize: 300, Cold: j9gen.Never, Method: 0x500000, Inlines: []uint64{0x501020}, Sites: 3, Unloaded: j9gen.Never, Native: j9gen.Never})
	f.put(base, encode(t, b))
	f.put(start, code(300))
	f.do("early", 5, 0, start, 300, base)
	f.do("live")
	functions, _ := f.run()
	if len(functions) != 1 || string(functions[0].Name) != "p.K5.m0" || functions[0].meta == nil {
		t.Fatalf(`got %+v; want 1 function, functions[0].Name = "p.K5.m0", functions[0].meta not nil`, functions)
	}
	// Class 6 is not prepared, so nothing can be said of its methods.
	if m := functions[0].meta.Methods; len(m) != 1 || fmt.Sprintf("%s.%s%s", m[0].Class, m[0].Name, m[0].Signature) != "p/K5.m0" {
		t.Errorf(`got %+v; want 1 method, fmt.Sprintf("%%s.%%s%%s", m[0].Class, m[0].Name, m[0].Signature) = "p/K5.m0"`, m)
	}
}

// testOtherNames asks which VMs are taken for OpenJ9.
func testOtherNames(t *testing.T, build *j9build) {
	for name, want := range map[string]bool{"IBM J9 VM": true, "Eclipse OpenJ9 VM": true, "OpenJDK 64-Bit Server VM": false, "Zing 64-Bit Tiered VM": false} {
		f := newFakeJ9(t, build)
		f.env = []string{"FAKEVM=" + name}
		base, start := f.place()
		b := j9gen.Random(rand.New(rand.NewPCG(1, 9)), j9gen.Options{Layout: build.layout, Base: base, StartPC: start, CodeSize: 300, Cold: j9gen.Never, Method: 0x500000})
		f.put(base, encode(t, b))
		f.put(start, code(300))
		f.do("class", 5, 0x500000, 8)
		f.do("prepare", 5)
		f.do("live")
		if want {
			f.do("load", 5, 0, start, 300, base)
		}
		functions, classes := f.run()
		if want != (classes > 0) || want != (len(functions) == 1 && functions[0].meta != nil) {
			t.Errorf("%s: %d classes, %d functions", name, classes, len(functions))
		}
	}
}
