package engine_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A result is the same with any number of CPUs, also where some functions get no object.
func TestBundle_SameOnAnyCPUs(t *testing.T) {
	const base, functions = 0x7f1200000000, 5000
	w := newWorld(t)
	w.opts.Bundle = true
	w.mark(100, 1000, "jit-100.dump")
	w.Mmap2(100, 1001, base, 1<<20, 0, "//anon")
	var loads []timed
	for i := range functions {
		size := 64
		if i%7 == 3 {
			size = 0
		}
		loads = append(loads, load(uint64(1500+i^5), 100, uint64(i), base+uint64(i)*64, fmt.Sprint("function", i), code(size, byte(i))))
		w.Sample(100, uint64(1500+2*i), base+uint64(i)*64+4)
	}
	w.dump("jit-100.dump", x86(100), loads...)
	want := ""
	for _, cpus := range []int{1, 2, 3, 16} {
		before := runtime.GOMAXPROCS(cpus)
		sum, err := w.run()
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(w.opts.Output)
		if err != nil {
			t.Fatal(err)
		}
		objects, _ := filepath.Glob(filepath.Join(filepath.Dir(w.opts.Output), "jitted-*.so"))
		for _, path := range objects {
			object, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			data = append(data, object...)
		}
		got := fmt.Sprintf("%s%+v %+v %d of %d", data, *sum.Samples, *sum.Dumps[0].Samples, sum.Dumps[0].Empty, sum.Dumps[0].Functions)
		if want = cmp.Or(want, got); got != want || len(objects) == 0 {
			t.Errorf("%d CPUs: got %d objects, and another result than of one CPU", cpus, len(objects))
		}
	}
}
