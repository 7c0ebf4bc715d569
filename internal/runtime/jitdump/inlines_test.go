package jitdump_test

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/jitdump"
)

// inlined is a record for a function of 0x30 bytes: middle is called at 3:4 in
// outer, inner at 11:5 in middle, in two parts.
func inlined(t testing.TB) *jitdump.DebugInfo2 {
	t.Helper()
	var b jitdump.InlineBuilder
	b.Function("outer", "a.toy", 1, 0, 0)
	middle := b.Inline(jitdump.Outer, b.Function("middle", "a.toy", 10, 3, 0), 3, 4)
	inner := b.Inline(middle, b.Function("inner", "b.toy", 20, jitdump.NoColumn, 0), 11, 5)
	b.At(0, jitdump.Outer, 2, 0)
	b.At(8, middle, 11, 4)
	b.At(0xc, inner, 21, jitdump.NoColumn)
	b.At(0x10, middle, 12, 0)
	b.At(0x18, inner, 22, 7)
	b.At(0x20, jitdump.Outer, 4, 0)
	info, err := b.Record(0x30)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

var inlinedLines = []jitcode.Line{
	{Offset: 0, File: 0, Line: 2, Column: 1}, {Offset: 8, File: 0, Line: 11, Column: 5}, {Offset: 0xc, File: 1, Line: 21},
	{Offset: 0x10, File: 0, Line: 12, Column: 1}, {Offset: 0x18, File: 1, Line: 22, Column: 8}, {Offset: 0x20, File: 0, Line: 4, Column: 1},
}

func checkInlined(t *testing.T, fn *jitcode.Function) {
	t.Helper()
	want := &jitcode.Function{
		Files: []string{"a.toy", "b.toy"},
		Lines: inlinedLines,
		Origins: []jitcode.Origin{
			{Name: []byte("outer"), File: 0, Line: 1, Column: 1}, {Name: []byte("middle"), File: 0, Line: 10, Column: 4}, {Name: []byte("inner"), File: 1, Line: 20},
		},
		Inlines: []jitcode.Inline{
			{Parent: -1, Origin: 1, Line: 3, Column: 5, First: 0, Last: 1}, {Parent: 0, Origin: 2, Line: 11, Column: 6, First: 1, Last: 3},
		},
		Ranges: []jitcode.Range{{Offset: 8, Size: 0x18}, {Offset: 0xc, Size: 4}, {Offset: 0x18, Size: 8}},
	}
	for _, c := range []struct {
		what      string
		got, want any
	}{{"files", fn.Files, want.Files}, {"lines", fn.Lines, want.Lines}, {"origins", fn.Origins, want.Origins}, {"inlines", fn.Inlines, want.Inlines}, {"ranges", fn.Ranges, want.Ranges}} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s are\n%+v, want\n%+v", c.what, c.got, c.want)
		}
	}
}

// The record describes the load behind it, and one without is counted.
func TestInlineTree_LoadBehindIt(t *testing.T) {
	b := newDump(t, x86)
	b.add(inlined(t))
	b.load("outer", 0x1000, 0x30)
	b.load("other", 0x2000, 0x30)
	b.add(inlined(t)) // no load comes
	d := b.scan()
	fn, err := d.Reader().Function(0)
	if err != nil {
		t.Fatal(err)
	}
	checkInlined(t, fn)
	if fn, err = d.Reader().Function(1); err != nil || len(fn.Lines)+len(fn.Inlines)+len(fn.Origins) > 0 {
		t.Errorf("the function behind has %+v, %v", fn, err)
	}
	if d.Orphans() != 1 || d.Unknown != 0 {
		t.Errorf("%d orphans, %d unknown", d.Orphans(), d.Unknown)
	}
}

// A reader keeps nothing of a function for the next one.
func TestInlineTree_ReaderReused(t *testing.T) {
	b := newDump(t, x86)
	for i := range uint64(3) {
		b.add(inlined(t))
		b.load("outer", 0x1000*i+0x1000, 0x30)
		b.load("plain", 0x1000*i+0x1800, 0x30)
	}
	r := b.scan().Reader()
	for i := range 3 {
		fn, err := r.Function(2 * i)
		if err != nil {
			t.Fatal(err)
		}
		checkInlined(t, fn)
		if fn, err := r.Function(2*i + 1); err != nil || len(fn.Inlines) > 0 || len(fn.Files) > 0 {
			t.Errorf("got %+v, %v; want no error, no inlines, no files", fn, err)
		}
	}
}

// A broken tree costs the tree. Its lines count if the lists can be told apart,
// else those of a plain debug record do.
func TestInlineTree_Broken(t *testing.T) {
	for _, test := range []struct {
		name  string
		rec   func() jitdump.Record
		want  string
		lines []jitcode.Line
	}{
		{"depth", func() jitdump.Record { i := inlined(t); i.Calls[1].Depth = 2; return i }, "depth", inlinedLines},
		{"code size", func() jitdump.Record { i := inlined(t); i.Ranges[0].Size = 0x100; return i }, "beyond the 0x30 bytes", inlinedLines},
		{"file of a line", func() jitdump.Record { i := inlined(t); i.Lines[2].File = 9; return i }, "is 9 in a list of 2 files",
			[]jitcode.Line{inlinedLines[0], inlinedLines[1], {Offset: 0xc}, inlinedLines[3], inlinedLines[4], inlinedLines[5]}},
		{"no line", func() jitdump.Record { i := inlined(t); i.Lines, i.Ranges[0].Start = nil, 99; return i }, "beyond the 0x30 bytes", []jitcode.Line{{Offset: 4, File: 2, Line: 1}}},
		{"counts", func() jitdump.Record {
			return &jitdump.Unknown{ID: jitdump.IDDebugInfo2, Body: bytes.Repeat([]byte{0xff}, 40)}
		}, "file_list", []jitcode.Line{{Offset: 4, Line: 1}}},
	} {
		b := newDump(t, x86)
		b.debug(0x1000, "plain.js", 4)
		b.add(test.rec())
		b.load("outer", 0x1000, 0x30)
		d := b.scan()
		r := d.Reader()
		fn, err := r.Function(0)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(fn.Lines, test.lines) {
			t.Errorf("%s: lines %+v, want %+v", test.name, fn.Lines, test.lines)
		}
		if broken := test.name != "file of a line"; broken != (len(fn.Inlines) == 0) {
			t.Errorf("%s: inlines %+v", test.name, fn.Inlines)
		}
		if len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Text, test.want) {
			t.Errorf("%s: problems %v, want %q", test.name, r.Problems, test.want)
		}
	}
}

// changedTree is the record of inlined, with changes of its counts and bytes.
func changedTree(t testing.TB, change func(body []byte) []byte) jitdump.Record {
	t.Helper()
	b := newDump(t, x86)
	b.add(inlined(t))
	return &jitdump.Unknown{ID: jitdump.IDDebugInfo2, Body: change(bytes.Clone(b.out.Bytes()[40+16:]))}
}

// A wrong count costs the tree. The lines stay if the lists are where they should be all the same:
// the lists of strings have sizes. The message says which of the two is lost.
func TestInlineTree_WrongCounts(t *testing.T) {
	const linesStay, allLost = "left without inlined calls", "is left out, with its lines and inlined calls"
	for name, test := range map[string]struct {
		count, by int // number of a count in the record, and its change
		want      string
	}{
		"file_count too large":               {0, 1, linesStay},
		"file_count too small":               {0, -1, linesStay},
		"function_names_count too large":     {2, 2, linesStay}, // the padding has one more
		"function_names_count too small":     {2, -1, linesStay},
		"file_list_size too small":           {1, -4, allLost},
		"file_list_size too large":           {1, 4, allLost},
		"function_names_list_size too large": {3, 4, allLost},
		"function_count too large":           {4, 1, allLost},
		"function_count too small":           {4, -1, allLost},
		"inline_call_record_count too large": {5, 1, allLost},
		"inline_call_record_count too small": {5, -1, allLost},
		"range_count too large":              {6, 1, allLost},
		"range_count too small":              {6, -1, allLost},
		"line_record_count too large":        {7, 1, allLost},
	} {
		b := newDump(t, x86)
		b.add(changedTree(t, func(body []byte) []byte {
			le := binary.LittleEndian
			le.PutUint32(body[4*test.count:], le.Uint32(body[4*test.count:])+uint32(test.by))
			return body
		}))
		b.load("outer", 0x1000, 0x30)
		r := b.scan().Reader()
		fn, err := r.Function(0)
		if err != nil {
			t.Fatal(err)
		}
		if stay := test.want == linesStay; stay != reflect.DeepEqual(fn.Lines, inlinedLines) || !stay && len(fn.Lines) > 0 || len(fn.Inlines) > 0 {
			t.Errorf("%s: lines %+v, inlined calls %+v", name, fn.Lines, fn.Inlines)
		}
		if len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Text, test.want) {
			t.Errorf("%s: problems %v, want %q", name, r.Problems, test.want)
		}
	}
}

// Bytes after the lists are ignored if the lists are right.
func TestInlineTree_BytesAfterLists(t *testing.T) {
	for _, extra := range []string{"\x00", "\x00\x00\x00\x00\x00\x00\x00", "something else"} {
		b := newDump(t, x86)
		b.add(changedTree(t, func(body []byte) []byte { return append(body, extra...) }))
		b.load("outer", 0x1000, 0x30)
		r := b.scan().Reader()
		fn, err := r.Function(0)
		if err != nil {
			t.Fatal(err)
		}
		checkInlined(t, fn)
		if len(r.Problems) > 0 {
			t.Errorf("%q: problems %v", extra, r.Problems)
		}
	}
}

// A record after its load is not about the next one. Names may be spelled differently otherwise.
func TestInlineTree_AfterItsLoad(t *testing.T) {
	for next, used := range map[string]bool{"g": false, "JS:*outer": true, "outer": true} {
		b := newDump(t, x86)
		b.load("outer", 0x1000, 0x30)
		b.add(inlined(t))
		b.load(next, 0x2000, 0x30)
		r := b.scan().Reader()
		fn, err := r.Function(1)
		if err != nil {
			t.Fatal(err)
		}
		if (len(fn.Lines) > 0) != used || (len(fn.Inlines) > 0) != used || (len(r.Problems) == 0) != used {
			t.Errorf("%s: %d lines, %d inlined calls, problems %v; want some: %v", next, len(fn.Lines), len(fn.Inlines), r.Problems, used)
		}
	}
}

// Of several records of one name before a load, the last counts, whether that is the load's name or
// not. The others are without a load.
func TestInlineTree_LastOfSeveral(t *testing.T) {
	in := func(name, file string) *jitdump.DebugInfo2 {
		i := inlined(t)
		i.Names[0], i.Files[0] = []byte(name), []byte(file)
		return i
	}
	b := newDump(t, x86)
	b.add(in("f", "old.c"))
	b.add(in("f", "older.c"))
	b.add(in("f", "new.c"))
	b.load("f", 0x1000, 0x30)
	b.load("f", 0x2000, 0x30) // has none
	b.add(in("spelled::f", "old.c"))
	b.add(in("spelled::f", "new.c"))
	b.load("f", 0x3000, 0x30)
	b.add(in("f", "old.c")) // threads: g's record waits
	b.add(in("g", "g.c"))
	b.add(in("f", "new.c"))
	b.load("f", 0x4000, 0x30)
	b.load("g", 0x5000, 0x30)
	d := b.scan()
	r := d.Reader()
	for i, want := range []string{"new.c", "", "new.c", "new.c", "g.c"} {
		fn, err := r.Function(i)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(fn.Files[:min(1, len(fn.Files))], ""); got != want {
			t.Errorf("function %d is in %q, want %q", i, got, want)
		}
	}
	if d.Orphans() != 4 || len(d.Problems) != 0 || fixes(d)["interleaved-trees"] != 2 {
		t.Errorf("%d records without a function, want 4; problems %v; %v", d.Orphans(), d.Problems, fixes(d))
	}
}

// A source file holds for the functions behind it, up to the next of its name.
func TestSources_ForFunctionsBehind(t *testing.T) {
	b := newDump(t, x86)
	fn := func() {
		b.debug(0x1000, "file:///dir/a.js", 0)
		b.load("f", 0x1000, 8)
	}
	fn()
	b.add(jitdump.NewEmbeddedSource("/dir/a.js", []byte("one")))
	fn()
	b.add(jitdump.NewEmbeddedSource("b.js", []byte("other")))
	fn()
	b.add(jitdump.NewEmbeddedSource("/dir/a.js", []byte("two")))
	fn()
	d := b.scan()
	r := d.Reader()
	embedded := func() (got []string) {
		for i := range 4 {
			fn, err := r.Function(i)
			if err != nil || len(fn.Files) != 1 || len(fn.Sources) != 1 {
				t.Fatalf("got %+v, %v; want no error, 1 file, 1 text", fn, err)
			}
			got = append(got, fn.Files[0]+"="+fn.Sources[0])
		}
		return got
	}
	if got, want := embedded(), []string{"/dir/a.js=", "/dir/a.js=one", "/dir/a.js=one", "/dir/a.js=two"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	d.PlaceSource(0, "dir/a.js")
	d.PlaceSource(2, "@1/dir/a.js")
	if got, want := embedded(), []string{"/dir/a.js=", "dir/a.js=one", "dir/a.js=one", "@1/dir/a.js=two"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	all := d.Sources()
	if len(all) != 3 || all[1].Name != "b.js" || all[2].Function != 3 || all[2].Size != 3 {
		t.Errorf("sources %+v", all)
	}
	if text, err := d.SourceText(1); err != nil || string(text) != "other" {
		t.Errorf(`got %q, %v; want no error, text = "other"`, text, err)
	}
}

// Threads that write into each other's records are told apart by names.
func TestInlineTree_InterleavedThreads(t *testing.T) {
	named := func(name string) *jitdump.DebugInfo2 {
		i := inlined(t)
		i.Names[0] = []byte(name)
		return i
	}
	b := newDump(t, x86)
	b.add(named("first"))
	b.add(named("second"))
	b.load("second", 0x2000, 0x30)
	b.load("first", 0x1000, 0x30)
	b.add(named("lost"))
	b.add(named("third"))
	b.load("third", 0x3000, 0x30)
	b.load("stub", 0x4000, 0x30) // not what "lost" is about
	b.add(named("one"))
	b.add(named("other"))
	b.load("neither", 0x5000, 0x30)
	b.add(named("clean"))
	b.load("JS:*clean", 0x6000, 0x30)
	d := b.scan()
	r := d.Reader()
	for i, want := range []string{"second", "first", "third", "", "", "clean"} {
		fn, err := r.Function(i)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(fn.Origins) > 0 {
			got = string(fn.Origins[0].Name)
		}
		if got != want {
			t.Errorf("%s has the tree of %q, want %q", fn.Name, got, want)
		}
	}
	if len(d.Problems) != 2 || !strings.Contains(d.Problems[1].Text, "2 records of inlined calls, from offset") {
		t.Errorf("problems %v", d.Problems)
	}
}

// A move, a tier or a source file between a tree and its load changes nothing.
func TestInlineTree_RecordsBetweenItAndLoad(t *testing.T) {
	for _, rec := range []jitdump.Record{
		&jitdump.Unknown{ID: jitdump.IDTier, Body: []byte{1, 2, 3}}, &jitdump.Unknown{ID: jitdump.IDEmbeddedSource, Body: []byte{1}},
		&jitdump.EmbeddedSource{Name: []byte("a\nb")}, &jitdump.Unknown{ID: jitdump.IDMove, Body: []byte{1}}, &jitdump.Unknown{ID: 77},
	} {
		b := newDump(t, x86)
		b.add(inlined(t))
		b.add(rec)
		b.load("outer", 0x1000, 0x30)
		fn, err := b.scan().Reader().Function(0)
		if err != nil {
			t.Fatal(err)
		}
		checkInlined(t, fn)
	}
}

// Columns that tools cannot tell are none.
func TestInlineTree_LargeColumns(t *testing.T) {
	info := inlined(t)
	info.Lines[1].Column = 65535
	info.Lines[3].Column = 65534
	b := newDump(t, x86)
	b.add(info)
	b.load("outer", 0x1000, 0x30)
	b.entries(0x2000, jitdump.DebugEntry{Addr: 0x2000, Line: 1, Discrim: 99999, Name: []byte("a.js")}, jitdump.DebugEntry{Addr: 0x2004, Line: 1, Discrim: 65535, Name: []byte("a.js")})
	b.load("plain", 0x2000, 0x30)
	r := b.scan().Reader()
	fn, err := r.Function(0)
	if err != nil || fn.Lines[1].Column != 0 || fn.Lines[3].Column != 65535 {
		t.Errorf("got %+v, %v; want no error, fn.Lines[1].Column = 0, fn.Lines[3].Column = 65535", fn.Lines, err)
	}
	if fn, err = r.Function(1); err != nil || fn.Lines[0].Column != 0 || fn.Lines[1].Column != 65535 {
		t.Errorf("got %+v, %v; want no error, fn.Lines[0].Column = 0, fn.Lines[1].Column = 65535", fn.Lines, err)
	}
}
