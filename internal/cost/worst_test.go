package cost

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A worst file needs the most memory or work for its size, in one way.
type worst struct {
	format, name string
	// make makes files of about size bytes, all in all. Compressed ones count as what they unpack to.
	make func(s *scene, size int)
	// runs are the command lines to run, in this order, without the program: words between spaces.
	// Without any it is an injection. The recording is perf.data, and the result out.data.
	runs []string
}

// Each file NAME_test.go of a format adds its files.
var worstFiles = slices.Concat(worstDumps, worstObjects, worstDWARF, worstELF, worstCores, worstRecordings, worstMaps, worstPerfMaps, worstLogs, worstProcesses, worstOtherLogs, worstResults, worstScripts, worstTools)

// Bounds on a run.
const (
	alwaysMemory, memoryPerByte   = 64 << 20, 32
	alwaysWritten, writtenPerByte = 16 << 20, 80
	// callsWritten is for formats of calls: one of three bytes becomes a sample with up to 127 callers.
	// The object of a method of nine bytes has 800.
	callsWritten = 400
	// mostTwice is how much more work twice the input may be: 2 for one pass over it, and a little more
	// for sorting and for searching.
	mostTwice = 2.3
)

// The memory and the work of each command follow the bytes that it reads. One of a file's commands runs; in
// make interop all of them, and one by chance, or in its long form each, with larger files. Work counts
// statements; of the standard library, bytes and system calls.
func TestWorst_FollowsBytes(t *testing.T) {
	sizes := []int{100_000, 1_000_000}
	if os.Getenv("JITINJECT_ALL") != "" {
		sizes = append(sizes, 10_000_000)
	}
	for i, in := range worstFiles {
		t.Run(in.format+"/"+in.name, func(t *testing.T) {
			t.Parallel()
			runs := in.runs
			if runs == nil {
				runs = []string{"inject -i perf.data"}
			}
			if n := len(runs); os.Getenv("JITINJECT_ALL") == "" {
				runs = runs[i%n:][:1]
			}
			large := testrec.Chosen(t, runs, 1, 1)
			before := make([]cost, len(runs))
			for i, size := range sizes {
				s := newScene(t)
				in.make(s, size)
				s.write()
				if n := s.bytes(); n < int64(size/2) || n > 2*int64(size) {
					t.Fatalf("got %d bytes; want some %d", n, size)
				}
				for j, run := range runs {
					if i == 2 && !slices.Contains(large, run) {
						continue
					}
					t.Run(fmt.Sprint(run, " ", size), func(t *testing.T) {
						s.t = t
						got := s.bounded(strings.Fields(run)...)
						if i > 0 {
							got.atMost(t, before[j])
						}
						before[j] = got
					})
				}
			}
		})
	}
}

// bounded runs a command and checks the memory. Without garbage collection it is what is allocated in
// all: an upper bound, and it is reported. If it is too much, the command runs as it does by default.
func (s *scene) bounded(args ...string) cost {
	s.t.Helper()
	for _, earlier := range []string{"objects", "out.data", "a"} { // results of other commands
		s.must(os.RemoveAll(s.path(earlier)))
	}
	input := s.bytes()
	got := s.run([]string{"GOGC=off", "GOMEMLIMIT=1GiB"}, args...)
	got.input = input
	most := alwaysMemory + memoryPerByte*input
	peak := got.memory
	if got.memory > most {
		peak = s.run([]string{"GOMAXPROCS=0"}, args...).memory
	}
	s.t.Logf("%s: %d bytes: exit code %d, %d statements, %d bytes allocated, %d in memory, %d read, %d written, %d calls",
		strings.Join(args, " "), input, got.code, got.statements.sum(), got.memory, peak, got.read, got.written, got.calls)
	if peak > most {
		s.t.Errorf("got %d bytes of memory for %d; want at most %d", peak, input, most)
	}
	perByte := int64(writtenPerByte)
	if s.calls {
		perByte = callsWritten
	}
	if most := alwaysWritten + perByte*input; got.written > most {
		s.t.Errorf("got %d bytes written for %d; want at most %d", got.written, input, most)
	}
	return got
}

// atMost checks that the work grows as the input does, from before: ten times, and more if the files did not
// come out as large as wanted.
func (c cost) atMost(t *testing.T, before cost) {
	t.Helper()
	times := max(10, float64(c.input)/float64(before.input))
	most := math.Pow(times, math.Log2(mostTwice))
	few := int(4 * before.input) // a file that is read twice may be read three times if it is large
	for _, work := range []struct {
		what         string
		few          int // does not count
		small, large int64
	}{
		{"statements", 100_000, int64(before.statements.sum()), int64(c.statements.sum())},
		{"system calls", 1000, before.calls, c.calls},
		{"bytes read", max(1<<20, few), before.read, c.read},
		{"bytes written", max(1<<20, few), before.written, c.written},
	} {
		if float64(work.large) > most*float64(max(work.small, int64(work.few))) {
			t.Errorf("got %d and %d %s; want at most %.1f times as many for %.1f times the bytes", work.small, work.large, work.what, most, times)
			if work.what == "statements" {
				t.Log(grown(before.statements, c.statements))
			}
		}
	}
}
