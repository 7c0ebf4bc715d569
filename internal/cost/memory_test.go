package cost

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// A dump of nothing but moves takes the most memory for its size: two mappings for each 64 bytes.
// GOGC keeps the garbage few.
func TestMemory_FollowsBytes(t *testing.T) {
	// mostMemory is how many bytes of memory a byte of the input may take.
	const mostMemory = 8
	for _, in := range functionSeries {
		if !strings.HasPrefix(in.name, "moves ") { // without the objects of many functions
			continue
		}
		t.Run(in.name, func(t *testing.T) {
			const n = 20_000
			memory, size := in.memory(t, n)
			more, larger := in.memory(t, 3*n)
			t.Logf("%d bytes of memory for %d, %d for %d: %.1f bytes for each", memory, size, more, larger, float64(more-memory)/float64(larger-size))
			if more-memory > mostMemory*(larger-size) {
				t.Errorf("got %d bytes of memory for %d, %d for %d; want at most %d for each", memory, size, more, larger, mostMemory)
			}
		})
	}
}

// memory injects an input and returns the most memory that the run had, and the input's size,
// in bytes.
func (in series) memory(t *testing.T, n int) (memory, size int64) {
	t.Helper()
	s := newScene(t)
	in.make(s, n)
	s.write(false)
	for _, name := range []string{"perf.data", dumpName} {
		info, err := os.Stat(s.path(name))
		s.must(err)
		size += info.Size()
	}
	s.must(os.Mkdir(s.path("cover"), 0o755))
	c := s.command("-i", "perf.data")
	c.Env = append(c.Env, "GOGC=10")
	out, err := c.CombinedOutput()
	if code := c.ProcessState.ExitCode(); code > 1 || code < 0 {
		t.Fatalf("got %v\n%s", err, out)
	}
	return c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10, size
}
