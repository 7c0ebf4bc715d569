package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// stubBlock is a record as .NET writes it for a block of stubs.
func stubBlock(time, addr, size uint64) timed {
	return timed{time, &jitdump.Load{PID: 100, TID: 100, VMA: addr, CodeAddr: addr, CodeSize: size, CodeIndex: addr, Name: []byte("stub ReportStubBlock<StubPrecode>")}}
}

// Blocks of stubs without code have a name, and what is loaded over them its own.
func TestDotnet_StubBlocks(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.expect(100, 3000, 0x20008, "stub ReportStubBlock<StubPrecode>+0x8")
	w.expect(100, 3001, 0x23fff, "stub ReportStubBlock<StubPrecode>+0x3fff")
	w.expect(100, 3002, 0x10008, "alpha+0x8")
	w.expect(100, 3004, 0x21008, "beta+0x8")
	w.dump("jit-100.dump", x86(100),
		stubBlock(2000, 0x20000, 0x4000),
		load(2001, 100, 1, 0x10000, "alpha", code(64, 1)),
		load(3003, 100, 2, 0x21000, "beta", code(64, 2)))
	sum := w.check()
	if d := sum.Dumps[0]; d.WithoutCode != 1 || d.Functions != 3 {
		t.Errorf("%d functions, %d of them without code; want 3, 1", d.Functions, d.WithoutCode)
	}
	out := testrec.Run(t, w.dir, testrec.Tool(t, "readelf"), "-SW", w.path("jitted-100-131072.so"))
	if !strings.Contains(out, "NOBITS") {
		t.Errorf("the object of a block has code:\n%s", out)
	}
}

// .NET 10.0 stops behind the name of the first block that it cannot read.
func TestDotnet_Stopped(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	for i := range uint64(30) {
		w.expect(100, 3000+i, 0x40008, "")
	}
	whole := dumpBytes(t, x86(100), load(2000, 100, 1, 0x10000, "stub JumpStub<?>", code(64, 1)),
		timed{2001, &jitdump.Load{PID: 100, TID: 100, VMA: 0x20000, CodeAddr: 0x20000, CodeIndex: 2, Name: []byte("stub ReportStubBlock<StubPrecode>"), Code: make([]byte, 0x4000)}})
	at := len(dumpBytes(t, x86(100), load(2000, 100, 1, 0x10000, "stub JumpStub<?>", code(64, 1))))
	put(t, w.path("jit-100.dump"), whole[:len(whole)-0x4000])
	sum, err := w.run()
	if err != nil || len(sum.Problems) != 1 {
		t.Fatalf("got %s, %v; want no error, 1 problem", asJSON(sum), err)
	}
	for _, word := range []string{`in the record of "stub ReportStubBlock<StubPrecode>"`, "30 of 30 samples", "DOTNET_PerfMapStubGranularity=2"} {
		if !strings.Contains(sum.Problems[0].String(), word) {
			t.Errorf("%s, want %q", sum.Problems[0], word)
		}
	}
	if d := sum.Dumps[0]; d.Cut != int64(at) || d.CutName == "" {
		t.Errorf("cut at %#x in %q, want %#x", d.Cut, d.CutName, at)
	}
	// A producer that was killed may stop anywhere.
	for _, left := range []int{len(whole) - 0x4000 + 1, len(whole) - 0x4000 - 1, len(whole) - 1} {
		if err := os.WriteFile(w.path("jit-100.dump"), whole[:left], 0o600); err != nil {
			t.Fatal(err)
		}
		sum, err := engine.Run(t.Context(), w.opts)
		if err != nil || sum.Dumps[0].Cut != int64(at) || sum.Dumps[0].CutName != "" || !strings.Contains(sum.Problems[0].String(), "the rest was not written, or not copied") {
			t.Errorf("%d bytes: %+v, %v", left, sum, err)
		}
	}
}

// A program with .NET 10.0.9 inside, whose dump ends in the code of its second record. Its map has all
// methods.
func TestDotnet_Recorded(t *testing.T) {
	dir := testrec.Unpack(t, "dotnet10")
	opts := config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects"), Force: true}
	sum, err := engine.Run(t.Context(), opts)
	if err != nil || len(sum.Dumps) != 2 || sum.Dumps[0].CutName != "stub ReportStubBlock<Unknown>" {
		t.Fatalf(`got %s, %v; want no error, a dump with CutName = "stub ReportStubBlock<Unknown>", and a map`, asJSON(sum), err)
	}
	if s := sum.Samples; s.InJIT == 0 || s.Resolved != s.InJIT {
		t.Errorf("got %d of %d samples resolved; want all", s.Resolved, s.InJIT)
	}
	maps, err := filepath.Glob(filepath.Join(dir, "perf-*.map"))
	if err != nil || len(maps) != 1 {
		t.Fatalf("got %q, %v; want 1 map", maps, err)
	}
	if err := os.Remove(maps[0]); err != nil {
		t.Fatal(err)
	}
	sum, err = engine.Run(t.Context(), opts)
	if err != nil || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), "set DOTNET_PerfMapStubGranularity=2 and record again") {
		t.Errorf("without the map: got %s, %v; want the problem of .NET 10.0", asJSON(sum), err)
	}
}
