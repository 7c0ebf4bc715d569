package v8

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/format/v8log"
)

func TestScriptPath_URLs(t *testing.T) {
	for url, want := range map[string]string{
		"/app/main.js":                    "",
		"relative/main.js":                "",
		"file:///app/main.mjs":            "",
		"node:fs":                         "node/fs.js",
		"node:fs/promises":                "node/fs/promises.js",
		"node:internal/deps/undici/a.mjs": "node/internal/deps/undici/a.mjs",
		"ext:core/01_core.js":             "ext/core/01_core.js",
		"https://a.example:8443/x.js?v=1": "https/a.example_8443/x.js?v=1",
		"blob:null/a-b":                   "blob/null/a-b",
		"evalmachine.<anonymous>":         "",
		"[eval]":                          "",
		"c:1.js":                          "", // one letter is no scheme
		"dir/a:b.js":                      "",
		"<unknown>":                       "eval.js",
		"":                                "eval.js",
	} {
		if got := (&script{url: url}).path(); got != want {
			t.Errorf("%q: got %q; want %q", url, got, want)
		}
	}
}

// isolateLog is the log of an isolate with scripts, by URL and text. Each has an optimized function
// at its start, with its place in the file.
func isolateLog(scripts ...[3]string) string {
	b := new(strings.Builder)
	b.WriteString("v8-version,11,3,244,8,-node.38,0\n")
	for i, s := range scripts {
		fmt.Fprintf(b, "script-source,%d,%s,%s\n", i+1, s[0], s[1])
		fmt.Fprintf(b, "code-creation,JS,13,%d,%#x,64,f %s:%s,%#x,*\n", i, 0x1000*(i+1), s[0], s[2], 0x5000+i)
		fmt.Fprintf(b, "code-source-info,%#x,%d,0,1,C0O0,,\n", 0x1000*(i+1), i+1)
	}
	return b.String()
}

// textsOf returns the texts of a dump with logs: name and text, and the number of each script.
func textsOf(t *testing.T, logs ...string) (texts []string, numbers []int32) {
	t.Helper()
	g := new(target)
	for _, log := range logs {
		wanted := make(map[place]int)
		for i := range 100 {
			wanted[place{uint64(0x1000 * i), 64}] = 1
		}
		x, err := readIndex(context.Background(), strings.NewReader(log), "v8.log", wanted)
		if err != nil || x.damaged > 0 {
			t.Fatalf("got %v and damage %v; want none", err, x.damage)
		}
		g.indexes = append(g.indexes, x)
	}
	for _, d := range g.texts() {
		var b bytes.Buffer
		if err := d.Text(&b); err != nil {
			t.Fatal(err)
		}
		if b.Len() < d.Size {
			t.Errorf("%s: got %d bytes; want %d or more", d.Name, b.Len(), d.Size)
		}
		texts = append(texts, d.Name+"|"+b.String())
	}
	for _, x := range g.indexes {
		for i := range x.scripts {
			numbers = append(numbers, x.scripts[i].number)
		}
	}
	return texts, numbers
}

// Isolates share the text of a script. Different texts of one name stay apart.
func TestTexts_SeveralIsolates(t *testing.T) {
	texts, numbers := textsOf(t,
		isolateLog([3]string{"node:fs", `a\n`, "1:1"}, [3]string{"<unknown>", "b", "1:1"}, [3]string{"<unknown>", "c", "1:1"}),
		isolateLog([3]string{"<unknown>", "c", "1:1"}, [3]string{"node:fs", `a\n`, "1:1"})+isolateLog([3]string{"node:fs", "other", "1:1"}))
	if want := []string{"node:fs|a\n", "<unknown>|b", "<unknown>|c", "node:fs|other"}; !slices.Equal(texts, want) {
		t.Errorf("got texts %q; want %q", texts, want)
	}
	if want := []int32{0, 1, 2, 2, 0, 3}; !slices.Equal(numbers, want) {
		t.Errorf("got numbers %v; want %v", numbers, want)
	}
}

// The text of a script in a page is at the lines of the page. If the page cannot be, it is left
// out.
func TestTexts_ScriptsInPages(t *testing.T) {
	texts, numbers := textsOf(t, isolateLog(
		[3]string{"http://h/p.html", `f()\n`, "3:9"}, [3]string{"http://h/p.html", `f()\n`, "5:2"}, [3]string{"http://h/q.html", "f()", "1:1"},
		[3]string{"http://h/r.html", "f()", "4000000000:1"}))
	want := []string{"http://h/p.html|\n\n        f()\n", "http://h/p.html|\n\n\n\n f()\n", "http://h/q.html|f()"}
	if !slices.Equal(texts, want) {
		t.Errorf("got texts %q; want %q", texts, want)
	}
	if want := []int32{0, 1, 2, unknown}; !slices.Equal(numbers, want) {
		t.Errorf("got numbers %v; want %v", numbers, want)
	}
}

// Evaluated code that no function refers to would fill a directory for nothing.
func TestTexts_UnusedCode(t *testing.T) {
	log := isolateLog([3]string{"<unknown>", "used", "1:1"}) + "script-source,7,<unknown>,unused\nscript-source,8,evalmachine.<anonymous>,named\n"
	texts, _ := textsOf(t, log)
	if want := []string{"<unknown>|used", "evalmachine.<anonymous>|named"}; !slices.Equal(texts, want) {
		t.Errorf("got texts %q; want %q", texts, want)
	}
}

// Texts of the sample are those of V8's log, read by another decoder.
func TestTexts_Sample(t *testing.T) {
	log, dump := sample(t, "sources")
	g, x, _ := pairLog(t, log, dump)
	describe(t, g, &config.Options{EmbedSources: true})
	sources := dump.Sources()
	if got, want := len(sources), 7; got != want {
		t.Fatalf("got %d sources; want %d", got, want)
	}
	for i := range x.scripts {
		s := &x.scripts[i]
		want := string(v8log.AppendText(nil, log[s.text.Off:s.text.Off+s.text.Size]))
		got, err := dump.SourceText(int(s.number))
		if err != nil || string(got) != want {
			t.Errorf("%s: got %d bytes, %v; want %d", s.url, len(got), err, len(want))
		}
	}
	r := dump.Reader()
	evaluated := make(map[string]int)
	for i := range dump.NumFunctions() {
		fn, err := r.Function(i)
		if err != nil {
			t.Fatal(err)
		}
		if len(fn.Sources) != len(fn.Files) {
			t.Fatalf("%s: got %d texts; want %d", fn.Name, len(fn.Sources), len(fn.Files))
		}
		if fn.Files[0] == "<unknown>" {
			evaluated[fn.Sources[0]]++
		}
	}
	if len(evaluated) != 3 {
		t.Errorf("got %d texts of evaluated code; want 3", len(evaluated))
	}
}

// A log that cannot be read again costs the text, with the log's name.
func TestTexts_UnreadableLog(t *testing.T) {
	x := &index{name: "v8.log", src: strings.NewReader("")}
	err := x.text(&script{text: v8log.Span{Off: 4, Size: 9}})(io.Discard)
	if err == nil || !strings.HasPrefix(err.Error(), "v8.log: offset 0x4: ") {
		t.Errorf("got %v; want an error of v8.log at offset 0x4", err)
	}
	x.src = strings.NewReader("text of a script")
	if err := x.text(&script{text: v8log.Span{Size: 9}})(failing{}); err == nil || err.Error() != "no room" {
		t.Errorf("got %v; want the writer's error", err)
	}
}

// failing is a writer on a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, fmt.Errorf("no room") }
