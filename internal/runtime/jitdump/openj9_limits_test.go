package jitdump_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
	"github.com/jitinject/jitinject/jitdump"
)

// j9Many is a body with n methods, each of which is inlined once. A name of the i-th is
// pad and a few characters, so that a few strings make many names.
func j9Many(t *testing.T, n int, pad string, lines []jitdump.JavaLine) (*j9meta.Body, []jitdump.JavaMethod) {
	t.Helper()
	body := j9Body(t)
	body.Header.EndWarmPC, body.Header.EndPC = 0x1000+0x8000, 0x1000+0x8000
	body.Sites, body.Atlas.Maps = nil, nil
	var methods []jitdump.JavaMethod
	part := func(kind string, i int) []byte { return []byte(kind + pad + fmt.Sprint(i)) }
	for i := range n {
		address := 0x2000 + 0x10*uint64(i)
		body.Sites = append(body.Sites, j9meta.InlinedSite{Method: address, Info: j9meta.ByteCodeInfo{CallerIndex: -1, ByteCodeIndex: i}, Monitors: []byte{0}})
		body.Atlas.Maps = append(body.Atlas.Maps, j9meta.StackMap{Low: uint32(i), Shared: i > 0, Info: j9meta.ByteCodeInfo{CallerIndex: i, DoNotProfile: i > 0}, Bits: bits(i)})
		methods = append(methods, jitdump.JavaMethod{Method: address, Class: part("c", i%16), Name: part("n", i/16%16), Signature: part("s", i/256), Lines: lines})
	}
	j9gen.Lay(body)
	return body, methods
}

// Names are much longer than the strings that they are made of, and still told apart.
func TestJ9Record_LongNames(t *testing.T) {
	for _, lines := range [][]jitdump.JavaLine{nil, {{ByteCodeIndex: 0, Line: 7}}} {
		body, methods := j9Many(t, j9meta.MaxCallerIndex, strings.Repeat("ä", 32000), lines)
		rec := j9Record(t, body, methods, 0x1000)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		fn, problems, d := oneJ9(t, rec, 0x1000, 0x8000)
		runtime.ReadMemStats(&after)
		if all := (after.TotalAlloc - before.TotalAlloc) >> 20; all > 600 { // 3,000 where names are whole
			t.Errorf("%d MiB were allocated", all)
		}
		if len(problems) > 0 || len(fn.Inlines) != len(methods) {
			t.Fatalf("%d inlined calls, problems %v", len(fn.Inlines), problems)
		}
		total, names := 0, make(map[string]bool)
		for i, o := range fn.Origins {
			total += len(o.Name)
			names[string(o.Name)] = true
			if !utf8.Valid(o.Name) || i > 0 && len(o.Name) < 150 {
				t.Fatalf("a name is %q", o.Name)
			}
		}
		for _, f := range fn.Files {
			total += len(f)
			if !utf8.ValidString(f) || lines == nil && len(f) > 250 {
				t.Fatalf("a file is %q", f)
			}
		}
		if len(names) != len(fn.Origins) || total > 5<<20 {
			t.Errorf("%d functions have %d names; with files %d bytes", len(fn.Origins), len(names), total)
		}
		for i, text := range fn.Sources {
			if !utf8.ValidString(text) {
				t.Errorf("the text of %s is not in UTF-8", fn.Files[i])
			}
		}
		if want := 1 + len(methods); lines == nil && (len(fn.Files) != want || len(d.Sources()) == 0) {
			t.Errorf("%d files, %d sources; there are %d methods", len(fn.Files), len(d.Sources()), want)
		}
	}
}

// Overloads whose names differ late are told apart in a listing, and no character is cut.
func TestJ9Listing_LongNames(t *testing.T) {
	for size := 480; size < 490; size++ {
		body := j9Body(t)
		for i := range body.Sites {
			body.Sites[i].Method, body.Sites[i].Info.CallerIndex, body.Sites[i].Info.ByteCodeIndex = 0x200+uint64(i), -1, 5
		}
		methods := []jitdump.JavaMethod{{Method: 0x100, Class: []byte("p/A"), Name: []byte("outer")}}
		for i := range body.Sites {
			methods = append(methods, jitdump.JavaMethod{
				Method: 0x200 + uint64(i), Class: []byte("p/B"), Name: []byte(strings.Repeat("x", size) + strings.Repeat("世", 10)),
				Signature: []byte([]string{"(I)V", "(J)V", "(D)V"}[i]),
			})
		}
		fn, problems, _ := oneJ9(t, j9Record(t, body, methods, 0x1000), 0x1000, 0x40)
		if len(problems) > 0 {
			t.Fatalf("got %+v; want no problems", problems)
		}
		shown := make(map[string]bool)
		for i, text := range fn.Sources {
			if !utf8.ValidString(text) || strings.Contains(text, "\ufffd") {
				t.Errorf("%s: got %q; want utf8.ValidString(text), one without \"\\ufffd\"", fn.Files[i], text)
			}
			if _, calls, ok := strings.Cut(text, "inlines "); ok {
				for _, name := range strings.Split(strings.TrimSpace(strings.Split(calls, "\n")[0]), ", ") {
					shown[name] = true
				}
			}
		}
		if len(shown) != 3 {
			t.Errorf("names of %d and more bytes: %d of 3 are told apart: %v", size, len(shown), shown)
		}
	}
}

// A function with calls in more pieces than any record has is left without them, and without lines.
func TestJ9Record_TooManyRanges(t *testing.T) {
	body := j9Body(t)
	body.Header.EndWarmPC, body.Header.EndPC = 0x1000+0x8000, 0x1000+0x8000
	body.Sites, body.Atlas.Maps = nil, nil
	for i := range 512 { // two chains of 256
		body.Sites = append(body.Sites, j9meta.InlinedSite{Method: 0x2000 + uint64(i%2)*16, Info: j9meta.ByteCodeInfo{CallerIndex: i - 1, ByteCodeIndex: i}, Monitors: []byte{0}})
	}
	body.Sites[256].Info.CallerIndex = -1
	for i := range 0x7f00 {
		body.Atlas.Maps = append(body.Atlas.Maps, j9meta.StackMap{Low: uint32(i), Shared: i > 0, Info: j9meta.ByteCodeInfo{CallerIndex: 255 + 256*(i%2), ByteCodeIndex: i, DoNotProfile: i > 0}, Bits: bits(i)})
	}
	j9gen.Lay(body)
	fn, problems, _ := oneJ9(t, j9Record(t, body, nil, 0x1000), 0x1000, 0x8000)
	if len(fn.Inlines) != 0 || len(problems) != 1 {
		t.Fatalf("%d inlined calls, problems %v", len(fn.Inlines), problems)
	}
	text := problems[0].Text
	if !strings.Contains(text, "maps at offset 0x") || !strings.Contains(text, "more than 1048576 ranges") || strings.Contains(text, jitdump.IDDebugInfo2.String()) {
		t.Errorf(`got %+v; want one with "maps at offset 0x", one with "more than 1048576 ranges", one without %q`, text, jitdump.IDDebugInfo2.String())
	}
}
