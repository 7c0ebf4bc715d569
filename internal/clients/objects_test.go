package clients

import (
	"debug/elf"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Programs that look into one object.

// hotObject returns the object of the hot function with lines, and the address of its
// code.
func hotObject(t *testing.T, r *result) (path string, addr uint64) {
	t.Helper()
	objects, err := filepath.Glob(r.path("objects/*.so"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range objects {
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		syms, err := f.Symbols()
		lines := f.Section(".debug_line")
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range syms {
			if s.Name == hotFunction && lines != nil {
				return path, s.Value
			}
		}
	}
	t.Fatal("there is no object of the hot function")
	return "", 0
}

func TestObjects_EveryReader(t *testing.T) {
	for _, opts := range []inject.Options{{}, {DWARF: 4}, {Bundle: true}} {
		r := injected(t, "node-hot", opts)
		object, addr := hotObject(t, r)
		at := fmt.Sprintf("%#x", addr)
		for _, c := range []struct {
			args  []string
			wants []string
		}{
			{[]string{"gdb", "-batch", "-nx", "-ex", "info line *" + at, "-ex", "info symbol " + at, "-ex", "disassemble /s " + at + ",+64", object}, []string{`Line 9 of "/tmp/rec/node-hot/hot.js" starts at address ` + at, hotFunction + " in section .text", "<" + hotFunction + "+", "hot.js:"}},
			{[]string{"gdb", "-batch", "-nx", "-ex", "info scope *" + at, "-ex", "info functions hot", "-ex", "info sources", object}, []string{"JS:*hot", "/tmp/rec/node-hot/hot.js"}},
			{[]string{"llvm-symbolizer", "--obj=" + object, at}, []string{hotFunction + "\n", "/tmp/rec/node-hot/hot.js:9:"}},
			{[]string{"eu-addr2line", "-f", "-i", "-e", object, at}, []string{hotFunction + "\n", "/tmp/rec/node-hot/hot.js:9"}},
			{[]string{"addr2line", "-f", "-i", "-e", object, at}, []string{hotFunction + "\n", "/tmp/rec/node-hot/hot.js:9"}},
			{[]string{"objdump", "-d", "-l", "--no-show-raw-insn", "--start-address=" + at, fmt.Sprintf("--stop-address=%#x", addr+64), object}, []string{"<" + hotFunction + ">:", "/tmp/rec/node-hot/hot.js:9"}},
		} {
			// gdb complains of what it cannot read on standard error.
			stdout, stderr := testrec.RunBoth(t, r.dir, testrec.Tool(t, c.args[0]), c.args[1:]...)
			for _, want := range c.wants {
				if !strings.Contains(stdout, want) {
					t.Errorf("for %+v: want of %v %q; got\n%s%s", opts, c.args, want, stdout, stderr)
				}
			}
			if strings.Contains(stderr, "DWARF Error") || strings.Contains(stderr, "invalid") {
				t.Errorf("for %+v: got of %v %s; want no complaints", opts, c.args, stderr)
			}
		}
	}
}
