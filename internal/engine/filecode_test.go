package engine_test

import (
	"debug/elf"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/testrec"
)

const builtins = `
__attribute__((aligned(64))) int builtin_one(int x) { return x * 3 + 1; }
__attribute__((aligned(64))) int builtin_two(int x) { return x * 5 - 2; }
__attribute__((aligned(64))) static __attribute__((used)) int hidden(int x) { return x * 7; }
`

// Functions of a dump that lie in a file have the file's names if it has symbols for them, and the
// dump's at the file's second mapping, and in recordings without stacks to unwind. At home, other
// functions have the dump's names if the file is the recorded one: a skeleton of it has them.
func TestFileCode_SymbolsOfTheFile(t *testing.T) {
	for name, c := range map[string]struct {
		stacks   uint64
		replaced bool // the file has been
		one      string
		hidden   string
	}{
		"unwound":            {testrec.StackUser, false, "", "Builtin:Hidden+0x2"},
		"not unwound":        {0, false, "Builtin:One+0x2", "Builtin:Hidden+0x2"},
		"another file there": {testrec.StackUser, true, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.SampleType |= c.stacks
			if err := os.WriteFile(w.path("b.c"), []byte(builtins), 0o644); err != nil {
				t.Fatal(err)
			}
			testrec.Run(t, w.dir, testrec.Tool(t, "gcc", "cc"), "-O1", "-shared", "-nostdlib", "-Wl,--build-id=none", "-o", "libb.so", "b.c")
			testrec.Run(t, w.dir, testrec.Tool(t, "strip"), "-K", "builtin_one", "-K", "builtin_two", "libb.so")
			f, err := elf.Open(w.path("libb.so"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			text, symbols := f.Section(".text"), map[string]uint64{}
			all, err := f.Symbols()
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range all {
				symbols[s.Name] = s.Value
			}
			var st unix.Stat_t
			if err := unix.Stat(w.path("libb.so"), &st); err != nil {
				t.Fatal(err)
			}
			w.Major, w.Minor = unix.Major(st.Dev), unix.Minor(st.Dev)
			inode := st.Ino
			if c.replaced {
				inode++
			}
			const home, copied = 0x400000, 0x7000000
			w.mark(100, 10, "jit-100.dump")
			page := text.Offset &^ 0xfff
			w.FileMmap2(100, 9, home, 0x2000, page, w.path("libb.so"), inode)
			w.FileMmap2(100, 50, copied, 0x2000, page, w.path("libb.so"), inode)
			at := func(addr uint64) uint64 { return addr - text.Addr + text.Offset - page }
			one := at(symbols["builtin_one"])
			hidden := at(symbols["builtin_two"]) + 64
			w.dump("jit-100.dump", x86(100),
				load(20, 100, 1, home+one, "Builtin:One", code(8, 1)), load(20, 100, 2, home+hidden, "Builtin:Hidden", code(8, 2)), load(21, 100, 3, 0x900000, "JS:jitted", code(64, 3)))
			w.newer = true // the model knows nothing of symbols of files
			sum, err := w.run()
			if err != nil || sum.Complete() == (c.hidden == "") {
				t.Fatalf("got %s, %v; want no error, and a problem if another file is there", asJSON(sum), err)
			}
			m := readMappings(t, w.opts.Output)
			for _, s := range []want{
				{100, 40, home + hidden + 2, c.hidden}, {100, 40, home + one + 2, c.one}, {100, 60, 0x900002, "JS:jitted+0x2"},
			} {
				if got := m.symbol(t, s); got != s.sym {
					t.Errorf("%#x is %q, want %q", s.ip, got, s.sym)
				}
			}
			copyName := m.symbol(t, want{100, 60, copied + one + 2, ""})
			if c.stacks != 0 && copyName != "Builtin:One+0x2" || c.stacks == 0 && copyName != "" {
				t.Errorf("at the copy it is %q", copyName)
			}
			if early := m.symbol(t, want{100, 30, copied + one + 2, ""}); early != "" {
				t.Errorf("before the copy is there it is %q", early)
			}
		})
	}
}

// A file counts as long as nothing else is mapped there, and what a parent maps after a
// fork is none of its child's.
func TestFileCode_FileMappedOver(t *testing.T) {
	const at, elsewhere = 0x7f5500001000, 0x7f5500800000
	lib := func(w *world, pid uint32, time, addr uint64) {
		w.FileMmap2(pid, time, addr, 0x1000, 0x1000, w.path("lib.so"), 77)
	}
	for name, build := range map[string]func(w *world) (pid uint32){
		"replaced by memory": func(w *world) uint32 {
			lib(w, 100, 12, at)
			w.Mmap2(100, 14, at, 0x1000, 0, "//anon")
			lib(w, 100, 16, elsewhere)
			return 100
		},
		"mapped later": func(w *world) uint32 {
			w.Mmap2(100, 12, at, 0x1000, 0, "//anon")
			w.expect(100, 25, at+0x108, "jitted+0x8")
			lib(w, 100, 90, at)
			return 100
		},
		"mapped by the parent": func(w *world) uint32 {
			w.Fork(101, 100, 12)
			w.Mmap2(101, 13, at, 0x1000, 0, "//anon")
			lib(w, 100, 14, at)
			return 101
		},
		"of a process before": func(w *world) uint32 {
			lib(w, 101, 11, at)
			w.Fork(101, 100, 15)
			w.Mmap2(101, 16, at, 0x1000, 0, "//anon")
			return 101
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.SampleType |= testrec.StackUser
			w.mark(100, 10, "jit-100.dump")
			pid := build(w)
			w.dump("jit-100.dump", x86(100), load(20, pid, 1, at+0x100, "jitted", code(64, 1)))
			w.expect(pid, 50, at+0x108, "jitted+0x8")
			w.expect(pid, 60, elsewhere+0x108, "")
			mappings := 1
			if name == "replaced by memory" { // which clears the file
				mappings = 2
			}
			if sum := w.check(); sum.Mappings != mappings || sum.Tables != 1 {
				t.Errorf("got %s; want Mappings = %d, Tables = 1", asJSON(sum), mappings)
			}
		})
	}
}
