package producer_test

import (
	"debug/elf"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// Each of two libraries in a process has its own copy of the header's functions. The first one that opens
// a dump writes it; the second one writes nothing, and changes nothing in the first one's.
func TestDump_TwoLibraries(t *testing.T) {
	dir := t.TempDir()
	compile := func(args ...string) {
		testrec.Run(t, dir, testrec.Tool(t, "gcc"), slices.Concat(cFlags, []string{"-std=gnu11", "-I", producer(t)}, args)...)
	}
	for _, name := range []string{"one", "two"} {
		compile("-shared", "-fPIC", "-DNAME="+name, "-o", "lib"+name+".so", producer(t, "test", "testdata", "library.c"))
		f, err := elf.Open(filepath.Join(dir, "lib"+name+".so"))
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := f.DynamicSymbols()
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == name }) {
			t.Errorf("lib%s.so has no symbol %s, so the test has not read its symbols", name, name)
		}
		for _, s := range symbols {
			if strings.HasPrefix(s.Name, "jitdump_") {
				t.Errorf("lib%s.so exports %s", name, s.Name)
			}
		}
	}
	compile("-o", "libraries", producer(t, "test", "testdata", "libraries.c"), "-L.", "-Wl,-rpath,$ORIGIN", "-lone", "-ltwo")
	testrec.Run(t, dir, "./libraries", ".")
	verified(t, dumpIn(t, dir))
	if w := read(t, dumpIn(t, dir)); !slices.Equal(w.loads, []string{"one"}) {
		t.Errorf("the dump has %q", w.loads)
	}
}
