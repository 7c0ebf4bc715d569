package engine_test

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
)

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
