package hostile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// Dumps that cost more than they are worth.

// measured runs the command and returns its peak memory and how long it took.
func (s *stage) measured(args ...string) (r *result, peak int64, took time.Duration) {
	s.t.Helper()
	cmd := exec.Command(program, append([]string{"-i", "perf.data", "-o", "out.data"}, args...)...)
	cmd.Dir = s.dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	// A process begins with the peak of its parent [exec_mmap in the kernel's fs/exec.c].
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		s.t.Logf("the peak of this process stays in the result: %v", err)
	}
	start := time.Now()
	s.must(cmd.Start())
	timer := time.AfterFunc(5*time.Minute, func() { cmd.Process.Kill() })
	cmd.Wait()
	timer.Stop()
	took = time.Since(start)
	peak = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	if own := residentBytes(s.t); peak < own+own/8 { // as under the race detector
		s.t.Logf("the command's peak of memory is unknown: it is below that of this process, %d MB", own>>20)
		peak = 0
	}
	return &result{s.t, "jitinject", cmd.ProcessState.ExitCode(), "", stderr.String()}, peak, took
}

// residentBytes returns the memory that this process has.
func residentBytes(t *testing.T) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/statm")
	var pages, resident int64
	if err == nil {
		_, err = fmt.Sscan(string(b), &pages, &resident)
	}
	if err != nil {
		t.Fatal(err)
	}
	return resident * int64(os.Getpagesize())
}

// Millions of records of 16 bytes, which is as small as they get, and of the smallest
// that say anything. All of them are of no use: memory does not grow with them.
func TestMany_TinyRecords(t *testing.T) {
	kinds := map[string][]byte{
		"of unknown type": tiny(99, 16),
		"that are empty":  tiny(uint32(jitdump.IDClose), 16),
		"too short":       tiny(uint32(jitdump.IDLoad), 16),
		"of lines":        tiny(uint32(jitdump.IDDebugInfo), 32), // whose functions never come
		"of moves":        stray(),                               // of a function that never came
		"of unwinding":    tiny(uint32(jitdump.IDUnwinding), 40), // of no function
	}
	more := testrec.Chosen(t, slices.Sorted(maps.Keys(kinds)), 0, 1) // in make interop, its long form has all
	for what, record := range kinds {
		t.Run(what, func(t *testing.T) {
			n := testrec.Rounds(2_000_000, 500_000)
			if slices.Contains(more, what) {
				n = 10_000_000
			}
			s := newStage(t, 3)
			f, err := os.OpenFile(s.path(dumpName), os.O_WRONLY|os.O_APPEND, 0)
			s.must(err)
			w := bufio.NewWriterSize(f, 1<<20)
			for range n {
				w.Write(record)
			}
			s.must(w.Flush())
			s.must(f.Close())
			r, peak, took := s.measured()
			if r.code != allInjected {
				r.wants(incomplete)
			}
			if lines := strings.Count(r.stderr, "\n"); lines > 70 {
				t.Errorf("it says so in %d lines", lines)
			}
			s.shows("out.data", 3)
			t.Logf("%d records: %v, %d MB", n, took.Round(time.Millisecond), peak>>20)
			if limit := int64(200 << 20); peak > limit {
				t.Errorf("%d records of %d bytes take %d MB", n, len(record), peak>>20)
			}
			if limit := time.Duration(n) * 10 * time.Microsecond; took > limit {
				t.Errorf("%d records take %v", n, took)
			}
		})
	}
}

// tiny is a record of the given size, zeros but for its head.
func tiny(id, size uint32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, id)
	b = binary.LittleEndian.AppendUint32(b, size)
	b = binary.LittleEndian.AppendUint64(b, 3000)
	return append(b, make([]byte, size-16)...)
}

// stray is a move of a function that there is not.
func stray() []byte {
	b := tiny(uint32(jitdump.IDMove), 64)
	binary.LittleEndian.PutUint64(b[56:], math.MaxUint64)
	return b
}

// Functions of no length, all at one place: they need no object, and are counted.
func TestMany_EmptyFunctions(t *testing.T) {
	const n = 200_000
	s := newStage(t, 3)
	f, err := os.OpenFile(s.path(dumpName), os.O_WRONLY|os.O_APPEND, 0)
	s.must(err)
	w := bufio.NewWriterSize(f, 1<<20)
	for i := range n {
		rec := tiny(uint32(jitdump.IDLoad), 58)
		binary.LittleEndian.PutUint64(rec[8:], uint64(3000+i))
		binary.LittleEndian.PutUint32(rec[16:], pid)
		binary.LittleEndian.PutUint64(rec[24:], base)
		binary.LittleEndian.PutUint64(rec[32:], base)
		binary.LittleEndian.PutUint64(rec[48:], uint64(i+3))
		rec[56] = 'e'
		w.Write(rec)
	}
	s.must(w.Flush())
	s.must(f.Close())
	r, peak, took := s.measured()
	r.wants(allInjected, "no code")
	s.shows("out.data", 3)
	t.Logf("%d functions: %v, %d MB", n, took.Round(time.Millisecond), peak>>20)
	if limit := int64(100<<20 + 600*n); peak > limit {
		t.Errorf("%d functions take %d MB", n, peak>>20)
	}
}

// Records that claim to be each other's: one index and one address for all, one for
// every two, moves in circles and onto each other, other processes' numbers.
func TestMany_TangledRecords(t *testing.T) {
	const n = 300
	for _, args := range [][]string{{}, {"--bundle"}, {"--sampled"}} {
		s := newStage(t, n)
		var recs []timed
		for i := range uint64(n) {
			l := load(i, fmt.Sprintf("f%d", i))
			l.CodeIndex = i % 7
			if i%3 == 0 {
				l.CodeAddr, l.VMA = base, math.MaxUint64-i
			}
			l.PID, l.TID = pid+uint32(i%2), uint32(i)
			recs = append(recs, timed{2000 + i%10, l})
			for j := range uint64(3) {
				recs = append(recs, timed{1999, &jitdump.Move{PID: pid, TID: 1, VMA: base, OldCodeAddr: base + 64*j, NewCodeAddr: base + 64*((j+1)%3), CodeSize: 64, CodeIndex: j}})
			}
			recs = append(recs, timed{2500, &jitdump.Move{PID: pid, OldCodeAddr: base, NewCodeAddr: base + 32, CodeSize: math.MaxUint64 - i, CodeIndex: i}})
			info := jitdump.NewDebugInfo(binary.LittleEndian, base+64*((i+1)%n), []jitdump.DebugEntry{{Addr: base + 64*i, Line: 7, Name: []byte("other.c")}, {Addr: base - 1, Line: 0, Name: []byte("\xff")}})
			recs = append(recs, timed{2000, info})
			recs = append(recs, timed{2000, jitdump.NewEmbeddedSource("other.c", []byte("text"))})
		}
		s.dump(dumpName, recs...)
		r := s.inject(args...)
		if r.code != allInjected {
			r.wants(incomplete)
		}
		s.shows("out.data", 0)
		if first := s.read("out.data"); first != "" {
			s.inject(args...)
			if s.read("out.data") != first {
				t.Error("the second run makes something else")
			}
		}
	}
}

// Trees of inlined calls that are no trees, or higher than any stack.
func TestMany_InlineTreesWithoutEnd(t *testing.T) {
	for what, level := range map[string]func(i int) uint32{
		"deep":     func(i int) uint32 { return uint32(min(i, math.MaxUint32)) },
		"skipping": func(i int) uint32 { return uint32(i) * 2 },
		"huge":     func(i int) uint32 { return math.MaxUint32 - uint32(i) },
		"flat":     func(i int) uint32 { return 0 },
	} {
		t.Run(what, func(t *testing.T) {
			s := newStage(t, 1)
			const depth = 20000
			info := &jitdump.DebugInfo2{
				Files: [][]byte{[]byte("a.c")}, Names: [][]byte{[]byte("f0")},
				Functions: []jitdump.SourceFunction{{}},
			}
			for i := range depth {
				info.Calls = append(info.Calls, jitdump.InlineCall{Depth: level(i), RangeCount: 1})
				info.Ranges = append(info.Ranges, jitdump.CodeRange{Size: 64})
				info.Lines = append(info.Lines, jitdump.SourceLine{})
			}
			s.dump(dumpName, timed{1900, info}, timed{2000, load(0, "f0")})
			r, peak, took := s.measured()
			if r.code != allInjected {
				r.wants(incomplete, "inlined calls")
			}
			s.shows("out.data", 1)
			if peak > 300<<20 || took > 20*time.Second {
				t.Errorf("%d MB, %v", peak>>20, took)
			}
		})
	}
}
