package inject_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/testrec"
)

// What perf report, annotate and script show of bundles, beside what they show of an
// object for each function: the same, but for offsets in files and their names.

// inFile are the names of objects, and offsets in them.
var inFile = regexp.MustCompile(`\S*jit(ted|bundle)-[-0-9a-f]+\.so|-{40,}|\b0{8}[0-9a-f]{8} <|\b[0-9a-f]+:|#\s+[0-9a-f]+ <.*|\b(call|j[a-z]+)q?\s+(0x)?[0-9a-f]+.*|\(%rip\).*`)

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
				sum, err := inject.Run(t.Context(), inject.Options{
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

// A hole in memory is one in the file.
func TestBundle_HoleInMemory(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	var recs []timed
	for i := range uint64(40) {
		addr := 0x10000000 + i*900_000
		recs = append(recs, load(2000+i, 100, i, addr, fmt.Sprint("function", i), code(64, byte(i))))
		w.expect(100, 3000+i, addr+8, fmt.Sprintf("function%d+0x8", i))
		w.expect(100, 3000+i, addr+80, "")
	}
	w.dump("jit-100.dump", x86(100), recs...)
	w.check()
	w.opts.Bundle, w.opts.Objects = true, w.path("bundles")
	sum, err := injectAgain(w)
	if err != nil || sum.Objects != 1 || sum.Mappings != 1 {
		t.Fatalf("got %s, %v; want no error, Objects = 1, Mappings = 1", asJSON(sum), err)
	}
	var st syscall.Stat_t
	names, _ := filepath.Glob(w.path("bundles/jitbundle-100-10000000-*.so"))
	if len(names) != 1 {
		t.Fatalf("got %+v; want 1 name", names)
	}
	if err := syscall.Stat(names[0], &st); err != nil || st.Size < 39*900_000 || st.Blocks*512 > 40*8192+65536 || sum.ObjectBytes > 65536 {
		t.Errorf("%d bytes of space for a file of %d, %d counted, %v", st.Blocks*512, st.Size, sum.ObjectBytes, err)
	}
}
