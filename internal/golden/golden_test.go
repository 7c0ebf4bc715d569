package golden

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/testrec"
)

var update = flag.Bool("update", false, "write testdata/results.txt anew")

var list, _ = filepath.Abs("testdata/results.txt")

// A layout is a way to inject. change adds its options.
type layout struct {
	name   string
	change func(*inject.Options)
}

var layouts = []layout{
	{"default", func(*inject.Options) {}},
	{"bundle", func(o *inject.Options) { o.Bundle = true }},
	{"sampled", func(o *inject.Options) { o.Sampled = true }},
	{"sampled-bundle", func(o *inject.Options) { o.Sampled, o.Bundle = true, true }},
	{"cfi", func(o *inject.Options) { o.CFI, o.DWARF = inject.CFIAlways, 4 }},
	{"sources", func(o *inject.Options) { o.Sources, o.EmbedSources = "/proc/self/cwd/sources", true }},
	{"packed", func(o *inject.Options) { o.Compress = 3 }},
	{"stream", nil},
}

// TestResults_AsListed runs every layout of every recording and compares hashes. With -short, it runs
// the first two, in turns.
func TestResults_AsListed(t *testing.T) {
	var got []string
	for i, name := range recordings(t) {
		tried := layouts
		if testing.Short() && !*update {
			tried = layouts[i%2 : i%2+1]
		}
		dir := testrec.Unpack(t, name)
		inputs, err := filepath.Glob(filepath.Join(dir, "*.data*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, input := range inputs {
			for _, l := range tried {
				got = append(got, name+"/"+filepath.Base(input)+" "+l.name+" "+result(t, dir, filepath.Base(input), l))
			}
		}
	}
	text := strings.Join(got, "\n") + "\n"
	if *update {
		if err := os.WriteFile(list, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, got, strings.Split(strings.TrimSpace(string(want)), "\n"))
}

// compare reports lines that differ.
func compare(t *testing.T, got, want []string) {
	key := func(line string) string { return strings.Join(strings.Fields(line)[:2], " ") }
	for _, line := range got {
		i := slices.IndexFunc(want, func(w string) bool { return key(w) == key(line) })
		if i < 0 {
			t.Errorf("got %s, which is not in %s", line, list)
		} else if want[i] != line {
			t.Errorf("got %s\nwant %s", line, want[i])
		}
	}
	if len(got) != len(want) && !testing.Short() {
		t.Errorf("got %d results, want %d", len(got), len(want))
	}
}

// recordings returns the names of all recordings with a perf.data.
func recordings(t *testing.T) (names []string) {
	paths, err := filepath.Glob(testrec.Path("recordings", "*.tar.zst"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, path := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(path), ".tar.zst"))
	}
	return names
}

// result injects and returns the hashes of what came out, or the error. No path of the
// directory stands in it: the run sees its working directory as /proc/self/cwd.
func result(t *testing.T, dir, input string, l layout) string {
	t.Chdir(dir)
	const cwd = "/proc/self/cwd"
	opts := inject.Options{
		Input: input, Output: "result", Objects: cwd + "/objects", DumpDirs: []string{cwd},
		SideFiles: slices.Concat(named(t, inject.KindMono, "*.mlpd"), named(t, inject.KindXRay, "xray-log.*")),
		CodeFrom:  files(t, "*.core"), Programs: files(t, "calls"),
		Producer: "jitinject",
	}
	opts.SideFiles = append(opts.SideFiles, named(t, inject.KindV8Log, "v8.log")...)
	if l.change != nil {
		l.change(&opts)
	} else {
		defer stream(t, &opts)()
	}
	sum, err := inject.Run(t.Context(), opts)
	if err != nil {
		return "error " + short([]byte(strings.ReplaceAll(err.Error(), dir, "DIR")))
	}
	if opts.Stdout != nil {
		opts.Stdout.Close()
	}
	defer clear(t, "objects", "sources", "result", "result.old")
	return hashTree(t, "objects", "sources") + " " + hashTree(t, "result") + " " + short(stable(t, sum, dir))
}

// stream makes the input a pipe, and the output standard output.
func stream(t *testing.T, opts *inject.Options) (stop func()) {
	in, err := os.Open(opts.Input)
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create("result")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		io.Copy(w, in)
		w.Close()
		in.Close()
	}()
	opts.Input, opts.Output, opts.Stdin, opts.Stdout = "-", "-", r, out
	return func() { r.Close(); out.Close() }
}

// named returns the files of the working directory that match as side files of a kind.
func named(t *testing.T, kind, pattern string) (named []inject.SideFile) {
	for _, path := range files(t, pattern) {
		named = append(named, inject.SideFile{Kind: kind, Path: path})
	}
	return named
}

// files returns the files of the working directory that match.
func files(t *testing.T, pattern string) []string {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func clear(t *testing.T, names ...string) {
	for _, name := range names {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
}

// hashTree hashes the names and contents of all files of trees.
func hashTree(t *testing.T, roots ...string) string {
	h := sha256.New()
	for _, root := range roots {
		if _, err := os.Stat(root); err != nil {
			continue
		}
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, ".index") {
				return err
			}
			data, err := os.ReadFile(path)
			fmt.Fprintf(h, "%s %d\n", path, len(data))
			h.Write(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:16]
}

func short(data []byte) string {
	sum := sha256.Sum256(data)
	return fmt.Sprintf("%x", sum)[:16]
}

// stable returns the JSON form of a summary without times.
func stable(t *testing.T, sum *inject.Summary, dir string) []byte {
	sum.Elapsed = 0
	data, err := json.Marshal(sum)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(data, []byte(dir), []byte("DIR"))
}
