package engine_test

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Source maps of scripts in V8's logs. The sample is a bundle of two TypeScript files in one line of
// code, with renamed functions. Its map is beside it (node 20) or inside it (node 25).

const (
	mapData    = "../format/sourcemap/testdata/"
	bundlePath = "/tmp/v8log-mapped/src/" // of the original files, as the map says
)

// placeMapped is placeSample for a mapped sample, with the map beside the recording.
func placeMapped(t *testing.T, sample string) (dir string) {
	dir = placeSample(t, sample, "isolate-0x27989f80-8649-v8.log")
	if b, err := os.ReadFile(mapData + "bundle.js.map"); err != nil || os.WriteFile(filepath.Join(dir, "bundle.js.map"), b, 0o600) != nil {
		t.Fatal(err)
	}
	return dir
}

// A truth has the original places of the bundle's columns, by another decoder.
type truth []struct {
	column uint32
	testrec.Frame
}

// readTruth reads the places of line 1, the whole bundle.
func readTruth(t *testing.T) (all truth) {
	t.Helper()
	b, err := os.ReadFile(mapData + "bundle.js.truth")
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(string(b)) {
		var line, column uint32
		var f testrec.Frame
		fields := strings.Split(strings.TrimSpace(row), "\t")
		fmt.Sscan(fields[0]+" "+fields[1], &line, &column)
		if line == 1 && len(fields) > 3 {
			f.File = strings.Replace(fields[2], "../src/", bundlePath, 1)
			fmt.Sscan(fields[3]+" "+fields[4], &f.Line, &f.Column)
			all = append(all, struct {
				column uint32
				testrec.Frame
			}{column, f})
		}
	}
	return all
}

// of returns the original of a frame of the bundle. Names are those of the sources.
func (all truth) of(f testrec.Frame) testrec.Frame {
	if f.Line == 0 {
		return testrec.Frame{Function: f.Function} // unknown
	}
	i := slices.IndexFunc(all, func(e struct {
		column uint32
		testrec.Frame
	}) bool {
		return e.column > f.Column
	})
	if i < 0 {
		i = len(all)
	}
	original := all[i-1].Frame
	original.Function = f.Function
	names := map[string]string{"m": "advance", "o": "limit", "s": "simulate"}
	if name, ok := names[f.Function]; ok {
		original.Function = name
	}
	if f.Function == "n" && f.Column < 50 { // the constructor; its fields' initializer has the name, too, and no identifier
		original.Function = "_Vec"
	}
	return original
}

// wholeCode returns the addresses of the code bytes of an object, each or every few.
func wholeCode(t *testing.T, path string, every int) (addrs []uint64) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	for addr := text.Addr; addr < text.Addr+text.Size; addr += uint64(every) {
		addrs = append(addrs, addr)
	}
	return addrs
}

// At each byte of the code, the frames with maps are those without them, translated by another
// decoder of the map.
func TestV8Maps_AsOtherDecoder(t *testing.T) {
	all := readTruth(t)
	for _, sample := range []string{"mapped-node20", "mapped-node25"} {
		dir := placeMapped(t, sample)
		runLog(t, dir, "plain", nil)
		sum := runLog(t, dir, "mapped", func(o *config.Options) { o.SourceMaps = true })
		if len(sum.Problems) > 0 {
			t.Errorf("%s: got problems %v; want none", sample, sum.Problems)
		}
		runLog(t, dir, "bundled", func(o *config.Options) { o.SourceMaps, o.Bundle = true, true })
		for _, symbol := range []string{"JS:*s /tmp/v8log-mapped/dist/bundle.js:1:309", "JS:*'s /tmp/v8log-mapped/inline/bundle.js:1:309"} {
			got, want := inlinedCalls(t, filepath.Join(dir, "bundled"), symbol), inlinedCalls(t, filepath.Join(dir, "mapped"), symbol)
			if slices.Sort(got); !slices.Equal(got, sortedCopy(want)) {
				t.Errorf("%s: in a bundle, got calls %q; want %q", sample, got, want)
			}
		}
		tools := testrec.Symbolizers(t)
		llvm := tools[2]
		inlined, files := 0, make(map[string]int)
		for _, plain := range objectPaths(t, filepath.Join(dir, "plain")) {
			object := filepath.Join(dir, "mapped", filepath.Base(plain))
			addrs := wholeCode(t, plain, 3)
			var want [][]testrec.Frame
			for _, stack := range llvm.Stacks(t, plain, addrs) {
				for i := range stack {
					stack[i] = all.of(stack[i])
					files[stack[i].File]++
				}
				inlined += len(stack) - 1
				want = append(want, stack)
			}
			for _, s := range tools {
				bad := 0
				for i, got := range s.Stacks(t, object, addrs) {
					want := slices.Clone(want[i])
					for k := range got {
						if got[k].Line == 0 {
							got[k].File = "" // tools differ
						}
					}
					for k := range want {
						if !s.Columns {
							want[k].Column = 0
						}
					}
					if !slices.Equal(got, want) {
						if bad++; bad <= 3 {
							t.Errorf("%s: %s, %s: at %#x got\n%v; want\n%v", sample, s.Name, filepath.Base(object), addrs[i], got, want)
						}
					}
				}
			}
		}
		if inlined < 500 || files[bundlePath+"vec.ts"] < 500 || files[bundlePath+"main.ts"] < 500 {
			t.Errorf("%s: got %d inlined frames, files %v; want more of both files", sample, inlined, files)
		}
	}
}

// sortedCopy returns a list in order.
func sortedCopy(list []string) []string { return slices.Sorted(slices.Values(list)) }

// With a directory for sources, the texts in maps are written there, and tools show them.
func TestV8Maps_SourcesContent(t *testing.T) {
	for _, sample := range []string{"mapped-node20", "mapped-node25"} {
		dir := placeMapped(t, sample)
		src := filepath.Join(dir, "src")
		runLog(t, dir, "out", func(o *config.Options) { o.SourceMaps, o.Sources = true, src })
		for file, want := range map[string]string{
			"main.ts": "function advance(position: Vec, dt: number): Vec {\n", "vec.ts": "  scale(factor: number): Vec {\n",
		} {
			if b, err := os.ReadFile(filepath.Join(src, bundlePath, file)); err != nil || !strings.Contains(string(b), want) {
				t.Errorf("%s: %s: got %q, %v; want %q in it", sample, file, b, err, want)
			}
		}
		if sample != "mapped-node20" {
			continue
		}
		symbol := "JS:*s /tmp/v8log-mapped/dist/bundle.js:1:309"
		out := testrec.Run(t, dir, testrec.Tool(t, "objdump"), "-dS", objectsOf(t, filepath.Join(dir, "out"), symbol)[0])
		for _, want := range []string{"return new Vec(this.x * factor, this.y * factor);", "position = advance(position, 1e-6 * (i & 7));"} {
			if !strings.Contains(out, want) {
				t.Errorf("objdump -S does not show %q", want)
			}
		}
		out, _ = testrec.RunBoth(t, dir, testrec.Tool(t, "perf"), "annotate", "--stdio", "-f", "-i", "out.data", "-s", symbol)
		if want := "position = advance(position, 1e-6 * (i & 7));"; !strings.Contains(out, want) {
			t.Errorf("perf annotate does not show %q:\n%s", want, out)
		}
	}
}

// A call may be in another original file than the beginning of its function: bundlers move code.
// Here the code up to column 320 is of a.ts, and the rest of b.ts.
func TestV8Maps_CallInAnotherFile(t *testing.T) {
	dir := placeMapped(t, "mapped-node20")
	put(t, filepath.Join(dir, "bundle.js.map"), []byte(`{"version":3,"sources":["a.ts","b.ts"],"names":[],"mappings":"AAAA,gUCAA"}`))
	runLog(t, dir, "plain", nil)
	runLog(t, dir, "mapped", func(o *config.Options) { o.SourceMaps = true })
	symbol := "JS:*s /tmp/v8log-mapped/dist/bundle.js:1:309"
	llvm := testrec.Symbolizers(t)[2]
	calls := 0
	for i, plain := range objectsOf(t, filepath.Join(dir, "plain"), symbol) {
		addrs := wholeCode(t, plain, 1)
		want := llvm.Stacks(t, plain, addrs)
		for k, got := range llvm.Stacks(t, objectsOf(t, filepath.Join(dir, "mapped"), symbol)[i], addrs) {
			for n, f := range got {
				file := "/tmp/v8log-mapped/dist/a.ts"
				if want[k][n].Column > 320 {
					file = "/tmp/v8log-mapped/dist/b.ts"
				}
				if f.Line == 1 && f.File != file {
					t.Fatalf("at %#x, frame %d: got %v for column %d; want %s", addrs[k], n, f, want[k][n].Column, file)
				}
				if n == len(got)-1 && n > 0 && f.File == "/tmp/v8log-mapped/dist/b.ts" {
					calls++
				}
			}
		}
	}
	if calls < 100 {
		t.Errorf("got %d addresses with a call in b.ts; want 100 or more", calls)
	}
}

// A map that cannot be used is reported, and the places of the generated code stay.
func TestV8Maps_Unusable(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(path string) error
		problem string // "" for a note
	}{
		"absent":  {os.Remove, ""},
		"damaged": {func(path string) error { return os.WriteFile(path, []byte(`{"version":3,"mappings":"AAAA,!"}`), 0o600) }, "is no digit of Base64"},
		"no map":  {func(path string) error { return os.WriteFile(path, []byte("root:x:0:0:root:/root:/bin/sh"), 0o600) }, "this is no JSON"},
		"of another text": {func(path string) error {
			return os.WriteFile(path, []byte(`{"version":3,"sources":["a"],"mappings":";;;;;;AAAA"}`), 0o600)
		}, "it describes 7 lines, the script has 3"},
		"link": {func(path string) error {
			if err := os.Rename(path, path+".real"); err != nil {
				return err
			}
			return os.Symlink(path+".real", path)
		}, "it is a symbolic link"},
		"directory": {func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Mkdir(path, 0o755)
		}, "it is not a regular file"},
		"too large": {func(path string) error { return os.Truncate(path, 1<<40) }, "it has more than 128 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := placeMapped(t, "mapped-node20")
			if err := c.change(filepath.Join(dir, "bundle.js.map")); err != nil {
				t.Fatal(err)
			}
			runLog(t, dir, "plain", nil)
			sum := runLog(t, dir, "mapped", func(o *config.Options) { o.SourceMaps = true })
			messages := fmt.Sprint(sum.Notes)
			if want := "/tmp/v8log-mapped/dist/bundle.js: its source map /tmp/v8log-mapped/dist/bundle.js.map is in no file; places there are not mapped"; c.problem == "" && !strings.Contains(messages, want) {
				t.Errorf("got notes %s; want %q", messages, want)
			}
			if c.problem != "" && (len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), c.problem)) {
				t.Errorf("got problems %v; want one with %q", sum.Problems, c.problem)
			}
			for _, plain := range objectPaths(t, filepath.Join(dir, "plain")) {
				want, got := read(t, plain), read(t, filepath.Join(dir, "mapped", filepath.Base(plain)))
				if !slices.Equal(got, want) {
					t.Errorf("%s: got another object; want the one without maps", filepath.Base(plain))
				}
			}
		})
	}
}

// The texts in a map of another text are no sources of the program.
func TestV8Maps_SourcesOfAnotherText(t *testing.T) {
	dir := placeMapped(t, "mapped-node20")
	put(t, filepath.Join(dir, "bundle.js.map"), []byte(`{"version":3,"sources":["stale.ts"],"sourcesContent":["stale"],"mappings":";;;;;;AAAA"}`))
	src := filepath.Join(dir, "src")
	runLog(t, dir, "mapped", func(o *config.Options) { o.SourceMaps, o.Sources = true, src })
	if found, _ := filepath.Glob(filepath.Join(src, "tmp/v8log-mapped/*/*")); len(found) == 0 || strings.Contains(fmt.Sprint(found), "stale") {
		t.Errorf("got %v; want other files", found)
	}
}

// Root sees files that the profiled program could not read. A log must not make them public.
func TestV8Maps_FilesOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		testrec.Skip(t, "only root can give files away")
	}
	for name, c := range map[string]struct {
		dump, owner int // users
		mode        os.FileMode
		directory   os.FileMode
		problem     string
	}{
		"own file of the program's user": {1234, 1234, 0o600, 0o755, ""},
		"public file of root":            {1234, 0, 0o644, 0o755, ""},
		"private file of root":           {1234, 0, 0o600, 0o755, "the dump's user may not read it"},
		"private directory":              {1234, 0, 0o644, 0o700, "the dump's user may not read it"},
		"file of someone else":           {1234, 1235, 0o644, 0o755, "it belongs to another user than the dump"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := placeMapped(t, "mapped-node20")
			// The directories above are private to the test.
			for at := dir; at != "/" && at != os.TempDir(); at = filepath.Dir(at) {
				if err := os.Chmod(at, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			inside := filepath.Join(dir, "maps")
			if err := os.Mkdir(inside, c.directory); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(inside, "bundle.js.map")
			if err := os.Rename(filepath.Join(dir, "bundle.js.map"), path); err != nil {
				t.Fatal(err)
			}
			log := filepath.Join(dir, "isolate-0x27989f80-8649-v8.log")
			for _, err := range []error{
				os.Chmod(path, c.mode), os.Chown(path, c.owner, 0), os.Chown(log, c.dump, 0), os.Chown(filepath.Join(dir, "jit-8649.dump"), c.dump, 0),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			sum := runLog(t, dir, "mapped", func(o *config.Options) { o.SourceMaps, o.DumpDirs = true, []string{inside} })
			if got := fmt.Sprint(sum.Problems); c.problem == "" && len(sum.Problems) > 0 || !strings.Contains(got, c.problem) {
				t.Errorf("got problems %s; want %q", got, c.problem)
			}
		})
	}
}
