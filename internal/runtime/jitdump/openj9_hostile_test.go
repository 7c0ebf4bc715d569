package jitdump_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
	"github.com/jitinject/jitinject/internal/jitcode"
	jitdumps "github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// oneJ9 scans a dump of a record and its load, and returns the function and what was
// wrong with it.
func oneJ9(t *testing.T, rec jitdump.Record, addr uint64, size int) (*jitcode.Function, []source.Problem, *jitdumps.Dump) {
	t.Helper()
	b := newDump(t, x86)
	b.debug(addr, "plain.java", 4) // for want of anything better
	b.add(rec)
	b.load("method", addr, size)
	d := b.scan()
	r := d.Reader()
	fn, err := r.Function(0)
	if err != nil {
		t.Fatal(err)
	}
	if string(fn.Name) != "method" || len(fn.Code) != size {
		t.Fatalf("the function is %q of %d bytes", fn.Name, len(fn.Code))
	}
	checkTree(t, fn)
	return fn, slices.Concat(d.Problems, r.Problems), d
}

// Damage costs lines and inlined calls and says where it is.
func TestJ9Record_DamagedContents(t *testing.T) {
	for _, test := range []struct {
		name    string
		break_  func(*j9meta.Body)
		record  func(*jitdump.OpenJ9Metadata)
		want    string
		inBlob  int // offset of the fault in the metadata, or -1
		lines   string
		inlined int
	}{
		{"truncated", nil, func(m *jitdump.OpenJ9Metadata) { m.Metadata = m.Metadata[:300] }, "size at offset", 92, "plain.java", 0},
		{"no bytes", nil, func(m *jitdump.OpenJ9Metadata) { m.Metadata = nil }, "needs 8 bytes", 0, "plain.java", 0},
		{"header size", nil, func(m *jitdump.OpenJ9Metadata) { m.HeaderSize = 12 }, "12, expected 216", -1, "plain.java", 0},
		{"base", nil, func(m *jitdump.OpenJ9Metadata) { m.Base++ }, "at offset 0x", -1, "plain.java", 0},
		{"other code", func(b *j9meta.Body) { b.Header.StartPC, b.Header.EndWarmPC, b.Header.EndPC = 0x2000, 0x2040, 0x2040 }, nil, "is 0x2000; the code is at 0x1000", 40, "plain.java", 0},
		{"end", func(b *j9meta.Body) { b.Header.EndWarmPC = 0x10 }, nil, "and the code ends at 0x10", 40, "plain.java", 0},
		{"stub", func(b *j9meta.Body) {
			b.Header.Flags |= j9meta.IsStub
			b.Sites, b.Atlas = nil, nil
			j9gen.Lay(b)
		}, nil, "IS_STUB: it is left from freed code", 96, "plain.java", 0},
		{"not initialized", func(b *j9meta.Body) { b.Header.Flags |= j9meta.NotInitialized }, nil, "NOT_INITIALIZED: it was copied before", 96, "plain.java", 0},
		{"circle", func(b *j9meta.Body) { b.Sites[0].Info.CallerIndex = 1 }, nil, "site 0 is in site 1, which is no earlier one", -1, "p/A.java", 0},
		{"itself", func(b *j9meta.Body) { b.Sites[0].Info.CallerIndex = 0 }, nil, "site 0 is in site 0, which is no earlier one", -1, "p/A.java", 0},
		{"no caller", func(b *j9meta.Body) { b.Sites[1].Info.CallerIndex = 7 }, nil, "site 1 is in site 7, which is no earlier one", -1, "p/A.java", 0},
		{"no site", func(b *j9meta.Body) { b.Atlas.Maps[2].Info.CallerIndex = 99 }, nil, "is 99; there are 3 sites", -1, "p/A.java", 0},
		{"not used", func(b *j9meta.Body) { b.Sites[2].Info.CallerIndex = 2; b.Atlas.Maps[4].Info.CallerIndex = -1 }, nil, "", -1, "p/A.java", 2},
		{"tables", nil, func(m *jitdump.OpenJ9Metadata) { slices.Reverse(m.Methods[0].Lines) }, "is 5 after 9 in the lines of method 0", -1, "p/A.java", 3},
		{"twice", nil, func(m *jitdump.OpenJ9Metadata) {
			m.Methods = append(m.Methods, jitdump.JavaMethod{Method: 0x100, Class: []byte("X"), Name: []byte("x")})
		}, "is 0x100, as that of method 0", -1, "p/A.java", 3},
	} {
		body := j9Body(t)
		if test.break_ != nil {
			test.break_(body)
		}
		rec := j9Record(t, body, j9Methods(), 0x1000)
		if test.record != nil {
			test.record(rec)
		}
		fn, problems, _ := oneJ9(t, rec, 0x1000, 0x40)
		if len(fn.Inlines) != test.inlined || len(fn.Lines) == 0 || fn.Files[fn.Lines[0].File] != test.lines {
			t.Errorf("%s: %d inlined calls, lines %+v of %q", test.name, len(fn.Inlines), fn.Lines, fn.Files)
		}
		if test.want == "" {
			if len(problems) > 0 {
				t.Errorf("%s: problems %v", test.name, problems)
			}
			continue
		}
		if len(problems) != 1 || !strings.Contains(problems[0].Text, test.want) {
			t.Errorf("%s: problems %v, want %q", test.name, problems, test.want)
			continue
		}
		if test.inBlob >= 0 {
			h, recs := x86, []jitdump.Record{jitdump.NewDebugInfo(binary.LittleEndian, 0x1000, []jitdump.DebugEntry{{Addr: 0x1004, Line: 1, Name: []byte("plain.java")}}), rec}
			at := 40 // of the metadata in the dump: behind both records' heads and the tables
			_ = h
			at += recordSize(t, recs[0]) + 16 + 48
			for _, m := range rec.Methods {
				at += 32 + 8*len(m.Lines)
			}
			if want := "at offset 0x" + strconv.FormatInt(int64(at+test.inBlob), 16) + ":"; !strings.Contains(problems[0].Text, want) {
				t.Errorf("%s: %s, want %s", test.name, problems[0].Text, want)
			}
		}
	}
}

// recordSize returns the size of a record in a dump.
func recordSize(t *testing.T, rec jitdump.Record) int {
	b := newDump(t, x86)
	head := b.out.Len()
	b.add(rec)
	return b.out.Len() - head
}

// A record whose head does not add up costs itself, and nothing of what is around it.
func TestJ9Record_DamagedHead(t *testing.T) {
	whole := j9Record(t, j9Body(t), j9Methods(), 0x1000)
	var out bytes.Buffer
	w, err := jitdump.NewWriter(&out, &x86)
	if err == nil {
		err = w.Write(1, whole)
	}
	if err != nil {
		t.Fatal(err)
	}
	body := bytes.Clone(out.Bytes()[40+16:])
	binary.LittleEndian.PutUint32(body[32:], 9999)
	b := newDump(t, x86)
	b.add(inlined(t))
	b.add(&jitdump.Unknown{ID: jitdump.IDOpenJ9, Body: body})
	b.load("outer", 0x1000, 0x30)
	d := b.scan()
	fn, err := d.Reader().Function(0)
	if err != nil {
		t.Fatal(err)
	}
	checkInlined(t, fn)
	if len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Text, "methods at offset") {
		t.Errorf("problems %v", d.Problems)
	}
}

// Of calls deeper than readers accept, the lines stay.
func TestJ9Record_DeepCalls(t *testing.T) {
	body := j9Body(t)
	body.Sites = nil
	const deep = 300
	for i := range deep {
		body.Sites = append(body.Sites, j9meta.InlinedSite{Method: uint64(0x1000 + 8*i), Info: j9meta.ByteCodeInfo{CallerIndex: i - 1, ByteCodeIndex: i}, Monitors: []byte{0}})
	}
	for i := range body.Atlas.Maps {
		body.Atlas.Maps[i].Info.CallerIndex = deep - 1 - i
	}
	j9gen.Lay(body)
	fn, problems, _ := oneJ9(t, j9Record(t, body, nil, 0x1000), 0x1000, 0x40)
	if len(fn.Inlines) != 0 || len(fn.Lines) == 0 || len(problems) != 1 || !strings.Contains(problems[0].Text, "site 256 is more than 255 calls deep; the function is left without inlined calls") {
		t.Fatalf("%d calls, %d lines, %v", len(fn.Inlines), len(fn.Lines), problems)
	}
}

// Maps out of order answer as OpenJ9's own search does.
func TestJ9Record_MapsOutOfOrder(t *testing.T) {
	body := j9Body(t)
	m := body.Atlas.Maps
	m[1].Low, m[3].Low = m[3].Low, m[1].Low
	fn, problems, _ := oneJ9(t, j9Record(t, body, j9Methods(), 0x1000), 0x1000, 0x40)
	if len(problems) > 0 {
		t.Errorf("got %+v; want no problems", problems)
	}
	for at := range uint32(0x40) {
		if got, want := stackAt(fn, uint64(at)), wantJ9(body, j9Methods(), "method", at); !slices.Equal(got, want) {
			t.Errorf("at %#x: %v, want %v", at, got, want)
		}
	}
}

// Whichever bits of a record are wrong, the name and the code are there, and what is
// said of the rest keeps its promises.
func TestJ9Record_BitsFlipped(t *testing.T) {
	rng := rand.New(rand.NewPCG(testrec.Seed(t), 1))
	broken := 0
	for range 30 {
		body := j9gen.Random(rng, j9gen.Options{Layout: j9meta.Layout{Order: binary.LittleEndian, Machine: elf.EM_X86_64, PointerSize: 8}, CodeSize: 400, StartPC: 0x1000, Cold: j9gen.Never})
		rec := j9Record(t, body, javaMethods(j9gen.Methods(rng, body)), 0x1000)
		whole := rec.Metadata
		for range 60 {
			rec.Metadata = bytes.Clone(whole)
			for range 1 + rng.IntN(3) {
				rec.Metadata[rng.IntN(len(whole))] ^= 1 << rng.IntN(8)
			}
			fn, problems, _ := oneJ9(t, rec, 0x1000, 400)
			checkListings(t, fn)
			if len(problems) > 0 {
				broken++
			}
		}
	}
	if broken == 0 {
		t.Error("nothing was ever wrong")
	}
}

// What a small record makes us do is bounded: a listing of every method at the last
// of all indexes, and the deepest calls at every map.
func TestJ9Record_CostsAreBounded(t *testing.T) {
	body := j9Body(t)
	body.Header.EndWarmPC, body.Header.EndPC = 0x1000+60000, 0x1000+60000
	body.Sites, body.Atlas.Maps = nil, nil
	for i := range j9meta.MaxCallerIndex {
		body.Sites = append(body.Sites, j9meta.InlinedSite{Method: uint64(0x1000 + 8*i), Info: j9meta.ByteCodeInfo{CallerIndex: i - 1, ByteCodeIndex: 65000}, Monitors: []byte{0}})
	}
	for i := range 60000 {
		body.Atlas.Maps = append(body.Atlas.Maps, j9meta.StackMap{Low: uint32(i), Shared: i > 0, Info: j9meta.ByteCodeInfo{CallerIndex: i * 1237 % j9meta.MaxCallerIndex, ByteCodeIndex: 65000, DoNotProfile: i > 0}, Bits: bits(i)})
	}
	j9gen.Lay(body)
	start := time.Now()
	fn, problems, d := oneJ9(t, j9Record(t, body, nil, 0x1000), 0x1000, 60000)
	total := 0
	for _, text := range fn.Sources {
		total += len(text)
	}
	t.Logf("%v, %d texts of %d bytes, %d calls, %d sources, problems %v", time.Since(start), len(fn.Sources), total, len(fn.Inlines), len(d.Sources()), problems)
	if took := time.Since(start); took > 20*time.Second || total > 1<<20 {
		t.Errorf("got %d bytes of text after %v; want 1 MiB within 20 s at most", total, took)
	}
}

func bits(i int) []byte {
	if i == 0 {
		return []byte{0}
	}
	return nil
}
