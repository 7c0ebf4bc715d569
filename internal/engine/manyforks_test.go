package engine_test

import (
	"fmt"
	"runtime"
	"testing"
)

// Thousands of forked processes that sample inherited functions are looked up by several goroutines at once.
func TestBundle_ManyForksOnAllCPUs(t *testing.T) {
	const base, functions, children = 0x7f1200000000, 500, 120_000
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, sampled := range []bool{false, true} {
		t.Run(fmt.Sprint("sampled ", sampled), func(t *testing.T) {
			w := newWorld(t)
			w.opts.Bundle, w.opts.Sampled = true, sampled
			w.mark(100, 1000, "jit-100.dump")
			w.Mmap2(100, 1001, base, 1<<20, 0, "//anon")
			var loads []timed
			for i := range functions {
				loads = append(loads, load(uint64(1500+i), 100, uint64(i), base+uint64(i)*64, fmt.Sprint("function", i), code(64, byte(i))))
			}
			w.dump("jit-100.dump", x86(100), loads...)
			for i := range children {
				time := uint64(10_000 + 10*i)
				w.Fork(uint32(1000+i), 100, time)
				w.Sample(uint32(1000+i), time+1, base+uint64(i%functions)*64+4)
			}
			sum, err := w.run()
			if err != nil {
				t.Fatal(err)
			}
			if n := sum.Dumps[0].Samples.Resolved; n != children {
				t.Errorf("got %d samples in functions; want %d", n, children)
			}
		})
	}
}
