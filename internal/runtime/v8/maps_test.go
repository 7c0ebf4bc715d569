package v8

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/sourcemap"
	"github.com/jitinject/jitinject/internal/format/v8log"
)

// comment returns the URL of an escaped text's map, or "none".
func comment(t testing.TB, text string) string {
	t.Helper()
	span, ok, err := mapComment(strings.NewReader("log,"+text+"\n"), v8log.Span{Off: 4, Size: int64(len(text))})
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return "none"
	}
	return ("log," + text)[span.Off : span.Off+span.Size]
}

func TestMapComment_Places(t *testing.T) {
	long := strings.Repeat("A", 100<<10)
	for text, want := range map[string]string{
		`f()\n//# sourceMappingURL=x.js.map`:                                     "x.js.map",
		`f()\n//# sourceMappingURL=x.js.map\n`:                                   "x.js.map",
		`f()\x0d\n//# sourceMappingURL=x.js.map\x0d\n\x0d\n`:                     "x.js.map",
		`f()\n//@ sourceMappingURL=x.js.map  \n\n`:                               "x.js.map",
		`f();//# sourceMappingURL=x.js.map`:                                      "x.js.map",
		`f()\n/*# sourceMappingURL=x.js.map */`:                                  "x.js.map",
		`f()\n//# sourceMappingURL=a\n//# sourceMappingURL=b\n`:                  "b",
		`f()\n//# sourceMappingURL=a\n//# sourceURL=b\n// more\n`:                "a",
		`f()\n//# sourceMappingURL=data:application/json;base64\x2C` + long:      `data:application/json;base64\x2C` + long,
		`f()\n//# sourceMappingURL=g\xf6\u20ac.map`:                              `g\xf6\u20ac.map`,
		`//# sourceMappingURL=a`:                                                 "a",
		`f()\n//# sourceMappingURL=a\nf()\n`:                                     "none",
		`f()\n//# sourceMappingURL=`:                                             "none",
		`f()\n// sourceMappingURL=a`:                                             "none",
		`write("\\n//# sourceMappingURL=" + name)`:                               "none",
		`write('//# sourceMappingURL=a')`:                                        "none",
		`s = "\\\\n"\n//# sourceMappingURL=a`:                                    "a",
		`s = 1 //# sourceMappingURL=a\\n`:                                        `a\\n`,
		``:                                                                       "none",
		`\n\n\n`:                                                                 "none",
		strings.Repeat(`f()\n`, 9999) + `//# sourceMappingURL=a`:                 "a",
		`//# sourceMappingURL=a\n` + strings.Repeat(`// a comment\n`, 9999):      "a",
		`//# sourceMappingURL=a\nf()\n` + strings.Repeat(`// a comment\n`, 9999): "none",
	} {
		if got := comment(t, text); got != want {
			t.Errorf("%.80q: got %.80q; want %.80q", text, got, want)
		}
	}
}

// Base64 in a file is read at any offset, as if it was decoded.
func TestBase64At_AnyOffset(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	want := make([]byte, 5*8192)
	for i := range want {
		want[i] = byte(random.Uint32())
	}
	for _, size := range []int{0, 1, 2, 3, 4, 100, len(want)} {
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding} {
			text := encoding.EncodeToString(want[:size])
			r, n, err := newBase64(strings.NewReader("ab"+text+"\n"), v8log.Span{Off: 2, Size: int64(len(text))})
			if err != nil || n != int64(size) {
				t.Fatalf("%d bytes: got size %d, %v", size, n, err)
			}
			for range 50 {
				off := random.IntN(size + 1)
				got := make([]byte, random.IntN(size-off+1))
				if n, err := r.ReadAt(got, int64(off)); n < len(got) || !bytes.Equal(got, want[off:off+n]) {
					t.Fatalf("%d bytes at %d of %d: got %d, %v", len(got), off, size, n, err)
				}
			}
			if n, err := r.ReadAt(make([]byte, 9), int64(size)); n != 0 || err != io.EOF {
				t.Errorf("at the end of %d bytes: got %d, %v; want EOF", size, n, err)
			}
		}
	}
}

func TestDataOf_Forms(t *testing.T) {
	for url, want := range map[string]string{
		`data:application/json;base64\x2CeyJhIjoxfQ==`:               `{"a":1}`,
		`data:application/json;charset=utf-8;base64,eyJhIjoxfQ`:      `{"a":1}`,
		`data:application/json;charset=utf-8\x2C%7B%22a%22%3A\x2C1}`: `{"a":,1}`,
		`DATA:,{}`:              `{}`,
		`data:application/json`: errDataURL.Error(),
		`data:,%zz`:             errDataURL.Error(),
		`data:;base64,A`:        errDataURL.Error(),
		`data:;base64,A!AA`:     errDataURL.Error(),
	} {
		if !isData([]byte(url)) {
			t.Errorf("%s: got no URL of type data", url)
		}
		r, size, err := dataOf(strings.NewReader(url), v8log.Span{Size: int64(len(url))}, []byte(url))
		got := make([]byte, size)
		if err == nil {
			_, err = r.ReadAt(got, 0)
		}
		if err != nil && err != io.EOF {
			got = []byte(err.Error())
		}
		if string(got) != want {
			t.Errorf("%s: got %q; want %q", url, got, want)
		}
	}
}

func TestMapPath_URLs(t *testing.T) {
	for _, c := range []struct{ script, ref, want string }{
		{"/app/dist/x.js", "x.js.map", "/app/dist/x.js.map"},
		{"/app/dist/x.js", "../maps/a%20b.map?v=1#top", "/app/maps/a b.map"},
		{"/app/dist/x.js", "/maps/x.map", "/maps/x.map"},
		{"file:///app/x%C3%BC.mjs", "x.map", "/app/x.map"},
		{"file:///app/x.mjs", "file:///maps/%C3%BC.map", "/maps/ü.map"},
		{"/app/x.js", "../../../etc/passwd", "/etc/passwd"},
		{"/app/x.js", "https://host/x.map", "it is at https://host/x.map, which is no local file"},
		{"https://host/x.js", "x.map", "its script is in no file"},
		{"evalmachine.<anonymous>", "x.map", "its script is in no file"},
		{"node:fs", "x.map", "its script is in no file"},
	} {
		got, err := mapPath(c.script, c.ref)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s of %s: got %q; want %q", c.ref, c.script, got, c.want)
		}
	}
}

func TestOriginalName_URLs(t *testing.T) {
	for _, c := range []struct{ ref, base, want string }{
		{"../src/a.ts", "/app/dist/x.js.map", "/app/src/a.ts"},
		{"../src/a%20%C3%BC.ts", "file:///app/dist/x.mjs", "/app/src/a ü.ts"},
		{"/abs/./a.ts", "/app/x.map", "/abs/a.ts"},
		{"../../../../a.ts", "/app/x.map", "/a.ts"},
		{"file:///src/a%20b.ts", "/app/x.map", "/src/a b.ts"},
		{"webpack://pkg/./src/a.ts", "/app/x.map", "webpack://pkg/./src/a.ts"},
		{"a.ts", "https://host/dist/x.js", "https://host/dist/a.ts"},
		{"/a.ts", "https://host/dist/x.js", "https://host/a.ts"},
		{"../src/a.ts", "https://host/dist/x.js?v=1/2", "https://host/src/a.ts"},
		{"../../a.ts", "https://host", "https://host/a.ts"},
		{"//cdn/a.ts", "https://host/dist/x.js", "https://cdn/a.ts"},
		{"a.ts", "data:text/plain,x", "a.ts"},
		{"a.ts", "data:text/javascript,fetch('https://host/x')", "a.ts"},
		{"../a.ts", "blob:https://host/0f6c", "../a.ts"},
		{"a.ts", "evalmachine.<anonymous>", "a.ts"},
		{"", "/app/x.map", ""},
	} {
		if got := originalName(c.ref, c.base); got != c.want {
			t.Errorf("%s of %s: got %q; want %q", c.ref, c.base, got, c.want)
		}
	}
}

func TestIdentifierBefore_Forms(t *testing.T) {
	for _, c := range []struct {
		text, name string
		want       int // or -1
	}{
		{"function a", "a", 1}, {"function a ", "a", 2}, {"function*a", "a", 1}, {"async a", "a", 1},
		{"let a=", "a", 2}, {"let a = ", "a", 4}, {"a=async", "a", 7}, {"a=function", "a", 10}, {"a = async function*", "a", 19},
		{"x={a:function", "a", 10}, {"x={a: ", "a", 3}, {"x={a:async", "a", 7}, {"{static async a", "a", 1}, {"{get a", "a", 1}, {"{#a", "#a", 2},
		{"let a=(", "a", 3}, {"let 😀𝒳=", "𝒳", 3},
		{"let ba=", "a", -1}, {"a+", "a", -1}, {"return ", "a", -1}, {"", "a", -1}, {"a", "", -1}, {"a b", "a b", -1},
	} {
		got, ok := identifierBefore(c.text, c.name)
		if !ok {
			got = -1
		}
		if got != c.want {
			t.Errorf("%q, %q: got %d; want %d", c.text, c.name, got, c.want)
		}
	}
	for text, want := range map[string]int{"var r=class n{constructor": 13, "class n extends m{x;y;constructor": 27, "class nn{constructor": -1, "class n{": -1, "subclass n{constructor": -1} {
		got, ok := classBefore(text, "n")
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: got %d; want %d", text, got, want)
		}
	}
}

// The text before a start is that of its line, and of a bounded length.
func TestStartFinder_Lines(t *testing.T) {
	text := "one\u2028two\n\u00fc😀three" + strings.Repeat("x", 9*maxBeforeStart) + "end"
	f := &startFinder{starts: []start{{unit: 0}, {unit: 2}, {unit: 6}, {unit: 8}, {unit: 11}, {unit: int32(16 + 9*maxBeforeStart)}}}
	all := f.starts
	if err := v8log.WriteText(f, strings.NewReader(escaped(text)), v8log.Span{Size: int64(len(escaped(text)))}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "on", "tw", "", "ü😀", strings.Repeat("x", maxBeforeStart)} {
		if got := all[i].before; got != want {
			t.Errorf("start %d: got %q; want %q", all[i].unit, got, want)
		}
	}
}

// escaped returns a text as in logs.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		}
	}
	return b.String()
}

// Whatever a script names as its map, reading it ends, with an error or a map.
func FuzzScriptMap(f *testing.F) {
	f.Add([]byte(`f()\n//# sourceMappingURL=data:application/json;base64\x2CeyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImEiXSwibWFwcGluZ3MiOiJBQUFBIn0=`))
	f.Add([]byte(`f()\n//# sourceMappingURL=data:,{"version":3,"sources":["a"],"names":["n"],"mappings":"AAAAA"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		src := bytes.NewReader(text)
		url, ok, err := mapComment(src, v8log.Span{Size: int64(len(text))})
		if err != nil {
			t.Fatal(err)
		}
		raw := text[url.Off : url.Off+url.Size]
		if !ok || !isData(raw) {
			return
		}
		r, size, err := dataOf(src, url, raw)
		if err != nil {
			return
		}
		if m, err := sourcemap.Read(r, size); err == nil {
			m.Find(1, 1)
		}
	})
}
