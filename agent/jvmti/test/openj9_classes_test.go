package jvmti_test

// Classes that go, change and come in numbers while OpenJ9 tells of their code.

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
)

// testUnloaded posts methods of classes that are gone, whose ids are freed.
func testUnloaded(t *testing.T, build *j9build) {
	f := newFakeJ9(t, build)
	f.do("live")
	f.do("class", 5, 0x500000, 8)
	f.do("class", 6, 0x501000, 8)
	f.do("class", 8, 0x502000, 8)
	for _, k := range []int{5, 6, 8} {
		f.do("prepare", k)
	}
	var bodies []*j9meta.Body
	body := func(method uint64, change func(h *j9meta.Header)) {
		base, start := f.place()
		b := j9gen.Random(rand.New(rand.NewPCG(uint64(len(bodies)), 1)), j9gen.Options{
			Layout: build.layout, Base: base, StartPC: start, CodeSize: 300, Cold: j9gen.Never, Method: method,
			Inlines: []uint64{0x500020, 0x501040, 0x502080}, Sites: 40, Unloaded: j9gen.Never, Native: j9gen.Never,
		})
		change(&b.Header)
		bodies = append(bodies, b)
		f.put(base, encode(t, b))
		f.put(start, code(300))
	}
	names := func(class, method, signature string) func(h *j9meta.Header) {
		return func(h *j9meta.Header) {
			h.ClassName, h.MethodName, h.MethodSignature = f.string(class), f.string(method), f.string(signature)
		}
	}
	no := func(h *j9meta.Header) { h.ClassName = build.nowhere }
	body(0x500000, no)
	body(0x501000, names("p/Gone", "go", "(II)J"))
	body(0x501000, no)
	body(0x501000, names("p/Gone", "go", "II)J"))
	body(0x501000, names("p/\xc3", "go", "()V"))
	body(0x501000, names("p/Gr\xc3\xb6\xc3\x9fe$\xed\xa0\xbd\xed\xb8\x80", "<init>", "()V"))
	body(0x501000, names("", "go", "()V"))
	for i, b := range bodies {
		if i == 1 {
			f.do("unload", 6)
		}
		k := 6
		if i == 0 {
			k = 5
		}
		f.do("load", k, 0, b.Header.StartPC, 300, b.Base)
	}
	// Without metadata to believe, there is only the id.
	_, start := f.place()
	f.put(start, code(100))
	f.do("load", 6, 0, start, 100, build.nowhere)
	f.do("load", 5, 2, start, 100, build.nowhere)
	// Another class comes to lie where the unloaded one was.
	f.do("class", 7, 0x501000, 8)
	f.do("prepare", 7)
	f.do("load", 7, 0, bodies[2].Header.StartPC, 300, bodies[2].Base)
	functions, _ := f.run()
	want := []string{"p.K5.m0(I)V", "p.Gone.go(II)J", "[unloaded]", "[unloaded]", "[unloaded]", "p.Größe$😀.<init>()V",
		"[unloaded]", "[unloaded]", "p.K5.m2(I)V", "p.K7.m0(I)V"}
	if len(functions) != len(want) {
		t.Fatalf("%d functions", len(functions))
	}
	for i, fn := range functions {
		if string(fn.Name) != want[i] {
			t.Errorf("function %d is %s, want %s", i, fn.Name, want[i])
		}
	}
	all := map[int]uint64{5: 0x500000, 6: 0x501000, 8: 0x502000}
	wantMethods(t, functions[0].meta, known(bodies[0], all, 8))
	delete(all, 6)
	for i := 1; i < 7; i++ {
		wantMethods(t, functions[i].meta, known(bodies[i], all, 8))
	}
	all[7] = 0x501000
	wantMethods(t, functions[9].meta, known(bodies[2], all, 8))
	if functions[7].meta != nil || functions[8].meta != nil {
		t.Error("metadata out of build.nowhere")
	}
}

// testRedefined gives a class other methods, under the ids that it has.
func testRedefined(t *testing.T, build *j9build) {
	f := newFakeJ9(t, build)
	f.do("class", 5, 0x500000, 4)
	f.do("prepare", 5)
	f.do("live")
	body := func(method uint64) *j9meta.Body {
		base, start := f.place()
		b := j9gen.Random(rand.New(rand.NewPCG(1, 1)), j9gen.Options{Layout: build.layout, Base: base, StartPC: start, CodeSize: 300, Cold: j9gen.Never, Method: method, Sites: -1})
		b.Header.ClassName, b.Header.MethodName, b.Header.MethodSignature = f.string("p/Old"), f.string("f"), f.string("()V")
		f.put(base, encode(t, b))
		f.put(start, code(300))
		return b
	}
	old, now := body(0x500000), body(0x600000)
	f.do("class", 6, 0x700000, 4)
	f.do("class", 7, 0x800000, 4)
	f.do("prepare", 6)
	f.do("prepare", 7)
	f.do("redefine", 5, 0x600000)
	f.do("load", 5, 0, now.Header.StartPC, 300, now.Base) // the first method: all classes are looked at
	f.do("load", 5, 0, old.Header.StartPC, 300, old.Base)
	f.do("redefine", 6, 0x800000) // what another class has: no id of it
	f.do("load", 6, 0, old.Header.StartPC, 300, build.nowhere)
	functions, _ := f.run()
	if len(functions) != 3 {
		t.Fatalf("%d functions", len(functions))
	}
	if string(functions[0].Name) != "p.K5.m0(I)V" || string(functions[1].Name) != "p.Old.f()V" || string(functions[2].Name) != "[unloaded]" {
		t.Errorf(`got %s, %s, %s; want functions[0].Name = "p.K5.m0(I)V", functions[1].Name = "p.Old.f()V", functions[2].Name = "[unloaded]"`, functions[0].Name, functions[1].Name, functions[2].Name)
	}
	wantMethods(t, functions[0].meta, known(now, map[int]uint64{5: 0x600000}, 4))
	wantMethods(t, functions[1].meta, nil)
}

// testOverwritten lets a body be another's memory while it is copied: its metadata is
// whole, or left out.
func testOverwritten(t *testing.T, build *j9build) {
	f := newFakeJ9(t, build)
	f.do("class", 5, 0x500000, 8)
	f.do("prepare", 5)
	f.do("live")
	var bodies [][]byte
	for i := range 100 {
		base, start := f.place()
		b := j9gen.Random(rand.New(rand.NewPCG(7, uint64(i))), j9gen.Options{Layout: build.layout, Base: base, StartPC: start, CodeSize: 20000, Cold: j9gen.Never, Maps: 10000, Method: 0x500000})
		blob := encode(t, b)
		bodies = append(bodies, blob)
		f.put(base, blob)
		f.put(start, code(20000))
		f.do("overwrite", base, f.file(bytes.Repeat([]byte{0xee}, len(blob))), i%20*3000)
		f.do("load", 5, 0, start, 20000, base)
	}
	functions, _ := f.run()
	whole, without := 0, 0
	for i, fn := range functions {
		switch {
		case fn.meta == nil:
			without++
		case bytes.Equal(fn.meta.Metadata, bodies[i]):
			whole++
		default:
			t.Errorf("function %d has metadata of two", i)
		}
	}
	t.Logf("%d whole, %d left out", whole, without)
	if len(functions) != len(bodies) {
		t.Errorf("%d functions", len(functions))
	}
}

// testChurn posts methods while other threads load and unload classes, whose methods
// the bodies mention, at the same addresses again and again.
func testChurn(t *testing.T, build *j9build) {
	const threads, rounds, alone = 3, 4000, 1100
	f := newFakeJ9(t, build)
	f.do("class", 5, 0x500000, 8)
	f.do("prepare", 5)
	f.do("live")
	f.do("churn", threads, rounds)
	for i := range 300 {
		base, start := f.place()
		o := j9gen.Options{Layout: build.layout, Base: base, StartPC: start, CodeSize: 300, Cold: j9gen.Never, Method: 0x500000, Sites: 20}
		for k := range uint64(threads) {
			for m := range uint64(8) {
				o.Inlines = append(o.Inlines, 0x900000+0x1000*k+32*m)
			}
		}
		f.put(base, encode(t, j9gen.Random(rand.New(rand.NewPCG(8, uint64(i))), o)))
		f.put(start, code(300))
		f.do("load", 5, 0, start, 300, base)
	}
	f.do("join")
	// While a thread sweeps, the others may load any number of classes: how many are known then
	// depends on the scheduler. A thread alone sweeps what they left.
	f.do("churn", 1, alone)
	f.do("join")
	functions, classes := f.run()
	if len(functions) != 300 {
		t.Fatalf("%d functions", len(functions))
	}
	named := 0
	for _, fn := range functions {
		if fn.meta == nil || string(fn.Name) != "p.K5.m0(I)V" {
			t.Fatalf("%s: metadata: %v", fn.Name, fn.meta != nil)
		}
		for i := range fn.meta.Methods {
			j := &fn.meta.Methods[i]
			if j.Method < 0x900000 {
				continue
			}
			named++
			at := j.Method - 0x900000
			if want := (javaMethod{0x8000 + int(at>>12), int(at & 0xfff / 32)}); recorded(j) != want.String() {
				t.Errorf("method %#x: %q, want %q", j.Method, recorded(j), want)
			}
		}
	}
	t.Logf("%d methods of short-lived classes had names; of %d classes, the agent knew %d in the end", named, threads*rounds+alone, classes)
	if classes > 2*alone {
		t.Errorf("of %d classes, the agent knew %d in the end, want %d at most", threads*rounds+alone, classes, 2*alone)
	}
}
