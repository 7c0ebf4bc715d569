package engine_test

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Objects that lli registered for debuggers: from a core of the recorded process, and from a process
// that runs.

const (
	lliProcess = 24067
	lliDump    = "jit-24067.dump"
	lliData    = "../runtime/gdbjit/testdata/"
)

// lliRecording unpacks the recording and its core, and returns options for them. change may be nil.
func lliRecording(t *testing.T, change func(core []byte) []byte) (dir string, opts config.Options) {
	t.Helper()
	dir = t.TempDir()
	core := testrec.Gunzip(t, lliData+"lli.core.gz")
	if change != nil {
		core = change(core)
	}
	for name, b := range map[string][]byte{"perf.data": testrec.Gunzip(t, lliData+"lli.data.gz"), "lli.core": core} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, config.Options{
		Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects"),
		CodeFrom: []string{filepath.Join(dir, "lli.core")},
	}
}

// The core alone names the functions, with lines, inlined calls and unwind tables.
func TestGDBJIT_CoreWithoutDump(t *testing.T) {
	for _, bundle := range []bool{false, true} {
		dir, opts := lliRecording(t, nil)
		opts.Bundle = bundle
		sum, err := engine.Run(context.Background(), opts)
		if err != nil || len(sum.Dumps) != 1 {
			t.Fatalf("got %s, %v; want one dump", asJSON(sum), err)
		}
		if len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Text, lliDump+" is gone") {
			t.Errorf("got problems %v; want one about the jitdump, which is gone", sum.Problems)
		}
		d := &sum.Dumps[0]
		if d.PID != lliProcess || d.Kind != formats.GDBJIT || d.Functions != 3 || d.WithLines != 3 || d.Inlining != 2 || d.Unwind.Sent != 3 || d.WithoutCode != 0 || d.Clock.Kind != report.ClockStart {
			t.Errorf("got %s; want 3 functions of process %d, with all that is known of them", asJSON(d), lliProcess)
		}
		if d.Samples == nil || d.Samples.Resolved == 0 || d.Samples.Resolved != d.Samples.InJIT {
			t.Errorf("got samples %s; want all resolved", asJSON(d.Samples))
		}
		var names []string
		paths, _ := filepath.Glob(filepath.Join(dir, "objects", "*.so"))
		for _, path := range paths {
			for _, f := range functionsIn(t, path) {
				names = append(names, f.name)
				if len(f.code) == 0 || f.code[len(f.code)-1] != 0xc3 {
					t.Errorf("got code % x of %s; want code that ends with a return", f.code, f.name)
				}
			}
		}
		if slices.Sort(names); !slices.Equal(names, []string{"first", "main", "second"}) {
			t.Errorf("got functions %q; want first, main and second", names)
		}
		for version, perf := range testrec.Perfs(t) {
			script := testrec.Run(t, dir, perf, "script", "-f", "-i", opts.Output, "-F", "comm,ip,sym,srcline")
			whole := 0
			for _, s := range strings.Split(script, "\n\n") {
				if strings.Contains(s, "first") && strings.Contains(s, "second") && strings.Contains(s, "main") && strings.Contains(s, "runFunctionAsMain") {
					whole++
				}
			}
			if int64(whole) < d.Samples.Resolved/2 {
				t.Errorf("%s: got %d whole stacks of %d samples; want most:\n%s", version, whole, d.Samples.Resolved, script)
			}
			if !strings.Contains(script, "inlined.c:3") {
				t.Errorf("%s: got no line of first; want some:\n%s", version, script)
			}
		}
	}
}

// With the jitdump, the dump has the times, and the objects the rest.
func TestGDBJIT_CoreWithDump(t *testing.T) {
	dir, opts := lliRecording(t, nil)
	b, err := os.ReadFile(lliData + lliDump)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, lliDump), b, 0o600); err != nil {
		t.Fatal(err)
	}
	sum, err := engine.Run(context.Background(), opts)
	if err != nil || !sum.Complete() || len(sum.Dumps) != 1 {
		t.Fatalf("got %s, %v; want one dump, nothing missing", asJSON(sum), err)
	}
	d := &sum.Dumps[0]
	if d.Kind != formats.Jitdump || d.Functions != 3 || d.WithLines != 3 || d.Inlining != 2 || d.Unwind.Sent != 3 || d.Clock.Kind != report.ClockMonotonic {
		t.Errorf("got %s; want the jitdump's functions and times, with inlined calls and tables from the core", asJSON(d))
	}
	if !slices.ContainsFunc(sum.Notes, func(n string) bool {
		return strings.Contains(n, "it describes 3 functions of ") && !strings.Contains(n, "lines") && strings.Contains(n, lliDump)
	}) {
		t.Errorf("got notes %q; want one about the 3 functions", sum.Notes)
	}
	// Without the core, there are no inlined calls.
	opts.CodeFrom = nil
	if sum, err = engine.Run(context.Background(), opts); err != nil || sum.Dumps[0].Inlining != 0 || sum.Dumps[0].Unwind.Sent != 0 {
		t.Errorf("got %s, %v without the core; want neither inlined calls nor tables", asJSON(sum.Dumps), err)
	}
}

// A damaged object costs lines and calls of functions that the dump names. Nothing else is missing.
func TestGDBJIT_DamagedObjectWithDump(t *testing.T) {
	dir, opts := lliRecording(t, func(core []byte) []byte {
		at := bytes.Index(core, []byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x3e\x00"))
		core[at+16] = byte(elf.ET_DYN) // its DWARF is not that of a linked object
		return core
	})
	if err := os.WriteFile(filepath.Join(dir, lliDump), read(t, lliData+lliDump), 0o600); err != nil {
		t.Fatal(err)
	}
	sum, err := engine.Run(context.Background(), opts)
	if err != nil || !sum.Complete() || sum.Dumps[0].Samples.Resolved == 0 || sum.Dumps[0].Inlining != 0 {
		t.Errorf("got %s, %v; want nothing missing, and no inlined calls", asJSON(sum), err)
	}
	if !slices.ContainsFunc(sum.Notes, func(n string) bool { return strings.Contains(n, "extend beyond their section") }) {
		t.Errorf("got notes %q; want one about the object", sum.Notes)
	}
}

// Inlined calls that leave their callers are one problem of the object, however many functions have some.
func TestGDBJIT_OverlappingCalls(t *testing.T) {
	for _, jobs := range []int{1, 4} {
		_, opts := lliRecording(t, func(core []byte) []byte {
			// Lexical blocks become inlined calls, shorter than the calls inside.
			for _, change := range [][2]string{
				{"\x0a\x0b\x01\x11\x1b\x12\x06\x00\x00", "\x0a\x1d\x01\x11\x1b\x12\x06\x00\x00"},
				{"\x0a\x02\xb7\x01\x00\x00", "\x0a\x02\x80\x00\x00\x00"},
				{"\x0a\x04\x3b\x00\x00\x00", "\x0a\x04\x08\x00\x00\x00"},
			} {
				core = bytes.Replace(core, []byte(change[0]), []byte(change[1]), 1)
			}
			return core
		})
		opts.Jobs = jobs
		sum, err := engine.Run(context.Background(), opts)
		if err != nil || len(sum.Problems) != 2 || !strings.Contains(sum.Problems[1].Text+sum.Problems[0].Text, "or have less code (2 functions)") {
			t.Errorf("%d jobs: got %s, %v; want a problem with 2 functions, beside that of the dump that is gone", jobs, asJSON(sum), err)
		}
	}
}

// A dump that contradicts the objects takes precedence.
func TestGDBJIT_OtherCodeInDump(t *testing.T) {
	dir, opts := lliRecording(t, nil)
	b, err := os.ReadFile(lliData + lliDump)
	if err != nil {
		t.Fatal(err)
	}
	i := bytes.LastIndex(b, []byte("main\x00"))
	b[i+5]++ // the first byte of its code
	if err := os.WriteFile(filepath.Join(dir, lliDump), b, 0o600); err != nil {
		t.Fatal(err)
	}
	sum, err := engine.Run(context.Background(), opts)
	if err != nil || len(sum.Dumps) != 1 || sum.Dumps[0].Unwind.Sent != 2 {
		t.Fatalf("got %s, %v; want one dump with 2 functions as registered", asJSON(sum), err)
	}
	if !slices.ContainsFunc(sum.Notes, func(n string) bool { return strings.Contains(n, "1 function of it (main) contradicts ") }) {
		t.Errorf("got notes %q; want one about the contradiction", sum.Notes)
	}
}

// A damaged core costs the damaged part, and has a message.
func TestGDBJIT_DamagedCore(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(b []byte) []byte
		want   string // a part of a problem
		dumps  int
	}{
		{"cut", func(b []byte) []byte { return b[:len(b)-60000] }, "", -1},
		{"no ELF object", func(b []byte) []byte {
			i := bytes.Index(b, append([]byte("\x7fELF\x02\x01\x01"), 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0)) // ET_REL
			b[i] = 0
			return b
		}, "does not begin an ELF object", 0},
		{"other process", func(b []byte) []byte {
			list := coreNote(t, b, 0x46494c45)
			for i := range binary.LittleEndian.Uint64(list) {
				for _, at := range []uint64{16 + 24*i, 24 + 24*i} {
					binary.LittleEndian.PutUint64(list[at:], binary.LittleEndian.Uint64(list[at:])+0x1000)
				}
			}
			return b
		}, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, opts := lliRecording(t, c.change)
			sum, err := engine.Run(context.Background(), opts)
			if sum == nil && err != nil && strings.Contains(err.Error(), lliDump) {
				return // nothing to inject, as without the core
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.dumps >= 0 && len(sum.Dumps) != c.dumps {
				t.Errorf("got dumps %s; want %d", asJSON(sum.Dumps), c.dumps)
			}
			if !strings.Contains(fmt.Sprint(sum.Problems), c.want) {
				t.Errorf("got problems %v; want %q", sum.Problems, c.want)
			}
		})
	}
}

// A process that still runs is read as its core would be, and goes on.
func TestGDBJIT_LiveProcess(t *testing.T) {
	clang, lli, perf := testrec.Tool(t, "clang-14", "clang"), testrec.Tool(t, "lli-14", "lli"), testrec.Tool(t, "perf")
	dir := t.TempDir()
	program := filepath.Join(dir, "busy.c")
	text := "__attribute__((noinline)) static int spin(unsigned n) { volatile unsigned s = 0; for (unsigned i = 0; i < n; i++) s += i; return s; }\n" +
		"int main(void) { for (;;) spin(100000); }\n"
	if err := os.WriteFile(program, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := testrec.Command(t, dir, clang, "-g", "-O1", "-c", "-emit-llvm", "-o", "busy.bc", program).CombinedOutput(); err != nil {
		t.Fatalf("got %v from clang; want no error: %s", err, out)
	}
	cmd := testrec.Command(t, dir, lli, "--jit-kind=mcjit", "busy.bc")
	cmd.Env = append(os.Environ(), "JITDUMPDIR="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	waitForDump(t, dir, cmd.Process.Pid)
	pid := fmt.Sprint(cmd.Process.Pid)
	testrec.Run(t, dir, perf, "record", "-q", "-k", "mono", "-e", "cpu-clock", "-o", "perf.data", "-p", pid, "--", "sleep", "1")
	opts := config.Options{
		Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects"),
		Live: []uint32{uint32(cmd.Process.Pid)},
	}
	sum, err := engine.Run(context.Background(), opts)
	if err != nil || !sum.Complete() {
		t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
	}
	found := slices.ContainsFunc(sum.Dumps, func(d report.DumpSummary) bool {
		return d.Functions == 2 && d.WithLines == 2 && d.Unwind.Sent == 2 && d.Samples != nil && d.Samples.Resolved > 0
	})
	if len(sum.Dumps) != 1 || !found {
		t.Errorf("got %s; want spin and main with lines and samples", asJSON(sum.Dumps))
	}
	// The process that has the pid later is another one.
	cmd.Process.Kill()
	cmd.Wait()
	if sum, err = engine.Run(context.Background(), opts); err != nil || sum.Complete() || !strings.Contains(fmt.Sprint(sum.Problems), "no process with this pid is running") {
		t.Errorf("got %s, %v of a process that has ended; want a message", asJSON(sum), err)
	}
}

// A process that is not in the recording is a problem, as a core of one is. With Strict, nothing is written.
func TestGDBJIT_LiveNotRecorded(t *testing.T) {
	_, opts := lliRecording(t, nil)
	opts.Live = []uint32{uint32(os.Getpid())}
	sum, err := engine.Run(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("there is no process %d in the recording", os.Getpid())
	if sum.Complete() || len(sum.Dumps) != 1 || !strings.Contains(fmt.Sprint(sum.Problems), want) {
		t.Errorf("got %s; want what the core has, and problem %q", asJSON(sum), want)
	}
	opts.Output, opts.Strict = opts.Output+".strict", true
	if _, err = engine.Run(context.Background(), opts); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v with Strict; want %q", err, want)
	}
	if _, err := os.Stat(opts.Output); err == nil {
		t.Error("got an output with Strict; want none")
	}
}

// waitForDump waits until lli has written the jitdump of its program, which it does before it runs that.
func waitForDump(t *testing.T, dir string, pid int) {
	t.Helper()
	for range 600 {
		paths, _ := filepath.Glob(filepath.Join(dir, ".debug", "jit", "*", fmt.Sprintf("jit-%d.dump", pid)))
		for _, path := range paths {
			if st, err := os.Stat(path); err == nil && st.Size() > 200 {
				time.Sleep(200 * time.Millisecond) // until the object is registered
				return
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("lli wrote no jitdump in 30 s")
}

// gcore writes the notes last. A core without them is of an unknown process: that is a problem.
func TestGDBJIT_CutCore(t *testing.T) {
	size := 0
	_, opts := lliRecording(t, func(b []byte) []byte {
		le := binary.LittleEndian
		for i, at := 0, le.Uint64(b[32:]); i < int(le.Uint16(b[56:])); i, at = i+1, at+56 {
			if elf.ProgType(le.Uint32(b[at:])) == elf.PT_NOTE {
				le.PutUint64(b[at+8:], uint64(len(b)))
			}
		}
		size = len(b)
		return b
	})
	core := opts.CodeFrom[0]
	for _, strict := range []bool{false, true} {
		opts.Strict = strict
		sum, err := engine.Run(context.Background(), opts)
		text := fmt.Sprint(err)
		if sum != nil {
			text += fmt.Sprint(sum.Problems)
		}
		want := fmt.Sprintf("%s: the core dump is cut off at offset %#x", core, size)
		if !strings.Contains(text, want) || !strings.Contains(text, "make another core dump") || strings.Contains(text, "process 0") {
			t.Errorf("strict %v: got %s; want %q and what to do", strict, text, want)
		}
	}
}

// A perf map names code that the process has not registered. Registered functions keep what their
// objects say.
func TestGDBJIT_MapHasMore(t *testing.T) {
	// The start of first, and a place behind all functions of the objects.
	const lines = "7f0e7261c000 20 old\n7f0e7261cf00 10 stub\n"
	for _, dump := range []string{"missing", "none"} {
		for _, c := range []struct {
			lines string
			dumps int
		}{{lines, 2}, {lines[:strings.Index(lines, "\n")+1], 1}} {
			dir, opts := lliRecording(t, nil)
			if dump == "none" {
				b, err := os.ReadFile(opts.Input)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(opts.Input, bytes.ReplaceAll(b, []byte(lliDump), []byte("x"+lliDump[1:])), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("perf-%d.map", lliProcess)), []byte(c.lines), 0o600); err != nil {
				t.Fatal(err)
			}
			sum, err := engine.Run(context.Background(), opts)
			if err != nil || len(sum.Dumps) != c.dumps || len(sum.Notes) > 0 || len(sum.Problems) != map[string]int{"none": 1, "missing": 2}[dump] {
				t.Fatalf("dump %s: got %s, %v; want %d dumps, and no problem but a contradiction and a missing dump", dump, asJSON(sum), err, c.dumps)
			}
			var names []string
			paths, _ := filepath.Glob(filepath.Join(dir, "objects", "*.so"))
			for _, path := range paths {
				for _, f := range functionsIn(t, path) {
					names = append(names, f.name)
				}
			}
			want := []string{"first", "main", "second", "stub"}
			if c.dumps == 1 {
				want = want[:3]
			}
			if slices.Sort(names); !slices.Equal(names, want) {
				t.Errorf("dump %s: got functions %q; want %q", dump, names, want)
			}
		}
	}
}
