package engine_test

import (
	"bytes"
	"debug/elf"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A file that is mapped over functions after their load leaves them their names if it has their code,
// as wasmtime's precompiled modules have. Otherwise the summary says why they end there.
func TestCovered_FileMappedOverFunctions(t *testing.T) {
	const at, page = 0x7f5500001000, 0x1000
	first, second := code(64, 1), code(48, 2)
	for name, c := range map[string]struct {
		change  func(module []byte) []byte // nil: the file is gone
		inode   uint64                     // added to that of the file
		covered bool
		problem string
		note    string
	}{
		"the same code":         {func(b []byte) []byte { return b }, 0, false, "", ""},
		"the same code, a copy": {func(b []byte) []byte { return b }, 1, false, "", ""},
		"other code":            {func(b []byte) []byte { b[page+0x108] ^= 1; return b }, 0, true, "", "mapped over 1 function of"},
		"changed since":         {func(b []byte) []byte { b[page+0x108] ^= 1; return b }, 1, true, "the file has changed since", ""},
		"shorter since":         {func(b []byte) []byte { return b[:page+0x110] }, 1, true, "the file has changed since", ""},
		"gone":                  {nil, 0, true, "there is no such file", ""},
	} {
		for _, stacks := range []uint64{0, testrec.StackUser} {
			w := newWorld(t)
			w.SampleType |= stacks
			inode := uint64(0)
			module := bytes.Repeat([]byte{0xcc}, 3*page)
			copy(module[page+0x100:], first)
			copy(module[page+0x200:], second)
			if c.change != nil {
				if err := os.WriteFile(w.path("m.cwasm"), c.change(module), 0o644); err != nil {
					t.Fatal(err)
				}
				var st unix.Stat_t
				if err := unix.Stat(w.path("m.cwasm"), &st); err != nil {
					t.Fatal(err)
				}
				w.Major, w.Minor, inode = unix.Major(st.Dev), unix.Minor(st.Dev), c.inode+st.Ino
			}
			w.mark(100, 10, "jit-100.dump")
			w.Mmap2(100, 11, at, 2*page, 0, "//anon")
			w.FileMmap2(100, 30, at, 2*page, page, w.path("m.cwasm"), inode)
			w.dump("jit-100.dump", x86(100), load(20, 100, 1, at+0x100, "wasm_1", first), load(21, 100, 2, at+0x200, "wasm_2", second))
			w.Sample(100, 25, at+0x108)
			after := "wasm_1+0x8"
			if c.covered {
				after = ""
			}
			w.Sample(100, 50, at+0x108)
			for _, bundle := range []bool{false, true} {
				w.opts.Bundle = bundle
				sum, err := w.run()
				if err != nil {
					t.Fatal(err)
				}
				m := readMappings(t, w.opts.Output)
				if got := m.symbol(t, want{100, 50, at + 0x108, ""}); got != after {
					t.Errorf("%s, stacks %v, bundle %v: after the file, got %q; want %q", name, stacks != 0, bundle, got, after)
				}
				if got := m.symbol(t, want{100, 25, at + 0x108, ""}); got != "wasm_1+0x8" {
					t.Errorf("%s, stacks %v, bundle %v: before the file, got %q", name, stacks != 0, bundle, got)
				}
				var problems []string
				for _, p := range sum.Problems {
					problems = append(problems, p.Text)
				}
				if c.covered == (sum.Samples.Resolved == 2) {
					t.Errorf("%s: the summary counts %+v", name, sum.Samples)
				}
				if text := strings.Join(problems, "\n"); (text == "") != (c.problem == "") || !strings.Contains(text, c.problem) {
					t.Errorf("%s: got problems %q; want %q", name, text, c.problem)
				}
				if text := strings.Join(sum.Notes, "\n"); (text == "") != (c.note == "") || !strings.Contains(text, c.note) {
					t.Errorf("%s: got notes %q; want %q", name, text, c.note)
				}
			}
		}
	}
}

// Over an ELF file, functions stay by a skeleton of the file: it keeps its place.
func TestCovered_ELFFile(t *testing.T) {
	w := newWorld(t)
	w.SampleType |= testrec.StackUser
	if err := os.WriteFile(w.path("m.c"), []byte(builtins), 0o644); err != nil {
		t.Fatal(err)
	}
	testrec.Run(t, w.dir, testrec.Tool(t, "gcc", "cc"), "-O1", "-shared", "-nostdlib", "-fvisibility=hidden", "-s", "-o", "m.so", "m.c")
	f, err := elf.Open(w.path("m.so"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	all, err := text.Data()
	if err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(w.path("m.so"), &st); err != nil {
		t.Fatal(err)
	}
	const at, size = 0x7f5500001000, 8
	page := text.Offset &^ 0xfff
	start := at + text.Offset - page
	w.Major, w.Minor = unix.Major(st.Dev), unix.Minor(st.Dev)
	w.mark(100, 10, "jit-100.dump")
	w.Mmap2(100, 11, at, 0x1000, 0, "//anon")
	w.FileMmap2(100, 30, at, 0x1000, page, w.path("m.so"), st.Ino)
	w.dump("jit-100.dump", x86(100), load(20, 100, 1, start, "wasm_1", all[:size]), load(21, 100, 2, start+64, "wasm_2", all[64:64+size]))
	w.Sample(100, 50, start+2)
	sum, err := w.run()
	if err != nil || !sum.Complete() || sum.Samples.Resolved != 1 {
		t.Fatalf("got %s, %v; want one resolved sample", asJSON(sum), err)
	}
	m := readMappings(t, w.opts.Output)
	for _, c := range []want{{100, 25, start + 2, "wasm_1+0x2"}, {100, 50, start + 2, "wasm_1+0x2"}, {100, 50, start + 66, "wasm_2+0x2"}} {
		if got := m.symbol(t, c); got != c.sym {
			t.Errorf("at %d, %#x is %q, want %q", c.time, c.ip, got, c.sym)
		}
	}
	for _, mm := range m.all {
		if o := mm.Addr - mm.PgOff; mm.time > 30 && o != at-page {
			t.Errorf("%s is mapped for a file that begins at %#x; want %#x, as %s", mm.Filename, o, uint64(at-page), w.path("m.so"))
		}
	}
}
