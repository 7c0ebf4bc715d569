package checkdump_test

import (
	"cmp"
	"context"
	"debug/elf"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

// A j9Record is a JITINJECT_OPENJ9_METADATA that is made byte by byte.
type j9Record struct {
	addr, base  u64
	pointer     uint16
	header      uint16
	methods     []j9Entry
	blob        []byte
	stringsSize int // what is added to the true one
	extra       []byte
}

// A j9Entry is one of its methods, with pairs of byte code indexes and lines.
type j9Entry struct {
	method                       u64
	class, name, signature, file string
	flags                        u32
	lines                        []u32
}

// metadata adds the record for the warm code of a body, or for its cold code.
func (d *dump) metadata(t *testing.T, b *j9meta.Body, change func(r *j9Record)) *dump {
	t.Helper()
	r := &j9Record{addr: b.Header.StartPC, base: b.Base, pointer: 8, header: 232, blob: verifytest.Encoded(t, b), methods: []j9Entry{
		{verifytest.J9Main, "app/Main", "main", "([Ljava/lang/String;)V", "app/Main.java", 1, []u32{0, 10, 4, 11, 9, 13}},
		{verifytest.J9Outer, "app/A", "f", "(IJ[[D)Lapp/A;", "app/A.java", 1, []u32{0, 5}},
		{verifytest.J9Inner, "java/lang/String", "length", "()I", "java/lang/String.java", 0, []u32{0, 1500, 3, 1502}},
	}}
	if change != nil {
		change(r)
	}
	text := []byte{0}
	known := map[string]u32{"": 0}
	add := func(s string) u32 {
		at, ok := known[s]
		if !ok {
			at = u32(len(text))
			text = append(append(text, s...), 0)
			known[s] = at
		}
		return at
	}
	var methods, lines []any
	for _, m := range r.methods {
		methods = append(methods, m.method, add(m.class), add(m.name), add(m.signature), add(m.file), m.flags, u32(len(m.lines)/2))
		for _, v := range m.lines {
			lines = append(lines, v)
		}
	}
	text = append(text, make([]byte, -len(text)&7)...)
	fields := []any{u32(0x4A394D44), u32(1), r.addr, r.base, u32(len(r.blob)), r.pointer, r.header, u32(len(r.methods)), u32(len(lines) / 2), u32(len(text) + r.stringsSize), u32(0)}
	fields = append(slices.Concat(fields, methods, lines), r.blob, make([]byte, -len(r.blob)&7), text, r.extra)
	return d.record(827346262, fields...)
}

const j9Name = "app.Main.main([Ljava/lang/String;)V"

// j9Dump returns the breach of a dump of a body, of which the metadata's record was changed.
func j9Dump(rule string, change func(r *j9Record), also ...string) breach {
	return breach{Rule: rule, Make: func(t *testing.T, dir string) (string, verify.Options) {
		return newDump().metadata(t, verifytest.Laid(t, nil, nil), change).load(dumpBase, j9Name).file(t, dir)
	}, Also: also}
}

// j9Dumped returns the breach of a dump that is built from its header on.
func j9Dumped(rule string, build func(t *testing.T, d *dump), also ...string) breach {
	return breach{Rule: rule, Make: func(t *testing.T, dir string) (string, verify.Options) {
		d := newDump()
		build(t, d)
		return d.file(t, dir)
	}, Also: also}
}

var j9DumpBreaches = []breach{
	j9Dump("dump/j9-record", func(r *j9Record) { r.pointer = 5 }),
	j9Dump("dump/j9-record", func(r *j9Record) { r.stringsSize = 1 }),
	j9Dump("dump/j9-record", func(r *j9Record) { r.stringsSize = 400 }),
	j9Dump("dump/extra-bytes", func(r *j9Record) { r.extra = make([]byte, 8) }),
	j9Dump("dump/extra-bytes", func(r *j9Record) { r.extra = []byte{1} }),
	j9Dumped("dump/unknown-record", func(t *testing.T, d *dump) { d.record(827346262, u32(1), u64(5)).load(dumpBase, "f") }),
	j9Dumped("dump/j9-orphan", func(t *testing.T, d *dump) {
		d.metadata(t, verifytest.Laid(t, nil, nil), nil).load(dumpBase+0x100, j9Name)
	}),
	j9Dumped("dump/j9-orphan", func(t *testing.T, d *dump) {
		b := verifytest.Laid(t, nil, nil)
		d.metadata(t, b, nil).metadata(t, b, nil).load(dumpBase, j9Name)
	}),
	j9Dumped("dump/j9-orphan", func(t *testing.T, d *dump) {
		b := verifytest.Laid(t, nil, nil)
		d.metadata(t, b, nil)
		for i := range u64(64) {
			other := func(r *j9Record) { r.addr, r.blob = dumpBase+0x100*(i+1), stub(t) }
			if i < 63 {
				defer d.load(dumpBase+0x100*(i+1), "f")
			}
			d.metadata(t, b, other)
		}
		d.load(dumpBase+0x100*64, "f").load(dumpBase, j9Name)
	}, "dump/j9-metadata"), // the others are stubs
	j9Dumped("dump/j9-orphan", func(t *testing.T, d *dump) {
		d.metadata(t, verifytest.Laid(t, nil, nil), nil)
		for i := range u64(64) {
			d.load(dumpBase+0x100*(i+1), "f")
		}
		d.load(dumpBase, "g") // of which nothing is known
	}),
	j9Dumped("dump/j9-metadata", func(t *testing.T, d *dump) {
		d.metadata(t, verifytest.Laid(t, nil, nil), nil).loadIndex(0, dumpBase, j9Name, code()[:0x2f])
	}),
	j9Dumped("dump/j9-metadata", func(t *testing.T, d *dump) {
		d.metadata(t, verifytest.Laid(t, nil, nil), func(r *j9Record) { r.addr += verifytest.J9Cold }).loadIndex(0, dumpBase+verifytest.J9Cold, j9Name, code()[:0x2f])
	}),
	j9Dumped("dump/j9-metadata", func(t *testing.T, d *dump) {
		d.metadata(t, verifytest.Laid(t, nil, nil), func(r *j9Record) { r.addr += 8 }).load(dumpBase+8, j9Name)
	}),
	j9Dumped("dump/j9-metadata", func(t *testing.T, d *dump) {
		b := verifytest.Laid(t, nil, nil)
		b.Header.StartPC, b.Header.EndWarmPC, b.Header.StartColdPC, b.Header.CodeCacheAlloc = dumpBase-8, b.Header.EndPC, 0, 0
		d.metadata(t, laidAgain(t, b), func(r *j9Record) { r.addr = dumpBase }).load(dumpBase, j9Name)
	}),
	j9Dump("dump/j9-metadata", func(r *j9Record) { r.methods[1].flags = 2 }),
	j9Dump("dump/j9-metadata", func(r *j9Record) { r.blob = r.blob[:8] }),
	j9Dump("dump/j9-metadata", func(r *j9Record) { r.base += 1 << 16 }),
}

// stub returns metadata that describes nothing.
func stub(t *testing.T) []byte {
	t.Helper()
	return verifytest.Encoded(t, verifytest.Laid(t, func(b *j9meta.Body) {
		*b = j9meta.Body{Layout: b.Layout, Base: b.Base, Header: j9meta.Header{StartPC: dumpBase, EndPC: dumpBase + 8, Flags: j9meta.IsStub}}
	}, nil))
}

// laidAgain lays out a body that was changed.
func laidAgain(t *testing.T, b *j9meta.Body) *j9meta.Body {
	t.Helper()
	j9gen.Lay(b)
	return b
}

// goodJ9Dump has both parts of a body, one whose class was unloaded, and a stub.
func goodJ9Dump(t *testing.T, dir string) (string, verify.Options) {
	t.Helper()
	d := newDump()
	b := verifytest.Laid(t, nil, nil)
	d.metadata(t, b, nil).load(dumpBase, j9Name)
	d.metadata(t, b, func(r *j9Record) { r.addr += verifytest.J9Cold; r.header = 0 }).load(dumpBase+verifytest.J9Cold, j9Name)
	modified := func(r *j9Record) {
		r.methods[0].name, r.addr = "\xed\xa0\xbd\xed\xb8\x80\xc0\x80\xed\xa0\xbdL\xc3\xa4ngen", dumpBase+0x200
	}
	d.metadata(t, verifytest.Laid(t, func(b *j9meta.Body) {
		h := &b.Header
		h.StartPC, h.EndWarmPC, h.StartColdPC, h.EndPC = h.StartPC+0x200, h.EndWarmPC+0x200, h.StartColdPC+0x200, h.EndPC+0x200
	}, nil), modified).load(dumpBase+0x200, "app.Main.\U0001f600\ufffd\ufffdL\u00e4ngen([Ljava/lang/String;)V")
	unloaded := verifytest.Laid(t, func(b *j9meta.Body) {
		h := &b.Header
		h.StartPC, h.EndWarmPC, h.StartColdPC, h.EndPC = h.StartPC+0x100, h.EndWarmPC+0x100, 0, h.EndWarmPC+0x100
		b.Sites[1].Method = ^u64(0)
		b.Atlas.Maps = b.Atlas.Maps[:3]
	}, nil)
	d.metadata(t, unloaded, func(r *j9Record) { r.methods = r.methods[:2] }).load(dumpBase+0x100, j9Name)
	return d.file(t, dir)
}

// TestResultJ9: what jitinject makes of such a dump gets no complaint, by itself and beside
// the dump.
func TestResultJ9(t *testing.T) {
	for _, bundle := range []bool{false, true} {
		dir := t.TempDir()
		path, _ := goodJ9Dump(t, dir)
		r := testrec.NewRecording()
		r.Mmap2(dumpPID, 10, dumpBase&^0xfff, 0x10000, 0, "//anon")
		r.Marker(dumpPID, 20, path)
		for i, at := range []u64{0x12, verifytest.J9Cold + 4, 0x108} {
			r.Sample(dumpPID, 6_000_000+u64(i), dumpBase+at)
		}
		opts := inject.Options{Input: write(t, dir, "perf.data", r.Bytes()), Output: filepath.Join(dir, "out.data"), Objects: dir, Bundle: bundle}
		sum, err := inject.Run(context.Background(), opts)
		if err != nil || sum.Objects == 0 || len(sum.Problems) > 0 {
			t.Fatalf("%+v, %v", sum, err)
		}
		for _, file := range []string{opts.Output, path} {
			if rules, all := verified(t, file, verify.Options{Recording: opts.Output}); len(rules) > 0 {
				t.Errorf("%s: %v: %+v", file, rules, all)
			}
		}
	}
}

// TestGeneratedDump: nothing is said of many bodies in a dump, with all their methods and
// both parts of their code.
func TestGeneratedDump(t *testing.T) {
	d := newDump()
	loads := 0
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 3))
		b := j9gen.Random(rng, j9gen.Options{
			Layout:  j9meta.Layout{Order: le, PointerSize: 8, Machine: elf.EM_X86_64},
			StartPC: dumpBase + seed<<20, CodeSize: uint32(40 + rng.IntN(4000)), ColdPC: dumpBase + seed<<20 + 0x8000, ColdSize: 0x100, Cold: j9gen.Choice(seed % 3),
		})
		var methods []j9Entry
		for _, m := range j9gen.Methods(rng, b) {
			e := j9Entry{method: u64(m.Method), class: m.Class, name: m.Name, signature: m.Signature, file: cmp.Or(m.File, m.Class+".class")}
			for _, l := range m.Lines {
				e.lines = append(e.lines, l[0], l[1])
			}
			methods = append(methods, e)
		}
		name := strings.ReplaceAll(methods[0].class, "/", ".") + "." + methods[0].name + methods[0].signature
		for _, part := range [][2]u64{{b.Header.StartPC, b.Header.EndWarmPC}, {b.Header.StartColdPC, b.Header.EndPC}} {
			if part[0] != 0 {
				d.metadata(t, b, func(r *j9Record) { r.addr, r.header, r.methods = part[0], uint16(b.Layout.HeaderSize), methods })
				d.loadIndex(d.next, part[0], name, make([]byte, part[1]-part[0]))
				loads++
			}
		}
	}
	path, _ := d.file(t, t.TempDir())
	rules, all := verified(t, path, verify.Options{})
	if len(rules) > 0 || loads < 180 {
		t.Errorf("%d loads, %v: %+v", loads, rules, all)
	}
}
