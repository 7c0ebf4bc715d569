package engine_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
)

// What perf report, annotate and script show of bundles, beside what they show of an
// object for each function: the same, but for offsets in files and their names.

// inFile are the names of objects, and offsets in them.
var inFile = regexp.MustCompile(`\S*jitted-[-0-9]+\.so|-{40,}|\b0{8}[0-9a-f]{8} <|\b[0-9a-f]+:|#\s+[0-9a-f]+ <.*|\b(call|j[a-z]+)q?\s+(0x)?[0-9a-f]+.*|\(%rip\).*`)

func TestBundle_EveryReader(t *testing.T) {
	for _, c := range []struct{ recording, symbol string }{
		{"node-hot", "JS:*hot /tmp/rec/node-hot/hot.js:9:13"},
		{"lli-hot", "hot"},
		{"toyjit", ""},
		{"erlang", ""},
	} {
		t.Run(c.recording, func(t *testing.T) {
			dir := testrec.Place(t, c.recording)
			one, many := filepath.Join(dir, "one.data"), filepath.Join(dir, "many.data")
			for output, bundle := range map[string]bool{one: false, many: true} {
				sum, err := engine.Run(t.Context(), engine.Options{
					Input: filepath.Join(dir, "perf.data"), Output: output, Objects: output + ".objects", Bundle: bundle,
				})
				if err != nil || !sum.Complete() {
					t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
				}
			}
			perf := testrec.Tool(t, "perf")
			views := map[string][]string{
				"report":  {"report", "--stdio", "-g", "none", "-F", "overhead,comm,symbol"},
				"srcline": {"script", "-G", "-F", "comm,tid,time,ip,sym,symoff,srcline"},
			}
			if c.symbol != "" {
				views["annotate"] = []string{"annotate", "--stdio", "-l", c.symbol}
			}
			for name, args := range views {
				show := func(file string) []string {
					out := testrec.Run(t, dir, perf, append(args, "-i", file)...)
					lines := strings.Split(inFile.ReplaceAllString(out, "…"), "\n")
					for i := range lines {
						lines[i] = strings.Join(strings.Fields(lines[i]), " ")
						lines[i] = strings.ReplaceAll(lines[i], filepath.Base(file), "FILE")
					}
					return lines
				}
				a, b := show(one), show(many)
				if len(a) != len(b) || len(a) < 10 {
					t.Errorf("%s: %d lines with an object for each function, %d with bundles", name, len(a), len(b))
					continue
				}
				differ := 0
				for i := range a {
					if a[i] != b[i] && !strings.HasPrefix(a[i], "#") {
						if differ++; differ < 5 {
							t.Errorf("%s: got\n%s\nwant\n%s", name, b[i], a[i])
						}
					}
				}
			}
		})
	}
}

// bundleFrame is a frame in a jitted function. perf 6.1 shows its offset in the file.
var bundleFrame = regexp.MustCompile(`[ \t]+[0-9a-f]+ (\S.*\+0x[0-9a-f]+|\[unknown\]) \(\S*/jit(?:ted|bundle)-[-0-9a-f]+\.so\)`)

// Every frame of every recording has the name, the offset and the file or memory that it has with
// an object for each function, and no stack is shorter or longer.
func TestBundle_FramesOfEveryRecording(t *testing.T) {
	for _, name := range append(slices.Clone(testrec.Names), testrec.Stacks...) {
		if strings.HasPrefix(name, "python") {
			continue // its samples are in the interpreter
		}
		t.Run(name, func(t *testing.T) {
			dir := testrec.Place(t, name)
			one, many := filepath.Join(dir, "one.data"), filepath.Join(dir, "many.data")
			for output, bundle := range map[string]bool{one: false, many: true} {
				_, err := engine.Run(t.Context(), engine.Options{Input: filepath.Join(dir, "perf.data"), Output: output, Objects: output + ".objects", Bundle: bundle})
				if err != nil {
					t.Fatal(err)
				}
			}
			for version, perf := range testrec.Perfs(t) {
				if name == "erlang" && strings.HasPrefix(version, "6.12") {
					continue // it takes minutes for 15,817 mappings
				}
				show := func(file string) []string {
					out := testrec.Run(t, dir, perf, "script", "-f", "--no-inline", "-F", "comm,tid,time,ip,sym,symoff,dso", "-i", file)
					return strings.Split(bundleFrame.ReplaceAllString(out, "$1 (jitted)"), "\n\n")
				}
				want, got := show(one), show(many)
				if len(want) < 5 || !strings.Contains(strings.Join(want, ""), "(jitted)") {
					t.Fatalf("perf %s: got %d samples; want more, with jitted frames", version, len(want))
				}
				if len(got) != len(want) {
					t.Errorf("perf %s: got %d samples; want %d", version, len(got), len(want))
					continue
				}
				differ := 0
				for i := range want {
					if got[i] != want[i] {
						if differ++; differ < 4 {
							t.Errorf("perf %s: got\n%s\nwant\n%s", version, got[i], want[i])
						}
					}
				}
				// For others, perf takes minutes. perf 6.1 exits where addr2line knows a file
				// of llvm-orc no longer.
				if name == "toyjit" || name == "llvm-orc" && !strings.HasPrefix(version, "6.1.") {
					samePlaces(t, dir, perf, one, many)
				}
				if differ > 0 {
					t.Errorf("perf %s: got %d samples that differ, of %d; want none", version, differ, len(want))
				}
			}
		})
	}
}

// samePlaces compares the lines that perf report shows. Functions with lines and without are in
// these recordings.
func samePlaces(t *testing.T, dir, perf, one, many string) {
	t.Helper()
	show := func(file string) (lines []string) {
		out := testrec.Run(t, dir, perf, "report", "-f", "--stdio", "-g", "none", "--no-children", "-n", "-s", "sym,srcline", "-i", file)
		for line := range strings.Lines(out) {
			if !strings.HasPrefix(line, "#") {
				lines = append(lines, strings.Join(strings.Fields(line), " "))
			}
		}
		slices.Sort(lines) // perf sorts equal ones by their files
		return lines
	}
	if want, got := show(one), show(many); !slices.Equal(got, want) {
		t.Errorf("%s report: got\n%s\nwant\n%s", perf, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A hole in memory is one in the file. A hole with a sample ends a bundle.
func TestBundle_HoleInMemory(t *testing.T) {
	for _, sampled := range []bool{false, true} {
		w := newWorld(t)
		w.mark(100, 1000, "jit-100.dump")
		var recs []timed
		for i := range uint64(40) {
			addr := 0x10000000 + i*900_000
			recs = append(recs, load(2000+i, 100, i, addr, fmt.Sprint("function", i), code(64, byte(i))))
			w.expect(100, 3000+i, addr+8, fmt.Sprintf("function%d+0x8", i))
		}
		bundles := 1
		if sampled {
			bundles = 2
			w.expect(100, 3100, 0x10000000+20*900_000+80, "")
		}
		w.dump("jit-100.dump", x86(100), recs...)
		w.check()
		w.opts.Bundle, w.opts.Objects = true, w.path("bundles")
		sum, err := injectAgain(w)
		if err != nil || sum.Objects != bundles || sum.Mappings != bundles {
			t.Fatalf("sampled %v: got %s, %v; want no error, Objects = Mappings = %d", sampled, asJSON(sum), err, bundles)
		}
		names, _ := filepath.Glob(w.path("bundles/jitted-100-*.so"))
		if len(names) != bundles {
			t.Fatalf("sampled %v: got %+v; want %d names", sampled, names, bundles)
		}
		size, blocks := int64(0), int64(0)
		for _, name := range names {
			var st syscall.Stat_t
			if err := syscall.Stat(name, &st); err != nil {
				t.Fatal(err)
			}
			size, blocks = size+st.Size, blocks+st.Blocks
		}
		if size < 38*900_000 || blocks*512 > 40*8192+65536 || sum.ObjectBytes > 65536 {
			t.Errorf("sampled %v: %d bytes of space for files of %d, %d counted", sampled, blocks*512, size, sum.ObjectBytes)
		}
	}
}
