package view_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/tier"
	"github.com/jitinject/jitinject/internal/view"
)

// A document is the data of a page, as its script reads it.
type document struct {
	Title   string
	Texts   []string
	Runs    []run
	Sources []struct {
		File  int
		Why   string
		Parts []struct {
			First int
			Lines []string
		}
	}
	Facts           []struct{ Label, Text string }
	Warnings, Notes []string
}

type run struct {
	Events    []string
	Functions struct{ Name, Object, File, Line, Kind []int }
	Nodes     struct{ Up, Function, Line []int }
	Samples   struct {
		Node, Thread, Event, Count []int
		Period                     []uint64
	}
}

func write(t *testing.T, p *profile.Profile, o view.Options) string {
	t.Helper()
	var page bytes.Buffer
	if err := view.Write(&page, p, o); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// dataOf returns the page's data: what a browser takes for the element's text.
func dataOf(t *testing.T, page string) (doc document) {
	t.Helper()
	_, after, ok := strings.Cut(page, `<script type="application/json" id="data">`)
	text, _, hasEnd := strings.Cut(after, "</script")
	if !ok || !hasEnd {
		t.Fatal("got a page without data")
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// stacks returns the lines FRAME;FRAME COUNT of a run, with a + after inlined frames.
func (r run) stacks(doc document) (list []string) {
	var path, paths []string
	depth := -1
	for i, up := range r.Nodes.Up {
		depth += 1 - up
		f := r.Nodes.Function[i]
		name := doc.Texts[r.Functions.Name[f/2]]
		if f%2 == 1 {
			name += "+"
		}
		path = append(path[:depth], fmt.Sprintf("%s:%d", name, r.Nodes.Line[i]))
		paths = append(paths, strings.Join(path, ";"))
	}
	node := 0
	for i, difference := range r.Samples.Node {
		node += difference
		list = append(list, fmt.Sprintf("%s %d", paths[node], r.Samples.Count[i]))
	}
	return list
}

func TestViewData_StacksAndSums(t *testing.T) {
	b := newBuilder()
	main, f := native("main"), jitted("f", tier.Optimized, 10, 12)
	b.sample(2, 0, 0, main, f)
	// The same function of another object, and another instruction of the same line.
	again := f
	again.Object = "jitted-100-2.so"
	b.sample(3, 0, 0, main, again)
	f.at = 13
	b.sample(1, 0, 0, main, f, inlined(jitted("g", tier.Optimized, 20, 21)))
	b.Samples = append(b.Samples, profile.Sample{Period: 7, Stack: -1})
	doc := dataOf(t, write(t, &b.Profile, view.Options{}))
	got := doc.Runs[0].stacks(doc)
	want := []string{"main:0;f:12 5", "main:0;f:13;g+:21 1", "[no stack]:0 1"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got stacks %q, want %q", got, want)
	}
	if got, want := doc.Runs[0].Samples.Period, []uint64{5000, 1000, 7}; !reflect.DeepEqual(got, want) {
		t.Errorf("got periods %d, want %d", got, want)
	}
}

func TestViewData_Kinds(t *testing.T) {
	b := newBuilder()
	for by := tier.Unknown; by <= tier.Stub; by++ {
		b.sample(1, 0, 0, jitted(fmt.Sprint("tier", uint8(by)), by, 1, 1))
	}
	b.sample(1, 0, 0, native("n"))
	b.sample(1, 0, 0, call{Function: profile.Function{Name: "k", Kind: profile.Kernel}})
	b.sample(1, 0, 0, call{})
	doc := dataOf(t, write(t, &b.Profile, view.Options{}))
	if got, want := doc.Runs[0].Functions.Kind[:9], []int{3, 4, 5, 6, 7, 8, 2, 1, 0}; !reflect.DeepEqual(got, want) {
		t.Errorf("got kinds %d, want %d", got, want)
	}
}

func TestView_EmptyProfile(t *testing.T) {
	doc := dataOf(t, write(t, &profile.Profile{}, view.Options{Base: &profile.Profile{}}))
	if doc.Title != "profile" || len(doc.Runs) != 2 {
		t.Errorf("got title %q and %d runs, want \"profile\" and 2", doc.Title, len(doc.Runs))
	}
}

// failing is a writer that is full.
type failing struct{}

var errFull = errors.New("the disk is full")

func (failing) Write([]byte) (int, error) { return 0, errFull }

func TestView_FullDisk(t *testing.T) {
	if err := view.Write(failing{}, small(), view.Options{}); !errors.Is(err, errFull) {
		t.Errorf("got error %v, want %v", err, errFull)
	}
}

func TestView_SameBytesEachTime(t *testing.T) {
	o := view.Options{Base: before(), Sources: func(string) ([]byte, error) { return serverSource(), nil }}
	first := write(t, large(2000), o)
	for range 5 {
		if write(t, large(2000), o) != first {
			t.Fatal("got another page for the same profile, want the same")
		}
	}
}

// hostileNames are names that would do something in HTML, JSON, JavaScript, a template or a terminal.
func hostileNames() []string {
	return []string{
		`</script><script>alert("script")</script>`, `<img src=x onerror=alert(1)>`, `"><svg onload=alert(2)>`,
		`'-alert(3)-'`, "`${alert(4)}`", `javascript:alert(5)`, `<!--<script>`, `-->`, `]]>`, `&lt;b&gt;&amp;`,
		"line\u2028separator\u2029paragraph", "nul\x00 bell\a escape\x1b[31m", "\u202egnp.exe", "bad\xff\xfeutf", `\u003c/script>`,
		"{{data}}", "{{script}}", "$&$1", "__proto__", "constructor", "toString", "hasOwnProperty", "", " ", "[unknown]",
		strings.Repeat("A<", 32<<10), strings.Repeat("é", 40<<10), strings.Repeat("::x", 2000),
	}
}

// hostile has hostile names everywhere.
func hostile() *profile.Profile {
	b := newBuilder()
	b.Events, b.Threads = nil, nil
	for i, name := range hostileNames() {
		b.Events = append(b.Events, name)
		b.Threads = append(b.Threads, profile.Thread{PID: uint32(i), TID: uint32(i), Process: name, Name: name})
	}
	outer := native("main")
	for i, name := range hostileNames() {
		f := call{Function: profile.Function{Name: name, Symbol: name, Object: name, File: name, Line: 1, Kind: profile.JIT}, at: 2}
		b.sample(1+i, i, 0, outer, f, inlined(f))
		outer = f
	}
	h := hostileNames()
	b.Recording = profile.Recording{Path: h[0], Command: h[1], Host: h[2], CPU: h[3], Kernel: h[4], Arch: h[5], Date: h[10], Perf: h[11], Warnings: h}
	return &b.Profile
}

// hostileSource has hostile lines.
func hostileSource(path string) ([]byte, error) {
	if len(path)%2 == 0 {
		return nil, errors.New("no file " + path)
	}
	return []byte(strings.Join(hostileNames(), "\n")), nil
}

func TestView_HostileNames(t *testing.T) {
	o := view.Options{Title: hostileNames()[0], Base: hostile(), Sources: hostileSource}
	page := write(t, hostile(), o)
	for word, want := range map[string]int{"<script": 2, "</script": 2, "<img": 0, "<svg": 0, "<!--": 0, "\u2028": 0, "\x00": 0, "\x1b": 0, "\u202e": 0} {
		if got := strings.Count(strings.ToLower(page), word); got != want {
			t.Errorf("got %q %d times, want %d", word, got, want)
		}
	}
	doc := dataOf(t, page)
	for _, name := range hostileNames()[:4] {
		if !strings.Contains(strings.Join(doc.Texts, "\n"), name) {
			t.Errorf("got no text %q, want it as it is", name)
		}
	}
	for _, text := range doc.Texts {
		if len(text) > 5000 {
			t.Errorf("got a text of %d bytes, want it cut", len(text))
		}
	}
	if max := 400_000; len(page) > max {
		t.Errorf("got a page of %d bytes, want at most %d", len(page), max)
	}
}

// Texts that are cut to the same still are different functions.
func TestViewData_LongNamesDiffer(t *testing.T) {
	b := newBuilder()
	b.sample(1, 0, 0, native(strings.Repeat("x", 10_000)+"a"))
	b.sample(1, 0, 0, native(strings.Repeat("x", 10_000)+"b"))
	doc := dataOf(t, write(t, &b.Profile, view.Options{}))
	if names := doc.Runs[0].Functions.Name; names[0] == names[1] {
		t.Error("got one name, want two")
	}
}

// A page is small: it is sent by mail and attached to issues.
func TestView_Size(t *testing.T) {
	empty := len(write(t, &profile.Profile{}, view.Options{}))
	if empty > 80_000 {
		t.Errorf("got %d bytes without a profile, want at most 80,000", empty)
	}
	for _, frames := range []int{1000, 10_000, 50_000} {
		p := large(frames)
		size := len(write(t, p, view.Options{})) - empty
		// The names of 3,000 functions are 200 kB.
		if most := 250_000 + 20*frames; size > most {
			t.Errorf("got %d bytes of data for %d stacks, want at most %d", size, len(p.Stacks), most)
		}
	}
}

func TestViewPage_Budget(t *testing.T) {
	files, err := fs.Glob(os.DirFS("page"), "*")
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join("page", name))
		if err != nil {
			t.Fatal(err)
		}
		total += bytes.Count(text, []byte("\n"))
		for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "http:", "https:", "import("} {
			if bytes.Contains(text, []byte(word)) {
				t.Errorf("%s: got %q, want texts as text nodes and nothing from elsewhere", name, word)
			}
		}
	}
	if total > 1200 {
		t.Errorf("got %d lines of page/, want at most 1,200", total)
	}
}
