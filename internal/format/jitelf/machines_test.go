package jitelf_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/jitelf"
	"github.com/jitinject/jitinject/internal/testrec"
)

// loadedAt returns a copy of an object with the load address of its .text.
func loadedAt(t *testing.T, object string, addr uint64) []byte {
	t.Helper()
	image, f := readObject(t, object)
	for i, s := range f.Sections {
		if s.Name == ".text" {
			load(image, f, i, addr)
		}
	}
	return image
}

// Objects of the machines of LLVM's JITs have the lines and inlined calls that llvm-symbolizer
// finds, and unwind tables of the whole functions.
func TestDescribe_Machines(t *testing.T) {
	clang := testrec.Tool(t, "clang-14", "clang")
	llvm := testrec.Symbolizers(t)[2]
	source, err := filepath.Abs(filepath.Join("testdata", "inlines.cc"))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{
		"x86_64", "i386", "aarch64", "aarch64_be", "armv7a", "thumbv7a", "armebv7a", "riscv64", "riscv32",
		"powerpc64le", "s390x",
	} {
		for _, version := range []int{4, 5} {
			t.Run(fmt.Sprintf("%s-dwarf-%d", target, version), func(t *testing.T) {
				dir := t.TempDir()
				object := filepath.Join(dir, "inlines.o")
				args := []string{"-target", target + "-linux-gnu", "-O2", "-g", fmt.Sprintf("-gdwarf-%d", version), "-c", "-fno-exceptions", "-ffreestanding", "-funwind-tables", "-o", object, source}
				if target == "riscv64" {
					args = append(args, "-mrelax")
				}
				testrec.Run(t, dir, clang, args...)
				base := uint64(0x7f1200400000)
				o, err := jitelf.Open(loadedAt(t, object, base))
				if err != nil {
					t.Fatal(err)
				}
				if o.AddrSize() == 4 {
					base = 0x40100000
				}
				image := loadedAt(t, object, base)
				fns := functions(t, image)
				if len(fns) != 5 {
					t.Fatalf("got %d functions; want 5", len(fns))
				}
				var addrs []uint64
				var want [][]testrec.Frame
				for i := range fns {
					fn := &fns[i]
					if f := fn.Unwind.Sent.FDEs; len(f) != 1 || f[0].Offset != 0 || f[0].Size != fn.Size {
						t.Errorf("%s: got FDEs %+v; want one of %d bytes", fn.Name, f, fn.Size)
					}
					for off := range fn.Size {
						addrs = append(addrs, fn.Addr-base+off)
						want = append(want, stackAt(fn, off))
					}
				}
				differ := 0
				for i, stack := range llvm.Stacks(t, object, addrs) {
					a, b := plain(want[i], &llvm), plain(stack, &llvm)
					if strings.HasPrefix(b[len(b)-1].Function, ".L") {
						b[len(b)-1].Function = a[len(a)-1].Function // RISC-V has symbols for labels
					}
					if !slices.Equal(a, b) {
						if differ++; differ <= 5 {
							t.Errorf("offset %#x: got %v; llvm-symbolizer has %v", addrs[i], a, b)
						}
					}
				}
				if differ > 0 {
					t.Errorf("got %d different stacks of %d", differ, len(addrs))
				}
			})
		}
	}
}
