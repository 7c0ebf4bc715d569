package profile

import (
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

var update = flag.Bool("update", false, "write the texts of all perfs and the golden files afresh")

// Texts that three perfs printed of one result, replayed: all give the same profile, in which perf's
// dialects do not show.
func TestRead_AsThreePerfsPrint(t *testing.T) {
	for _, name := range []string{"v8log-node25", "toyjit-dwarf", "php"} {
		file := injected(t, name, true)
		if *update {
			saveTexts(t, name, file)
		}
		texts, err := filepath.Glob(filepath.Join("testdata", name+"-*.txt.gz"))
		if err != nil || len(texts) != 3 {
			t.Fatalf("got texts %q, error %v; want those of three perfs", texts, err)
		}
		golden := filepath.Join("testdata", name+".golden")
		for _, text := range texts {
			t.Run(filepath.Base(text), func(t *testing.T) {
				got := folded(read(t, Options{Perf: replaying(t, file, text), Path: file, Force: true}), filepath.Dir(file))
				if *update {
					if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

// directory stands for the directory of a result in texts.
const directory = "/DIRECTORY"

// saveTexts saves what each perf prints. perf looks at no files of this machine.
func saveTexts(t *testing.T, name, file string) {
	t.Helper()
	perfs := testrec.Perfs(t)
	if len(perfs) != 3 {
		t.Fatalf("got %d perfs; want three, of which JITINJECT_PERFS names two", len(perfs))
	}
	rec, err := readRecording(t.Context(), &Options{Path: file, Force: true})
	if err != nil {
		t.Fatal(err)
	}
	for version, perf := range perfs {
		d, err := dialectOf(t.Context(), perf, rec)
		if err != nil {
			t.Fatal(err)
		}
		text := testrec.Run(t, filepath.Dir(file), perf, "script", "-f", "--no-inline", "--ns", "-F", d.fields(), "--kallsyms", "/dev/null", "-i", file)
		short := strings.Join(strings.SplitN(version, ".", 3)[:2], ".")
		out, err := os.Create(filepath.Join("testdata", name+"-"+short+".txt.gz"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		z := gzip.NewWriter(out)
		if _, err := io.WriteString(z, strings.ReplaceAll(text, filepath.Dir(file), directory)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// replaying returns a program that prints a saved text, and knows the fields of the perf that printed
// it.
func replaying(t *testing.T, file, text string) string {
	t.Helper()
	in, err := os.Open(text)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(out, []byte(strings.ReplaceAll(string(content), directory, filepath.Dir(file))), 0o644); err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(strings.TrimSuffix(filepath.Base(text), ".txt.gz"), "-")
	version = version[strings.LastIndexByte(version, '-')+1:]
	fields := "comm,ip,sym,dso,symoff"
	if version != "6.1" {
		fields += ",dsoff"
	}
	return program(t, fmt.Sprintf(`case "$*" in *-h*) echo "Fields: %s"; exit 129;; --version) echo perf version %s;; *) cat %s;; esac`, fields, version, out))
}

// program makes a program of a script for the shell.
func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "perf")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// folded returns a line for each distinct stack, the outermost frame first, and for each function. The
// files of objects have names that depend on their content, which is no matter of this package.
func folded(p *Profile, dir string) string {
	counts := make(map[string]int)
	for i := range p.Samples {
		s := &p.Samples[i]
		th := &p.Threads[s.Thread]
		text := fmt.Sprintf("%s %s %d/%d %s", th.Process, th.Name, th.PID, th.TID, p.Events[s.Event])
		frames := p.frames(s)
		for _, f := range slices.Backward(frames) {
			fn := &p.Functions[f.Function]
			if fn.Kind != JIT { // perfs demangle differently
				text += "; " + filepath.Base(fn.Object)
				continue
			}
			text += "; " + fn.Name
			if f.Line > 0 {
				text += fmt.Sprintf(":%d", f.Line)
			}
			text += fmt.Sprintf(" %x", f.Addr)
			if f.Inlined {
				text += " inlined"
			}
		}
		counts[fmt.Sprintf("%s # %d of %d", text, len(frames), s.Period)]++
	}
	var lines []string
	for text, n := range counts {
		lines = append(lines, fmt.Sprintf("%d %s", n, text))
	}
	for i := range p.Functions {
		if f := &p.Functions[i]; f.Kind == JIT {
			lines = append(lines, fmt.Sprintf("function %s (%s), tier %d, from %s:%d", f.Name, f.Symbol, f.Tier, f.File, f.Line))
		}
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	lines = append(lines, fmt.Sprintf("%d samples, lost %d, warnings %q", len(p.Samples), p.Recording.Lost, p.Recording.Warnings),
		fmt.Sprintf("%s\n%s, %s, perf %s, %d Hz", p.Recording.Command, p.Recording.Arch, p.Recording.Kernel, p.Recording.Perf, p.Recording.Frequency))
	return strings.ReplaceAll(strings.Join(lines, "\n")+"\n", dir, directory)
}
