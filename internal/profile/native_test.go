package profile

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/judge"
	"github.com/jitinject/jitinject/internal/testrec"
)

// squares is a program in which all time is spent in a call that a compiler inlines into outer.
const squares = `#include <stdlib.h>
static volatile unsigned long sum;
static inline __attribute__((always_inline)) void add(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sum += i * i;
}
__attribute__((noinline)) void outer(unsigned long n)
{
	add(n);
	sum++;
}
int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[1]); i++)
		outer(100000);
	return 0;
}
`

// linesOf are the first and the last line of each function.
var linesOf = map[string][2]int{"add": {3, 7}, "outer": {8, 12}, "main": {13, 18}}

// Inlined calls and lines of native code are those that perf shows.
func TestNativeLines_AsPerfShowsThem(t *testing.T) {
	testrec.CanRecord(t)
	testrec.Tool(t, "addr2line")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "squares.c"), []byte(squares), 0o644); err != nil {
		t.Fatal(err)
	}
	testrec.Run(t, dir, testrec.Tool(t, "gcc", "cc"), "-g", "-O1", "-o", "squares", "squares.c")
	testrec.Run(t, dir, testrec.Tool(t, "perf"), "record", "-q", "-e", "cpu-clock:u", "-F", "499", "--call-graph", "dwarf,1024", "-o", "perf.data", "./squares", "1500")
	program, file := filepath.Join(dir, "squares"), filepath.Join(dir, "perf.data")
	plain := read(t, Options{Perf: testrec.Tool(t, "perf"), Path: file})
	if slices.ContainsFunc(plain.Frames, func(f Frame) bool { return f.Inlined || f.Line != 0 }) {
		t.Error("got lines of native code without NativeLines")
	}
	for version, perf := range testrec.Perfs(t) {
		if !strings.HasPrefix(version, "6.1.") {
			continue // the others look for addr2line beside themselves first
		}
		p := read(t, Options{Perf: perf, Path: file, NativeLines: true})
		script, err := judge.Parse(strings.NewReader(testrec.Run(t, dir, perf, "script", "--ns", "-F", judge.Fields, "-i", file)))
		if err != nil {
			t.Fatal(err)
		}
		if len(script) != len(p.Samples) || len(script) < 10 {
			t.Fatalf("got %d samples; perf script has %d, want at least 10", len(p.Samples), len(script))
		}
		inlined := 0
		for i := range p.Samples {
			var got, want []string
			for _, f := range p.frames(&p.Samples[i]) {
				fn := &p.Functions[f.Function]
				if fn.Object != program || linesOf[fn.Name] == [2]int{} { // _start has none
					continue
				}
				got = append(got, fn.Name)
				if lines := linesOf[fn.Name]; f.Line < lines[0] || f.Line > lines[1] || fn.File != filepath.Join(dir, "squares.c") {
					t.Errorf("got line %s:%d in %s; want one of squares.c:%d-%d", fn.File, f.Line, fn.Name, lines[0], lines[1])
				}
				if f.Inlined {
					inlined++
				}
			}
			var calls []string
			for _, f := range script[i].Frames {
				if name := withoutOffset(f.Symbol); linesOf[name] != [2]int{} { // not atoi, which the C library's header inlines
					calls = append(calls, name)
				}
				if !f.Inlined {
					if f.DSO == program && linesOf[f.Symbol] != [2]int{} {
						want = append(want, calls...)
					}
					calls = nil
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("sample %d: got %q; perf script shows %q", i, got, want)
			}
		}
		if inlined < 10 {
			t.Errorf("got %d inlined calls; want at least 10", inlined)
		}
	}
}

func TestReadAnswers_OfAddr2line(t *testing.T) {
	lookups := []lookup{{addr: 0x10}, {addr: 0x20}, {addr: 0x30}}
	answers := "0x0000000000000010\nadd\n/src/a.c:6 (discriminator 3)\nouter\n/src/a b:1.c:10\n0x0000000000000020\n??\n??:0\n0x0000000000000030\n_ZN3foo3barEi\n/src/a.c:?\n"
	if err := readAnswers(strings.NewReader(answers), lookups); err != nil {
		t.Fatal(err)
	}
	want := [][]located{{{&origin{name: "add"}, "/src/a.c", 6}, {&origin{name: "outer"}, "/src/a b:1.c", 10}}, nil, {{origin: &origin{name: "foo::bar"}}}}
	for i := range want {
		if !reflect.DeepEqual(lookups[i].answer, want[i]) {
			t.Errorf("%#x: got %+v; want %+v", lookups[i].addr, lookups[i].answer, want[i])
		}
	}
	for _, text := range []string{"add\n/src/a.c:6\n", "0x10\nadd\n", "0x10\nadd", "0x11\n", "0xzz\n"} {
		if err := readAnswers(strings.NewReader(text), lookups); err == nil {
			t.Errorf("%q: got no error", text)
		}
	}
}
