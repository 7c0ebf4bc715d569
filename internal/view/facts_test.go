package view_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/tier"
	"github.com/jitinject/jitinject/internal/view"
)

func TestViewFacts_WholeRecording(t *testing.T) {
	doc := dataOf(t, write(t, small(), view.Options{Base: before()}))
	var got []string
	for _, fact := range doc.Facts {
		got = append(got, fact.Label+": "+fact.Text)
	}
	want := []string{
		"Command: perf record -g -F 4000 node --perf-prof server.js",
		"File: perf.data",
		"Recorded: Mon Nov 24 10:15:00 2026, 0.119 s from the first to the last sample",
		"Machine: build-7, AMD EPYC 9654, x86_64",
		"Kernel: Linux 6.12.30",
		"Recorder: perf 6.12",
		"Events: cycles:u, page-faults, at most 4,000 samples a second on each CPU",
		"Samples: 120 in 2 threads and 1 process",
		"Lost: 3 samples, because the kernel's buffer was full",
		"Resolved: 95.8% of samples are in a known function; 95.8% have known functions in all frames",
		"Compared with: 100 samples, old.data",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got facts\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got, want := doc.Warnings, small().Recording.Warnings; !reflect.DeepEqual(got, want) {
		t.Errorf("got warnings %q, want %q", got, want)
	}
}

// A known function may have an unknown caller.
func TestViewFacts_UnknownCallers(t *testing.T) {
	b := newBuilder()
	b.sample(999, 0, 0, native("main"), native("f"))
	b.sample(1, 0, 0, call{}, native("f"))
	doc := dataOf(t, write(t, &b.Profile, view.Options{}))
	want := "100% of samples are in a known function; 99.9% have known functions in all frames"
	if got := doc.Facts[len(doc.Facts)-1].Text; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestViewFacts_ShareNearAll(t *testing.T) {
	b := newBuilder()
	b.sample(9999, 0, 0, native("f"))
	b.sample(1, 0, 0, call{})
	doc := dataOf(t, write(t, &b.Profile, view.Options{}))
	want := "more than 99.9% of samples are in a known function; more than 99.9% have known functions in all frames"
	if got := doc.Facts[len(doc.Facts)-1].Text; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// spans returns the lines of a source, as FIRST-LAST.
func spans(doc document, i int) (list []string) {
	for _, part := range doc.Sources[i].Parts {
		list = append(list, fmt.Sprintf("%d-%d", part.First, part.First+len(part.Lines)-1))
	}
	return list
}

func TestViewSources_LinesAroundSamples(t *testing.T) {
	b := newBuilder()
	f := func(name string, start, at int) call {
		c := jitted(name, tier.Optimized, start, at)
		c.File = "/app/big.js"
		return c
	}
	b.sample(1, 0, 0, f("first", 3, 5))
	b.sample(1, 0, 0, f("long", 100, 150))  // from its start
	b.sample(1, 0, 0, f("near", 160, 170))  // in the same part
	b.sample(1, 0, 0, f("huge", 200, 2000)) // begins too far away
	b.sample(1, 0, 0, f("last", 2995, 3000))
	b.stack(f("never", 1000, 1001))
	b.sample(1, 0, 0, f("beyond", 4000, 4001))
	text := []byte(strings.Repeat("line\n", 3000))
	doc := dataOf(t, write(t, &b.Profile, view.Options{Sources: func(string) ([]byte, error) { return text, nil }}))
	want := []string{"1-20", "85-185", "1985-2015", "2980-3000"}
	if got := spans(doc, 0); !reflect.DeepEqual(got, want) {
		t.Errorf("got lines %s, want %s", got, want)
	}
}

func TestViewSources_MissingAndOther(t *testing.T) {
	b := newBuilder()
	for i, file := range []string{"/a", "/b", "/c"} {
		c := jitted("f"+file, tier.Optimized, 1, 50)
		c.File = file
		b.sample(10-i, 0, 0, c)
	}
	var asked []string
	doc := dataOf(t, write(t, &b.Profile, view.Options{Sources: func(path string) ([]byte, error) {
		asked = append(asked, path)
		switch path {
		case "/a":
			return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("permission denied")}
		case "/b":
			return []byte("one line\n"), nil
		}
		return serverSource(), nil
	}}))
	if want := []string{"/a", "/b", "/c"}; !reflect.DeepEqual(asked, want) {
		t.Errorf("got calls for %q, want %q", asked, want)
	}
	if got, want := doc.Sources[0].Why, "permission denied"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := doc.Sources[1].Why, "the file has fewer lines: it is not the one that was compiled"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := spans(doc, 2), []string{"1-65"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got lines %s, want %s", got, want)
	}
	if want := []string{"The source of 2 files was not available."}; !reflect.DeepEqual(doc.Notes, want) {
		t.Errorf("got notes %q, want %q", doc.Notes, want)
	}
}

func TestViewSources_Limit(t *testing.T) {
	b := newBuilder()
	for i, file := range []string{"/small", "/large", "/tiny"} {
		c := jitted("f"+file, tier.Optimized, 1, 1)
		c.File = file
		b.sample(10-i, 0, 0, c)
	}
	sizes := map[string]int{"/small": 10, "/large": 200, "/tiny": 5}
	doc := dataOf(t, write(t, &b.Profile, view.Options{SourceLimit: 100, Sources: func(path string) ([]byte, error) {
		return []byte(strings.Repeat("x", sizes[path])), nil
	}}))
	for i, want := range []bool{true, false, true} {
		if got := len(doc.Sources[i].Parts) > 0; got != want {
			t.Errorf("source %d: got text %t, want %t", i, got, want)
		}
	}
	if want := []string{"The page has at most 100 bytes of source text: 1 file is left out."}; !reflect.DeepEqual(doc.Notes, want) {
		t.Errorf("got notes %q, want %q", doc.Notes, want)
	}
}

// Large files that are not shown are not all read, because they may be one file.
func TestViewSources_ManyLarge(t *testing.T) {
	b := newBuilder()
	for i := range 100 {
		c := jitted("f", tier.Optimized, 1, 1)
		c.File = fmt.Sprint("/large", i)
		b.sample(1, 0, 0, c)
	}
	calls := 0
	doc := dataOf(t, write(t, &b.Profile, view.Options{SourceLimit: 100, Sources: func(string) ([]byte, error) {
		calls++
		return []byte(strings.Repeat("x", 1000)), nil
	}}))
	if want := []string{"The page has at most 100 bytes of source text: 100 files are left out."}; calls > 10 || !reflect.DeepEqual(doc.Notes, want) {
		t.Errorf("got %d files read and notes %q, want at most 10 and %q", calls, doc.Notes, want)
	}
}

func TestViewSources_LongAndInvisible(t *testing.T) {
	b := newBuilder()
	b.sample(1, 0, 0, jitted("f", tier.Optimized, 1, 1))
	text := []byte("\tx\x00y\u202e\r\n" + strings.Repeat("z", 1<<20) + "\n\xff")
	doc := dataOf(t, write(t, &b.Profile, view.Options{Sources: func(string) ([]byte, error) { return text, nil }}))
	want := []string{"\tx\ufffdy\ufffd", strings.Repeat("z", 500) + "…", "\ufffd"}
	if got := doc.Sources[0].Parts[0].Lines; !reflect.DeepEqual(got, want) {
		t.Errorf("got lines %q, want %q", got, want)
	}
}

// Sources are often copied with a recording. The longest end of a path counts.
func TestViewSources_BesideResult(t *testing.T) {
	b := newBuilder()
	for i, file := range []string{"/src/../src/a.js", "/src/lib/b.js", "/src/none.js", "/other/b.js"} {
		c := jitted("f"+file, tier.Optimized, 1, 1)
		c.File = file
		b.sample(10-i, 0, 0, c)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "lib"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.js": "the first", "b.js": "another b", "lib/b.js": "the second"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	doc := dataOf(t, write(t, &b.Profile, view.Options{Sources: safefile.ReadSource, Beside: dir}))
	for i, want := range []string{"the first", "the second", "", ""} {
		got := ""
		if len(doc.Sources[i].Parts) > 0 {
			got = doc.Sources[i].Parts[0].Lines[0]
		}
		if got != want {
			t.Errorf("file %d: got %q; want %q", i, got, want)
		}
	}
	if got, want := doc.Sources[2].Why, "there is no such file"; got != want {
		t.Errorf("got %q; want %q", got, want)
	}
	if want := "The source of /src/lib/b.js is that of " + filepath.Join(dir, "lib", "b.js") + ", beside the result, because it cannot be read at its own path."; !slices.Contains(doc.Notes, want) {
		t.Errorf("got notes %q; want %q", doc.Notes, want)
	}
}
