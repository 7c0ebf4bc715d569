package elfcore

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Real core dumps, by the kernel, gdb and qemu. Where they stopped is what objdump says of
// the instruction that stores to address 0; what pthread_self() returned, the program has
// printed.
func TestOpen_CoresOfKernelGDBAndQEMU(t *testing.T) {
	for name, want := range map[string]struct {
		process  Process
		threads  []Thread
		files    int
		segments int
	}{
		"kernel-x86_64":   {Process{20523, 20522, "t", "./t"}, []Thread{{20523, 0x7f6b32542740}, {20524, 0x7f6b325416c0}}, 15, 28},
		"kernel-i386":     {Process{20739, 20737, "i386", "./i386"}, []Thread{{20739, 0}}, 2, 6},
		"qemu-i386":       {Process{20712, 20711, "i386", "./i386"}, []Thread{{20712, 0}}, 0, 6},
		"qemu-aarch64":    {Process{20155, 20154, "t64", "./t64"}, []Thread{{20155, 0}, {20157, 0}}, 0, 12},
		"qemu-aarch64_be": {Process{20618, 20617, "a64be", "./a64be"}, []Thread{{20618, 0}}, 0, 6},
		"qemu-arm":        {Process{20630, 20629, "arm", "./arm"}, []Thread{{20630, 0}}, 0, 7},
		"qemu-mips64":     {Process{20664, 20663, "mips64", "./mips64"}, []Thread{{20664, 0}}, 0, 8},
		"qemu-mips":       {Process{20652, 20651, "mips", "./mips"}, []Thread{{20652, 0}}, 0, 8},
		"qemu-ppc64":      {Process{20700, 20699, "ppc64", "./ppc64"}, []Thread{{20700, 0}}, 0, 6},
		"qemu-ppc64le":    {Process{20688, 20687, "ppc64le", "./ppc64le"}, []Thread{{20688, 0}}, 0, 6},
		"qemu-ppc":        {Process{20676, 20675, "ppc", "./ppc"}, []Thread{{20676, 0}}, 0, 6},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join("testdata", name+".core"))
			if err != nil {
				t.Fatal(err)
			}
			c, err := Open(reader(b))
			if err != nil || len(c.Problems) > 0 {
				t.Fatalf("got %v, %+v; want no error, no problems", err, c.Problems)
			}
			if *c.Process() != want.process || !slices.Equal(c.Threads(), want.threads) || len(c.Files()) != want.files || len(c.Segments()) != want.segments {
				t.Errorf("process %+v, threads %#v, %d files, %d segments", c.Process(), c.Threads(), len(c.Files()), len(c.Segments()))
			}
		})
	}
}

// gcore counts the offsets of mapped files in bytes, the kernel in pages.
func TestMappedFiles_BytesOrPages(t *testing.T) {
	for name, want := range map[string]File{
		"gcore-mono":    {0x565119d34000, 0x56511a051000, 0x2a000, "/usr/bin/mono-sgen"},
		"kernel-x86_64": {0x7f6b3256b000, 0x7f6b326c1000, 0x26000, "/usr/lib/x86_64-linux-gnu/libc.so.6"},
	} {
		b, err := os.ReadFile(filepath.Join("testdata", name+".core"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := Open(reader(b))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(c.Files(), want) {
			var some []File
			for _, f := range c.Files() {
				if strings.HasSuffix(want.Name, f.Name) {
					some = append(some, f)
				}
			}
			t.Errorf("%s: there is no %+v, but %+v", name, want, some)
		}
	}
}
