package showj9_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/formats/display"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// object is an item of JSON.
type object map[string]any

func objects(t testing.TB, out string) (list []object) {
	t.Helper()
	for line := range strings.Lines(out) {
		var o object
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		list = append(list, o)
	}
	return list
}

func (o object) list(name string) (list []object) {
	rows, _ := o[name].([]any)
	for _, r := range rows {
		list = append(list, r.(map[string]any))
	}
	return list
}

// num is a field that is a number, or a string with one in hexadecimal.
func (o object) num(t testing.TB, name string) uint64 {
	t.Helper()
	switch v := o[name].(type) {
	case float64:
		return uint64(int64(v))
	case string:
		if n, err := strconv.ParseUint(v, 0, 64); err == nil {
			return n
		}
	}
	t.Fatalf("%s is %v in %v", name, o[name], o)
	return 0
}

// first are the fields that entries of sections begin with, and their sizes in bytes; 0 for a pointer.
// Where a list is not named, nothing is compared.
func firstField(b *j9meta.Body, section, list string) (field string, size int) {
	switch section + "/" + list {
	case "J9JITExceptionTable/fields":
		return "", 0 // has no offset in JSON
	case "Inline Info/entries":
		return "methodInfo", b.Layout.PointerSize
	case "Stack Atlas/stack_maps":
		if b.Header.Flags&j9meta.GCMap32BitOffsets != 0 {
			return "lowest_code_offset", 4
		}
		return "lowest_code_offset", 2
	}
	return "", 0
}

// readAt reads a number of the metadata without any decoder.
func readAt(b *j9meta.Body, blob []byte, offset uint64, size int) uint64 {
	switch p := blob[offset:]; size {
	case 2:
		return uint64(b.Layout.Order.Uint16(p))
	case 4:
		return uint64(b.Layout.Order.Uint32(p))
	default:
		return b.Layout.Order.Uint64(p)
	}
}

// rangesOfCode are the ranges of a body without what lies between its
// warm and its cold part.
func rangesOfCode(b *j9meta.Body) (list []j9meta.Range) {
	h := &b.Header
	for _, r := range b.Ranges() {
		warm := r
		warm.End = min(r.End, uint32(h.EndWarmPC-h.StartPC))
		if r.Start < warm.End {
			list = append(list, warm)
		}
		if h.StartColdPC == 0 {
			continue
		}
		if r.Start = max(r.Start, uint32(h.StartColdPC-h.StartPC)); r.Start < r.End {
			list = append(list, r)
		}
	}
	return list
}

// checkShown compares what JSON says of sections with the body and with the bytes at the offsets that
// it names.
func checkShown(t *testing.T, b *j9meta.Body, blob []byte, at uint64, sections []object) {
	t.Helper()
	end := at + uint64(len(blob))
	counts := make(map[string]int)
	for _, s := range sections[:len(b.Sections)] {
		name, _ := s["type"].(string)
		if s.num(t, "offset") != at {
			t.Fatalf("%s is at %v, and not at %#x", name, s["offset"], at)
		}
		at += s.num(t, "size")
		for key := range s {
			rows := s.list(key)
			counts[name+"/"+key] = len(rows)
			field, size := firstField(b, name, key)
			if field == "" {
				continue
			}
			for _, row := range rows {
				offset := row.num(t, "offset")
				if got, want := row.num(t, field), readAt(b, blob, offset, size); got != want {
					t.Fatalf("%s: %s at %#x is shown as %#x, and is %#x", name, field, offset, got, want)
				}
			}
		}
	}
	if at != end {
		t.Fatalf("sections end at %#x of %#x", at, end)
	}
	want := map[string]int{"Inline Info/entries": len(b.Sites)}
	if b.Atlas != nil {
		want["Stack Atlas/stack_maps"] = len(b.Atlas.Maps)
	}
	for key, n := range want {
		if counts[key] != n {
			t.Fatalf("%s: %d are shown, there are %d", key, counts[key], n)
		}
	}
	ranges := rangesOfCode(b)
	if len(ranges) == 0 {
		if len(sections) > len(b.Sections) {
			t.Fatalf("more than sections: %v", sections[len(b.Sections):])
		}
		return
	}
	shown := sections[len(b.Sections)].list("ranges")
	if len(shown) != len(ranges) {
		t.Fatalf("%d ranges are shown, there are %d", len(shown), len(ranges))
	}
	for i, r := range ranges {
		got := shown[i]
		if got.num(t, "start") != uint64(r.Start) || got.num(t, "end") != uint64(r.End) || got.num(t, "addr") != b.Header.StartPC+uint64(r.Start) || (got["own"] == nil) != r.Shared {
			t.Fatalf("range %d is %+v, and is shown as %v", i, r, got)
		}
		stack := b.Stack(nil, r.Info)
		gap := b.Atlas.Maps[r.Map].RegisterMap == j9meta.GapMap && r.Info == (j9meta.ByteCodeInfo{})
		if gap {
			stack = nil
		}
		if (got["kind"] == "gap") != gap {
			t.Fatalf("range %d is %+v, and is shown as %v", i, r, got)
		}
		frames := got.list("stack")
		if len(frames) != len(stack) {
			t.Fatalf("range %d has %v, and is shown with %v", i, stack, frames)
		}
		for n, f := range stack {
			if frames[n].num(t, "method") != f.Method || int(int64(frames[n].num(t, "byteCodeIndex"))) != f.ByteCodeIndex || int(int64(frames[n].num(t, "site"))) != f.Site {
				t.Fatalf("frame %d of range %d is %+v, and is shown as %v", n, i, f, frames[n])
			}
		}
	}
}

// Bodies of all shapes are shown in full, as captures and in jitdumps: every entry with the offset where
// its bytes are.
func TestOpenJ9Made(t *testing.T) {
	t.Chdir(t.TempDir())
	kinds := make(map[string]bool)
	for seed := range uint64(150) {
		b := j9gen.Random(rand.New(rand.NewPCG(seed, 1)), j9gen.Options{GapMaps: j9gen.Choice(seed % 2)})
		blob, err := j9gen.Encode(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range b.Sections {
			kinds[s.Kind.String()] = true
		}
		kinds["cold part"] = kinds["cold part"] || b.Header.StartColdPC != 0
		putCapture(t, "made", b, blob, nil, nil, nil)
		list := objects(t, showtest.Whole(t, "made.bin", show.Options{JSON: true}))
		checkShown(t, b, blob, 0, list[1:])
		header := &jitdump.Header{Order: b.Layout.Order, Version: 1, Machine: uint32(b.Layout.Machine), PID: 100}
		showtest.Put(t, "made.dump", j9Dump(t, header, b, blob, nil, make([]byte, 40), nil))
		list = objects(t, showtest.Whole(t, "made.dump", show.Options{JSON: true}))
		for i, o := range list {
			if o["type"] == "JITINJECT_OPENJ9_METADATA" {
				sections := list[i+1:]
				for n, s := range sections {
					if s["type"] == "JIT_CODE_LOAD" {
						sections = sections[:n]
						break
					}
				}
				checkShown(t, b, blob, sections[0].num(t, "offset"), sections)
				kinds["record"] = true
			}
		}
		showtest.Whole(t, "made.dump", show.Options{Disassemble: true, Hex: true})
	}
	for k := j9meta.ExceptionTable; k <= j9meta.Other; k++ {
		if !kinds[k.String()] {
			t.Errorf("no body with %s was made", k)
		}
	}
	if !kinds["record"] {
		t.Error("no record was shown")
	}
}

// Of metadata that ends early, or is damaged, what is in front of the damage is shown, and where it is.
func TestOpenJ9Damaged(t *testing.T) {
	t.Chdir(t.TempDir())
	b, blob := smallBody(t)
	damagedAt := func(name string) uint64 {
		t.Helper()
		var out bytes.Buffer
		err := showtest.File(&out, name, &show.Options{JSON: true})
		var damaged *show.Damaged
		if !errors.As(err, &damaged) {
			t.Fatalf("%s: %v", name, err)
		}
		list := objects(t, out.String())
		last := list[len(list)-1]
		if last["type"] != "error" {
			t.Fatalf("%v is no error", last)
		}
		return last.num(t, "offset")
	}
	putCapture(t, "cut", b, blob, smallMethods, nil, nil)
	for n := range blob {
		showtest.Put(t, "cut.bin", blob[:n])
		if at := damagedAt("cut.bin"); at > uint64(n) {
			t.Errorf("of %d bytes, the damage is at %d", n, at)
		}
	}
	const numberOfMaps = 0x152 + 16
	bad := bytes.Clone(blob)
	binary.LittleEndian.PutUint16(bad[numberOfMaps:], 6) // one more than there are
	showtest.Put(t, "cut.bin", bad)
	out := showtest.Shown(t, "cut.bin", show.Options{})
	for _, want := range []string{"J9JITExceptionTable size=232", "Exception Info ", "Inline Info ", "numberOfMaps=6", "error "} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		bad := bytes.Clone(blob)
		for range 1 + rng.IntN(3) {
			bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
		}
		showtest.Put(t, "cut.bin", bad)
		showtest.Shown(t, "cut.bin", show.Options{Hex: true})
		showtest.Put(t, "cut.dump", j9Dump(t, x86Header(), b, bad, smallMethods, j9WarmCode, j9ColdCode))
		showtest.Shown(t, "cut.dump", show.Options{Disassemble: true})
	}
}

// FuzzOpenJ9 shows whatever metadata may hold.
func FuzzOpenJ9(f *testing.F) {
	small, blob := smallBody(f)
	f.Add(blob, uint8(0))
	for seed := range uint64(20) {
		b := j9gen.Random(rand.New(rand.NewPCG(seed, 3)), j9gen.Options{})
		made, err := j9gen.Encode(b)
		if err != nil {
			f.Fatal(err)
		}
		way := uint8(0)
		if b.Layout.PointerSize == 4 {
			way |= 1
		}
		if b.Layout.Order == binary.BigEndian {
			way |= 2
		}
		f.Add(made, way)
		f.Add(made, way|4)
	}
	f.Chdir(f.TempDir())
	f.Fuzz(func(t *testing.T, blob []byte, way uint8) {
		if xrayfdr.Looks(blob) {
			return // what begins as a trace is one
		}
		b := *small
		b.Layout = j9meta.Layout{Order: binary.LittleEndian, PointerSize: 8}
		if way&1 != 0 {
			b.Layout.PointerSize = 4
		}
		header := x86Header()
		if way&2 != 0 {
			b.Layout.Order, header.Order = binary.BigEndian, binary.BigEndian
		}
		opts := show.Options{JSON: way&4 != 0}
		// The address of the code that is in the metadata, so that there are marks.
		if at := 5 * b.Layout.PointerSize; len(blob) >= at+b.Layout.PointerSize {
			b.Header.StartPC = max(readAt(&b, blob, uint64(at), b.Layout.PointerSize), 1) // 0 is none
		}
		putCapture(t, "fuzzed", &b, blob, smallMethods, j9WarmCode, nil)
		showtest.Put(t, "fuzzed.dump", j9Dump(t, header, &b, blob, smallMethods, j9WarmCode, nil))
		for _, name := range []string{"fuzzed.bin", "fuzzed.dump"} {
			var out bytes.Buffer
			if err := showtest.File(showtest.Limited{Out: &out}, name, &opts); err != nil && out.Len() == 0 {
				t.Fatal(err)
			}
			for line := range bytes.Lines(out.Bytes()) {
				if opts.JSON && out.Len() <= 256<<10 && !json.Valid(line) {
					t.Fatalf("no JSON: %q", line)
				}
			}
		}
	})
}

// What chooses works on entries of captures: which code they are about, and of which methods.
func TestOpenJ9Filter(t *testing.T) {
	t.Chdir(t.TempDir())
	b, blob := smallBody(t)
	putCapture(t, "small", b, blob, smallMethods, j9WarmCode, j9ColdCode)
	showtest.Put(t, "jit-100.dump", j9Dump(t, x86Header(), b, blob, smallMethods, j9WarmCode, j9ColdCode))
	address := func(at uint64) show.Filter {
		return show.Filter{Address: show.Range{Set: true, First: at, Last: at}}
	}
	name := func(part string) show.Filter { return show.Filter{Names: []show.Name{{Part: part}}} }
	typ := func(s string) show.Filter {
		parsed, err := show.ParseType(s, display.Formats())
		if err != nil {
			t.Fatal(err)
		}
		return show.Filter{Types: []string{parsed}}
	}
	for _, test := range []struct {
		file   string
		filter show.Filter
		want   string // types, and how many rows of each
	}{
		{"small.bin", show.Filter{}, "file methods J9JITExceptionTable:1 Exception_Info Inline_Info:2 Stack_Atlas:5 Other Inline_Stacks:5"},
		{"small.bin", address(j9Start + 0xd), "file Stack_Atlas:1 Inline_Stacks:1"},
		{"small.bin", address(j9Cold), "file Stack_Atlas:1 Inline_Stacks:1"},
		{"small.bin", address(1), ""},
		{"small.bin", name("charAt"), "file Inline_Info:1 Stack_Atlas:3 Inline_Stacks:3"},
		{"small.bin", name("unloaded"), "file Inline_Info:1 Stack_Atlas:1 Inline_Stacks:1"},
		{"small.bin", name("nobody"), ""},
		{"small.bin", typ("inline stacks"), "file Inline_Stacks:5"},
		{"small.bin", typ("exception_info"), "file Exception_Info"},
		{"small.bin", typ("methods"), "file methods"},
		{"small.bin", show.Filter{PIDs: []uint32{101}}, ""},
		{"small.bin", show.Filter{PIDs: []uint32{100}, Types: []string{"Other"}}, "file Other"},
		{"small.bin", show.Filter{Time: show.Range{Set: true, First: 3000, Last: 4000}}, ""},
		{"jit-100.dump", typ("openj9_metadata"), "file JITINJECT_OPENJ9_METADATA JITINJECT_OPENJ9_METADATA"},
		{"jit-100.dump", address(j9Cold + 1), "file JITINJECT_OPENJ9_METADATA Stack_Atlas:1 Inline_Stacks:1 JIT_CODE_LOAD"},
		{"jit-100.dump", name("nobody"), ""},
	} {
		var got []string
		for _, o := range objects(t, showtest.Shown(t, test.file, show.Options{JSON: true, Filter: test.filter})) {
			typ := strings.ReplaceAll(o["type"].(string), " ", "_")
			rows := 0
			for key := range o {
				if key != "methods" && key != "sections" {
					rows += len(o.list(key))
				}
			}
			if rows > 0 {
				typ += fmt.Sprintf(":%d", rows)
			}
			got = append(got, typ)
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s, %+v:\n%s\nand not\n%s", test.file, test.filter, s, test.want)
		}
	}
}

// What is made up to be as deep everywhere as it has sites is not shown frame by frame for ever.
func TestOpenJ9Deep(t *testing.T) {
	if testing.Short() {
		testrec.Skip(t, "takes seconds")
	}
	t.Chdir(t.TempDir())
	const n = 2048
	b, _ := smallBody(t)
	b.Sections, b.Sites, b.Atlas.Maps = nil, nil, nil
	for i := range n {
		b.Sites = append(b.Sites, j9meta.InlinedSite{Method: j9CharAt, Info: j9meta.ByteCodeInfo{CallerIndex: i - 1}, Monitors: []byte{0}})
		b.Atlas.Maps = append(b.Atlas.Maps, j9meta.StackMap{Low: uint32(i), Info: j9meta.ByteCodeInfo{CallerIndex: n - 1, DoNotProfile: true}, Shared: true})
	}
	b.Header.StartColdPC, b.Header.EndWarmPC, b.Header.EndPC = 0, j9Start+n, j9Start+n
	j9gen.Lay(b)
	blob, err := j9gen.Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	putCapture(t, "deep", b, blob, nil, nil, nil)
	frames, more := 0, 0
	for _, o := range objects(t, showtest.Whole(t, "deep.bin", show.Options{JSON: true})) {
		for _, r := range o.list("ranges") {
			frames += len(r.list("stack"))
			if r["more"] != nil {
				more += int(r.num(t, "more"))
			}
		}
	}
	if frames > 256*n || frames+more != n*(n+1) {
		t.Errorf("%d frames are shown and %d counted, of %d", frames, more, n*(n+1))
	}
}
