package hostile

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Sizes, counts and offsets that are anything: each field of four and of eight bytes of
// a small dump, recording and object in turn becomes each of the numbers at which
// sums overflow. In the process of the test, for there are many thousands of them.

var numbers = []uint64{0, 1, 7, 0x7fffffff, 0xffffffff, 1<<63 - 1, 1<<64 - 1, 1<<64 - 8}

// inProcess runs the engine, which must come back soon and not ask for much memory.
func inProcess(t *testing.T, what string, opts inject.Options) *inject.Summary {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("%s: panic: %v\n%s", what, p, debug.Stack())
		}
	}()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	opts.Jobs = 1 // so that a panic is ours
	sum, err := inject.Run(ctx, opts)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("%s: %d MB were asked for", what, took>>20)
	}
	if ctx.Err() != nil {
		t.Fatalf("%s: it does not come to an end", what)
	}
	var said []string
	if err != nil {
		said = append(said, err.Error())
	} else {
		for _, p := range sum.Problems {
			said = append(said, p.String())
		}
	}
	for _, text := range said {
		isText(t, what, text)
		if len(text) < 20 || strings.Contains(text, "makeslice") || strings.Contains(text, "runtime error") {
			t.Errorf("%s: it says %q", what, text)
		}
	}
	return sum
}

// sound wants a run to work as long as nothing is changed.
func sound(t *testing.T, opts inject.Options) {
	t.Helper()
	if sum := inProcess(t, "as it was", opts); sum == nil || sum.Objects == 0 {
		t.Fatalf("it does not work to begin with: %+v", sum)
	}
}

// each calls try for every way to put a number into a field of b, from the given byte
// on. Every step-th is enough, or in make interop four times as many, others each time; the long form takes
// all.
func each(t *testing.T, b []byte, from, to, step int, try func(what string, b []byte)) {
	t.Helper()
	switch all := os.Getenv("JITINJECT_ALL"); {
	case all == "every":
		step = 1
	case all != "":
		step = max(step/4, 1)
	case testing.Short():
		step *= 5
	}
	n := int(testrec.Seed(t) % uint64(step))
	for _, size := range []int{4, 8} {
		for at := from; at+size <= min(to, len(b)); at += 4 {
			for _, number := range numbers {
				if size == 4 && number > 0xffffffff {
					continue
				}
				if n++; n%step != 0 {
					continue
				}
				changed := append([]byte(nil), b...)
				if size == 4 {
					binary.LittleEndian.PutUint32(changed[at:], uint32(number))
				} else {
					binary.LittleEndian.PutUint64(changed[at:], number)
				}
				try(fmt.Sprintf("%#x in the %d bytes at %#x", number, size, at), changed)
			}
		}
	}
}

// smallStage has a real dump's first records, with all kinds of them.
func smallStage(t *testing.T) (s *stage, recording, dump []byte) {
	t.Helper()
	s = &stage{t, testrec.Place(t, "toyjit")}
	names, err := filepath.Glob(s.path("jit-*.dump"))
	if s.must(err); len(names) != 1 {
		t.Fatalf("got %+v; want 1 name", names)
	}
	recording = []byte(s.read("perf.data"))
	dump = []byte(s.read(filepath.Base(names[0])))
	s.must(os.Rename(names[0], s.path("dump")))
	return s, recording, dump[:min(len(dump), 6000)]
}

func TestNumbers_InDumps(t *testing.T) {
	s, _, dump := smallStage(t)
	pid := binary.LittleEndian.Uint32(dump[20:])
	for _, bundle := range []bool{false, true} {
		opts := inject.Options{Input: s.path("perf.data"), Output: s.path("out.data"), Objects: s.path("objects"), Sources: s.path("sources"), Bundle: bundle, Force: true}
		opts.SideFiles = []inject.SideFile{{PID: pid, Path: s.path("dump")}}
		s.must(os.WriteFile(s.path("dump"), dump, 0o644))
		sound(t, opts)
		each(t, dump, 0, len(dump), 37, func(what string, b []byte) {
			s.must(os.WriteFile(s.path("dump"), b, 0o644))
			inProcess(t, "dump: "+what, opts)
		})
	}
}

// Header, attr, ids, the first records, and the features behind all of them.
func TestNumbers_InRecordings(t *testing.T) {
	s, recording, dump := smallStage(t)
	s.must(os.WriteFile(s.path("dump"), dump, 0o644))
	le := binary.LittleEndian
	data, end := int(le.Uint64(recording[40:])), int(le.Uint64(recording[40:])+le.Uint64(recording[48:]))
	pid := le.Uint32(dump[20:])
	opts := inject.Options{Input: s.path("changed.data"), Output: s.path("out.data"), Objects: s.path("objects"), Sampled: true, Force: true}
	opts.SideFiles = []inject.SideFile{{PID: pid, Path: s.path("dump")}}
	s.must(os.WriteFile(s.path("changed.data"), recording, 0o600))
	sound(t, opts)
	for _, part := range []struct{ from, to, step int }{{0, data, 3}, {data, data + 2000, 41}, {end, end + 700, 11}, {end + 700, len(recording), 97}} {
		each(t, recording, part.from, part.to, part.step, func(what string, b []byte) {
			s.must(os.WriteFile(s.path("changed.data"), b, 0o600))
			inProcess(t, "recording: "+what, opts)
		})
	}
}

// Objects that are there already, and their index, are read to see whether they are as
// they should be; clean reads them, too.
func TestNumbers_InObjects(t *testing.T) {
	s := newStage(t, 1)
	s.inject().wants(allInjected)
	name := s.objectNames("out.data")[0]
	object, err := os.ReadFile(name)
	s.must(err)
	each(t, object, 0, len(object), 7, func(what string, b []byte) {
		s.must(os.WriteFile(name, b, 0o644))
		start := time.Now()
		sum, err := inject.Clean(t.Context(), inject.CleanOptions{Input: s.path("out.data"), Force: true})
		if err != nil || sum.Objects != 1 || sum.Removed+len(sum.Kept) != 1 || time.Since(start) > within {
			t.Fatalf("object: %s: %+v, %v", what, sum, err)
		}
	})
	s.must(os.WriteFile(name, object[:len(object)/2], 0o644))
	s.inject().wants(allInjected)
	s.shows("out.data", 1)
}
