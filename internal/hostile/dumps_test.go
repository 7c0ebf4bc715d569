package hostile

import (
	"fmt"
	"os"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A process with more dumps than a process may have files open, each in a directory of its own, takes nothing
// from the process beside it.
func TestDumps_MoreThanDescriptors(t *testing.T) {
	const n = 1500
	s := emptyStage(t)
	r := testrec.NewRecording()
	hog, now := uint32(pid+1), uint64(1000)
	r.Comm(hog, now, "hog", true)
	r.Mmap2(hog, now, base, 1<<32, 0, "//anon")
	for i := range uint64(n) {
		name := fmt.Sprintf("d%d/jit-%d.dump", i, hog)
		s.must(os.Mkdir(s.path(fmt.Sprintf("d%d", i)), 0o755))
		function := load(i+1, fmt.Sprintf("f%d", i+1))
		function.PID, function.TID = hog, hog
		s.dumpOf(hog, name, timed{1_000_000 + i, function})
		now++
		r.Marker(hog, now, s.path(name))
		r.Sample(hog, 10_000_000+i, base+64*(i+1)+8)
	}
	r.Comm(pid, 5000, "prog", true)
	r.Marker(pid, 5001, s.path(dumpName))
	s.dump(dumpName, timed{6000, load(0, "f0")})
	r.Sample(pid, 20_000_000, base+8)
	r.Write(t, s.path("perf.data"))
	for _, args := range [][]string{{}, {"--bundle"}} {
		s.runVia([]string{"sh", "-c", `ulimit -n 1024 && exec "$@"`, "sh"}, append([]string{"-i", "perf.data", "-o", "out.data"}, args...)...).wants(allInjected)
		s.shows("out.data", n+1)
	}
}

// Thousands of small dumps cost little memory.
func TestDumps_Memory(t *testing.T) {
	const n, most = 5000, 64<<20 + 32*(250+450)*5000 // bytes: of dump and recording, for each process
	s := emptyStage(t)
	r := testrec.NewRecording()
	for i := range uint64(n) {
		own := uint32(10_000 + i)
		name := fmt.Sprintf("jit-%d.dump", own)
		function := load(i, "f")
		function.PID, function.TID = own, own
		s.dumpOf(own, name, timed{2000, function})
		r.Comm(own, 1000+i, "app", true)
		r.Marker(own, 1000+i, s.path(name))
		r.Mmap2(own, 1000+i, base, 1<<32, 0, "//anon")
		r.Sample(own, 10_000_000+i, base+64*i+8)
	}
	r.Write(t, s.path("perf.data"))
	run, peak, _ := s.measured("--bundle")
	run.wants(allInjected)
	if peak > most {
		t.Errorf("got %d MB of memory for %d dumps; want at most %d", peak>>20, n, most>>20)
	}
}
