package jitdump_test

import (
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// A frame is a method at a place of its source.
type frame struct {
	name, file string
	line       uint32
}

// stackAt returns the frames of a function at an offset, the innermost first: what
// the tree and the rows say, looked up the slow way.
func stackAt(fn *jitcode.Function, at uint64) []frame {
	file := func(i int) string {
		if i < 0 {
			return ""
		}
		return fn.Files[i]
	}
	calls := []int{} // outermost first
	for parent, found := -1, true; found; {
		found = false
		for i, c := range fn.Inlines {
			if c.Parent == parent && slices.ContainsFunc(fn.Ranges[c.First:c.Last], func(r jitcode.Range) bool { return r.Offset <= at && at < r.Offset+r.Size }) {
				calls, parent, found = append(calls, i), i, true
				break
			}
		}
	}
	origin := func(depth int) *jitcode.Origin {
		if depth < 0 {
			return &fn.Origins[0]
		}
		return &fn.Origins[fn.Inlines[calls[depth]].Origin]
	}
	var row jitcode.Line
	for _, l := range fn.Lines {
		if l.Offset <= at {
			row = l
		}
	}
	innermost := frame{name: string(origin(len(calls) - 1).Name)}
	if row.Line != 0 {
		innermost.file, innermost.line = file(row.File), row.Line
	}
	stack := []frame{innermost}
	for d := len(calls) - 1; d >= 0; d-- {
		caller := origin(d - 1)
		stack = append(stack, frame{string(caller.Name), file(caller.File), fn.Inlines[calls[d]].Line})
	}
	return stack
}

// wantJ9 returns what a body and its tables say of an offset from startPC.
func wantJ9(b *j9meta.Body, methods []jitdump.JavaMethod, outer string, at uint32) []frame {
	stack := []j9meta.Frame{{Site: -1, Method: b.Header.RAMMethod, ByteCodeIndex: -1}}
	for _, r := range b.Ranges() {
		if at < r.Start || at >= r.End {
			continue
		}
		if stack = b.Stack(nil, r.Info); b.Atlas.Maps[r.Map].RegisterMap == j9meta.GapMap && r.Info == (j9meta.ByteCodeInfo{}) {
			stack = nil
		}
	}
	if len(stack) == 0 { // in a gap, for which there is no byte code
		return []frame{{name: wantJ9(b, methods, outer, math.MaxUint32)[0].name}}
	}
	var frames []frame
	for _, s := range stack {
		name := fmt.Sprintf("[method %#x]", s.Method)
		if s.Site < 0 {
			name = outer
		}
		f := frame{name, strings.ReplaceAll(name, "/", ".") + ".bytecode", uint32(max(s.ByteCodeIndex, 0) + 1)}
		if s.Unloaded && s.Site >= 0 {
			f.name, f.file = "[unloaded]", "[unloaded].bytecode"
		} else if i := slices.IndexFunc(methods, func(m jitdump.JavaMethod) bool { return m.Method == s.Method }); i >= 0 {
			m := methods[i]
			f.name = strings.ReplaceAll(string(m.Class), "/", ".") + "." + string(m.Name) + string(m.Signature)
			f.file = strings.ReplaceAll(f.name, "/", ".") + ".bytecode"
			if len(m.Lines) > 0 {
				f.file, f.line = string(m.File), m.Lines[0].Line
				for _, l := range m.Lines {
					if s.ByteCodeIndex >= int(l.ByteCodeIndex) {
						f.line = l.Line
					}
				}
				if f.file == "" {
					f.file = string(m.Class) + ".class"
				}
			}
		}
		frames = append(frames, f)
	}
	return frames
}

// j9Record returns a record about the code at addr.
func j9Record(t testing.TB, b *j9meta.Body, methods []jitdump.JavaMethod, addr uint64) *jitdump.OpenJ9Metadata {
	t.Helper()
	blob, err := j9gen.Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	return &jitdump.OpenJ9Metadata{
		CodeAddr: addr, Base: b.Base, PointerSize: uint16(b.Layout.PointerSize), HeaderSize: uint16(b.Layout.HeaderSize),
		Metadata: blob, Methods: methods,
	}
}

// javaMethods returns generated methods as records have them.
func javaMethods(methods []j9meta.CaptureMethod) (list []jitdump.JavaMethod) {
	for _, m := range methods {
		j := jitdump.JavaMethod{Method: uint64(m.Method), Class: []byte(m.Class), Name: []byte(m.Name), Signature: []byte(m.Signature)}
		if m.File != "" {
			j.File = []byte(m.Class[:strings.LastIndex(m.Class, "/")+1] + m.File)
		}
		for _, l := range m.Lines {
			j.Lines = append(j.Lines, jitdump.JavaLine{ByteCodeIndex: l[0], Line: l[1]})
		}
		list = append(list, j)
	}
	return list
}

// j9Dump returns the head of a dump for a body's machine.
func j9Dump(l j9meta.Layout) jitdump.Header {
	return jitdump.Header{Order: l.Order, Version: 1, Machine: uint32(l.Machine), PID: 100}
}

// interesting returns the offsets of a body's code at which to look: all of a small
// one, and where something may change of a large one.
func interesting(rng *rand.Rand, b *j9meta.Body, size uint32) (list []uint32) {
	if size <= 1000 {
		for at := range size {
			list = append(list, at)
		}
		return list
	}
	for _, r := range b.Ranges() {
		for _, at := range []uint32{r.Start - 1, r.Start, r.Start + uint32(rng.IntN(int(r.End-r.Start))), r.End - 1} {
			if at < size {
				list = append(list, at)
			}
		}
	}
	return append(list, 0, size-1)
}

// Whatever a body's shape, its warm and its cold part show at each offset the stack
// that the metadata says, with names and lines of the tables.
func TestJ9Record_RandomBodies(t *testing.T) {
	rng := rand.New(rand.NewPCG(testrec.Seed(t), 9))
	bodies := 600
	if testing.Short() {
		bodies = 60
	}
	pcs, deepest := 0, 0
	for i := range bodies {
		var o j9gen.Options
		if i%5 == 0 {
			o.GapMaps = j9gen.Always
		}
		body := j9gen.Random(rng, o)
		methods := javaMethods(j9gen.Methods(rng, body))
		if i%7 == 0 {
			methods = methods[:rng.IntN(len(methods)+1)] // of the others nobody knows more than the address
		}
		b := newDump(t, j9Dump(body.Layout))
		type part struct{ start, end uint64 }
		var parts []part
		for _, get := range []func() (uint64, uint64){body.Header.Warm, body.Header.Cold} {
			start, end := get()
			if start == 0 {
				continue
			}
			parts = append(parts, part{start, end})
			b.add(j9Record(t, body, methods, start))
			b.load("outer method", start, int(end-start))
		}
		d := b.scan()
		r := d.Reader()
		if d.NumFunctions() != len(parts) || len(d.Problems) > 0 || d.Orphans() > 0 {
			t.Fatalf("body %d: %d functions, %d orphans, problems %v", i, d.NumFunctions(), d.Orphans(), d.Problems)
		}
		for k, p := range parts {
			fn, err := r.Function(k)
			if err != nil || len(r.Problems) > 0 {
				t.Fatalf("body %d: %v, problems %v", i, err, r.Problems)
			}
			first := uint32(p.start - body.Header.StartPC)
			for _, at := range interesting(rng, body, uint32(body.Header.EndPC-body.Header.StartPC)) {
				if at < first || uint64(at) >= p.end-body.Header.StartPC {
					continue
				}
				got, want := stackAt(fn, uint64(at-first)), wantJ9(body, methods, "outer method", at)
				if !slices.Equal(got, want) {
					t.Fatalf("body %d part %d at %#x (%#x of the part):\n got %v\nwant %v", i, k, at, at-first, got, want)
				}
				pcs++
				deepest = max(deepest, len(got))
			}
			checkTree(t, fn)
			checkListings(t, fn)
		}
	}
	t.Logf("%d offsets, stacks of up to %d frames", pcs, deepest)
	if pcs < bodies || deepest < 4 {
		t.Errorf("only %d offsets and %d frames were seen", pcs, deepest)
	}
}

// checkListings holds the listings of a function against its lines: there is one for
// each file that is one, with each line that the code has.
func checkListings(t *testing.T, fn *jitcode.Function) {
	t.Helper()
	lines := make(map[int][]string)
	for i, name := range fn.Files {
		if strings.HasSuffix(name, ".bytecode") != (i < len(fn.Sources) && fn.Sources[i] != "") {
			t.Fatalf("%s has the text %q", name, fn.Sources)
		}
		if i < len(fn.Sources) {
			if len(fn.Sources[i]) > jitcode.MaxText {
				t.Fatalf("%s has %d bytes", name, len(fn.Sources[i]))
			}
			lines[i] = strings.Split(fn.Sources[i], "\n")
		}
	}
	has := func(file int, line uint32) {
		text := lines[file]
		if !strings.HasSuffix(fn.Files[file], ".bytecode") || line == 0 || len(strings.Join(text, "\n"))+int(line) > jitcode.MaxText {
			return
		}
		if int(line) > len(text) || !strings.HasPrefix(strings.TrimSpace(text[line-1]), fmt.Sprintf("%d:", line-1)) {
			t.Fatalf("%s has nothing in line %d: %q", fn.Files[file], line, text)
		}
	}
	for i, l := range fn.Lines {
		if i > 0 { // the method's start may have no byte code
			has(l.File, l.Line)
		}
	}
}

// The stacks of the reference vectors are those of their expected files, which
// OpenJ9's own functions made.
func TestJ9Record_ReferenceVectors(t *testing.T) {
	dir := testrec.Path("..", "internal", "format", "j9meta", "testdata")
	names, err := filepath.Glob(filepath.Join(dir, "*.bin"))
	if err != nil || len(names) < 6 {
		t.Fatalf("%d vectors, %v", len(names), err)
	}
	for _, name := range names {
		blob, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		stem := strings.TrimSuffix(name, ".bin")
		var about struct{ Base, StartPC string }
		text, err := os.ReadFile(stem + ".json")
		if err == nil {
			err = json.Unmarshal(text, &about)
		}
		if err != nil {
			t.Fatal(err)
		}
		start := parseHex(t, about.StartPC)
		size := binary.LittleEndian.Uint64(blob[64:]) - start
		b := newDump(t, x86)
		b.add(&jitdump.OpenJ9Metadata{CodeAddr: start, Base: parseHex(t, about.Base), PointerSize: 8, Metadata: blob})
		b.load("outer", start, int(size))
		r := b.scan().Reader()
		fn, err := r.Function(0)
		if err != nil || len(r.Problems) > 0 {
			t.Fatalf("%s: got %v, %v; want no error, no problems", name, err, r.Problems)
		}
		text, err = os.ReadFile(stem + ".expected.txt")
		if err != nil {
			t.Fatal(err)
		}
		type entry struct {
			from  uint64
			stack []frame
		}
		var want []entry
		for line := range strings.Lines(string(text)) {
			at, rest, ok := strings.Cut(line, ": ")
			if !ok {
				continue
			}
			e := entry{from: parseHex(t, "0x"+at)}
			chain, _, _ := strings.Cut(rest, " depth=")
			for _, f := range strings.Split(chain, " < ") {
				method, index, _ := strings.Cut(f, "@")
				n, err := strconv.Atoi(index)
				if err != nil {
					t.Fatalf("%s: %q", name, line)
				}
				switch {
				case strings.HasPrefix(method, "0xffff"):
					method = "[unloaded]"
				case parseHex(t, strings.Replace(method, "outer", "0", 1)) == binary.LittleEndian.Uint64(blob[32:]):
					method = "outer" // which calls itself
				case method != "outer":
					method = "[method " + method + "]"
				}
				e.stack = append(e.stack, frame{method, method + ".bytecode", uint32(max(n, 0) + 1)})
			}
			want = append(want, e)
		}
		if len(want) < 3 {
			t.Fatalf("%s: %d ranges expected", name, len(want))
		}
		for at := want[0].from; at < size; at++ {
			i := sort.Search(len(want), func(i int) bool { return want[i].from > at }) - 1
			if got := stackAt(fn, at); !slices.Equal(got, want[i].stack) {
				t.Fatalf("%s at %#x: %v, want %v", name, at, got, want[i].stack)
			}
		}
	}
}

func parseHex(t *testing.T, s string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// j9Body is a body of 0x40 bytes: middle is called at byte code 5 of outer, inner at
// byte code 7 of middle, and gone at 9 of outer.
func j9Body(t testing.TB) *j9meta.Body {
	t.Helper()
	b := &j9meta.Body{
		Layout: j9meta.Layout{Order: binary.LittleEndian, PointerSize: 8, Machine: elf.EM_X86_64, HeaderSize: 232},
		Base:   0x500000,
		Header: j9meta.Header{RAMMethod: 0x100, StartPC: 0x1000, EndWarmPC: 0x1040, EndPC: 0x1040},
		Sites: []j9meta.InlinedSite{
			{Method: 0x200, Info: j9meta.ByteCodeInfo{CallerIndex: -1, ByteCodeIndex: 5}, Monitors: []byte{0}},
			{Method: 0x300, Info: j9meta.ByteCodeInfo{CallerIndex: 0, ByteCodeIndex: 7}, Monitors: []byte{0}},
			{Method: 1<<64 - 1, Info: j9meta.ByteCodeInfo{CallerIndex: -1, ByteCodeIndex: 9}, Monitors: []byte{0}},
		},
		Atlas: &j9meta.StackAtlas{NumberOfMapBytes: 1, Monitors: []byte{0}},
	}
	for _, m := range []struct {
		low           uint32
		caller, index int
	}{{8, -1, 0}, {0x10, 0, 2}, {0x18, 1, 3}, {0x20, 1, 12}, {0x28, 2, 4}, {0x30, -1, 11}} {
		b.Atlas.Maps = append(b.Atlas.Maps, j9meta.StackMap{Low: m.low, Info: j9meta.ByteCodeInfo{CallerIndex: m.caller, ByteCodeIndex: m.index}, Bits: []byte{0}})
	}
	j9gen.Lay(b)
	return b
}

// j9Methods are those of j9Body; inner has no lines.
func j9Methods() []jitdump.JavaMethod {
	return []jitdump.JavaMethod{
		{Method: 0x100, Class: []byte("p/A"), Name: []byte("outer"), Signature: []byte("()V"), File: []byte("p/A.java"), Lines: []jitdump.JavaLine{{ByteCodeIndex: 0, Line: 10}, {ByteCodeIndex: 5, Line: 11}, {ByteCodeIndex: 9, Line: 12}}},
		{Method: 0x200, Class: []byte("p/A$B"), Name: []byte("middle"), Signature: []byte("()V"), File: []byte("p/A.java"), Lines: []jitdump.JavaLine{{ByteCodeIndex: 4, Line: 21}, {ByteCodeIndex: 7, Line: 20}}},
		{Method: 0x300, Class: []byte("q/C"), Name: []byte("inner"), Signature: []byte("(Lp/A;)I")},
	}
}

func TestJ9Record_Lines(t *testing.T) {
	b := newDump(t, x86)
	b.add(j9Record(t, j9Body(t), j9Methods(), 0x1000))
	b.load("p.A.outer()V", 0x1000, 0x40)
	d := b.scan()
	fn, err := d.Reader().Function(0)
	if err != nil {
		t.Fatal(err)
	}
	outer := func(line uint32) frame { return frame{"p.A.outer()V", "p/A.java", line} }
	middle := func(line uint32) frame { return frame{"p.A$B.middle()V", "p/A.java", line} }
	inner := func(line uint32) frame {
		return frame{"q.C.inner(Lp/A;)I", "q.C.inner(Lp.A;)I.bytecode", line}
	}
	for at, want := range map[uint64][]frame{
		0: {outer(10)}, 7: {outer(10)}, 8: {outer(10)},
		0x10: {middle(21), outer(11)}, // in front of the first index
		0x18: {inner(4), middle(20), outer(11)}, 0x27: {inner(13), middle(20), outer(11)},
		0x28: {{"[unloaded]", "[unloaded].bytecode", 5}, outer(12)},
		0x30: {outer(12)}, 0x3f: {outer(12)},
	} {
		if got := stackAt(fn, at); !slices.Equal(got, want) {
			t.Errorf("at %#x: %v, want %v", at, got, want)
		}
	}
	listing := "    0:\n" + strings.Repeat("\n", 2) + "    3: +0x18 to +0x20\n" + strings.Repeat("\n", 8) + "   12: +0x20 to +0x28\n"
	if i := slices.Index(fn.Files, "q.C.inner(Lp.A;)I.bytecode"); i < 0 || fn.Sources[i] != listing {
		t.Errorf("files %q, texts %q", fn.Files, fn.Sources)
	}
	// The listings are sources of the dump, which can be placed.
	all := d.Sources()
	if len(all) != 2 || all[1].Name != "q.C.inner(Lp.A;)I.bytecode" || all[1].Size != len(listing) {
		t.Fatalf("sources %+v", all)
	}
	if text, err := d.SourceText(1); err != nil || string(text) != listing {
		t.Errorf("got %q, %v; want no error, text = %v", text, err, listing)
	}
	d.PlaceSource(1, "@1/inner")
	if fn, err = d.Reader().Function(0); err != nil || !slices.Contains(fn.Files, "@1/inner") || fn.Sources[slices.Index(fn.Files, "@1/inner")] != listing {
		t.Errorf("files %q, texts %q, %v", fn.Files, fn.Sources, err)
	}
}

// A method without lines calls what it inlines by the byte code, and names it.
func TestJ9Listing_CallerNamesInlined(t *testing.T) {
	b := newDump(t, x86)
	methods := j9Methods()
	methods[0].Lines, methods[0].File = nil, nil
	b.add(j9Record(t, j9Body(t), methods, 0x1000))
	b.load("x", 0x1000, 0x40)
	fn, err := b.scan().Reader().Function(0)
	if err != nil {
		t.Fatal(err)
	}
	if got := stackAt(fn, 0x10)[1]; got != (frame{"p.A.outer()V", "p.A.outer()V.bytecode", 6}) {
		t.Errorf("the call is at %v", got)
	}
	want := "    0: +0x8 to +0x10\n\n\n\n\n    5:  inlines p.A$B.middle()V\n\n\n\n    9:  inlines [unloaded]\n\n   11: +0x30 to +0x40\n"
	if i := slices.Index(fn.Files, "p.A.outer()V.bytecode"); i < 0 || fn.Sources[i] != want {
		t.Errorf("texts %q", fn.Sources)
	}
}

// What a producer says itself goes before what follows from the metadata.
func TestJ9Record_BesideDebugInfo2(t *testing.T) {
	b := newDump(t, x86)
	b.add(j9Record(t, j9Body(t), j9Methods(), 0x1000))
	b.add(inlined(t))
	b.load("outer", 0x1000, 0x40)
	d := b.scan()
	fn, err := d.Reader().Function(0)
	if err != nil {
		t.Fatal(err)
	}
	checkInlined(t, fn)
	if d.Orphans() != 0 {
		t.Errorf("%d orphans", d.Orphans())
	}
}
