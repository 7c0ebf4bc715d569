package engine_test

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Captures of OpenJ9's metadata, made of a vector of internal/format/j9meta whose code is moved to where a
// test wants it. Its methods are App.run, which is compiled, and some that are inlined.

const j9Memory = 0x200000000000 // where processes have executable memory

// vector returns a vector with its code elsewhere: size bytes in the warm part, and a cold part if
// coldSize is not 0.
func vector(t *testing.T, start, size, cold, coldSize uint64) []byte {
	t.Helper()
	b := read(t, testrec.Path("..", "internal", "format", "j9meta", "testdata", "inline-216.bin"))
	end := start + size
	if coldSize > 0 {
		end = cold + coldSize
	}
	for i, v := range []uint64{start, start + size, cold, end} {
		binary.LittleEndian.PutUint64(b[40+8*i:], v)
	}
	return b
}

// j9Methods is what a capture says of the vector's methods.
const j9Methods = `"methods": [
	{"method": "0x500000", "class": "App", "name": "run", "signature": "(I)V", "file": "App.java", "user": true, "lines": [[0, 10], [40, 11], [100, 12], [200, 13]]},
	{"method": "0x500020", "class": "java/util/List", "name": "get", "signature": "(I)V", "file": "java/util/List.java", "lines": [[0, 100], [200, 101]]}]`

// capture puts a capture of process 100 at a path of the world, which says more than it must.
func (w *world) capture(name string, metadata []byte, say ...string) {
	w.t.Helper()
	if !strings.Contains(strings.Join(say, ""), `"pid"`) {
		say = append(say, `"pid": 100`)
	}
	put(w.t, w.path(name+".bin"), metadata)
	say = append([]string{`"base": "0x7e0000000000"`, fmt.Sprintf(`"startPC": "%#x"`, binary.LittleEndian.Uint64(metadata[40:]))}, say...)
	put(w.t, w.path(name+".json"), []byte("{"+strings.Join(say, ", ")+"}"))
}

// runJava adds a process with 256 KiB of executable memory.
func (w *world) runJava(pid uint32, start, memory uint64) {
	w.Machine = "x86_64"
	w.Comm(pid, start, "java", true)
	w.Mmap2(pid, start+1, 0x550000000000, 0x10000, 0, "/usr/bin/java")
	w.Mmap2(pid, start+2, memory, 0x40000, 0, "//anon")
}

// Captures by either of their files and by their directory, warm and cold parts, with and without times.
func TestJ9_CapturesNamedOrInDirectory(t *testing.T) {
	for _, names := range [][]string{{"caps/a.bin", "caps/b.json"}, {"caps"}, {"caps", "caps/b.bin", "caps/a.json"}} {
		w := newWorld(t)
		if err := os.Mkdir(w.path("caps"), 0o755); err != nil {
			t.Fatal(err)
		}
		w.runJava(100, monoStart, j9Memory)
		w.capture("caps/a", vector(t, j9Memory+0x1000, 0x200, j9Memory+0x20000, 0x100), j9Methods)
		w.capture("caps/b", vector(t, j9Memory+0x1100, 0x400, 0, 0), `"pid": 100`, fmt.Sprintf(`"time": %d`, monoStart+1000))
		for _, n := range names {
			w.opts.SideFiles = append(w.opts.SideFiles, config.SideFile{Kind: formats.J9, Path: w.path(n)})
		}
		w.expect(100, monoStart+10, j9Memory+0x1010, "App.run(I)V+0x10")
		w.expect(100, monoStart+11, j9Memory+0x1110, "App.run(I)V+0x110")
		w.expect(100, monoStart+12, j9Memory+0x20010, "App.run(I)V+0x10")
		w.expect(100, monoStart+13, j9Memory+0x20100, "")
		w.expect(100, monoStart+1010, j9Memory+0x1110, "[method 0x500000]+0x10")
		w.expect(100, monoStart+1011, j9Memory+0x1010, "App.run(I)V+0x10")
		sum := w.check()
		if d := sum.Dumps[0]; len(sum.Dumps) != 1 || d.Kind != formats.J9 || d.Captures != 2 || d.Functions != 3 || d.WithoutCode != 3 || d.WithLines != 3 || d.Inlining != 2 ||
			d.PID != 100 || d.Path != w.path("caps/a.bin") || d.Clock.Kind != report.ClockMonotonic || sum.Markers != 1 || sum.Objects != 3 {
			t.Errorf("%q: got %s; want 1 dump, d.Kind = KindJ9, d.Captures = 2, d.Functions = 3, d.WithoutCode = 3, d.WithLines = 3, d.Inlining = 2, d.PID = 100, d.Path = %v, d.Clock.Kind = ClockMonotonic, Markers = 1, Objects = 3", names, asJSON(sum), w.path("caps/a.bin"))
		}
		size := int64(0)
		for _, name := range []string{"a.bin", "a.json", "b.bin", "b.json"} {
			size += int64(len(read(t, w.path("caps/"+name))))
		}
		if sum.Dumps[0].Bytes != size {
			t.Errorf("%d bytes, want %d", sum.Dumps[0].Bytes, size)
		}
	}
}

// Without a time, code is there from the start of the program on, whatever clock the recording has.
func TestJ9_NoTime(t *testing.T) {
	for _, clock := range []int32{1, -1} {
		for _, mode := range []string{"auto", "strict"} {
			w := newWorld(t)
			w.ClockID = clock
			w.opts.Clock = mode
			w.runJava(100, monoStart, j9Memory)
			w.capture("a", vector(t, j9Memory+0x1000, 0x200, 0, 0), j9Methods)
			w.opts.SideFiles = []config.SideFile{{Kind: formats.J9, PID: 100, Path: w.path("a.bin")}}
			w.expect(100, monoStart+10, j9Memory+0x1010, "App.run(I)V+0x10")
			if sum := w.check(); sum.Dumps[0].Clock != (report.Clock{Kind: report.ClockStart, Error: -1}) {
				t.Errorf("got %+v; want Dumps[0].Clock = %+v", sum.Dumps[0], report.Clock{Kind: report.ClockStart, Error: -1})
			}
		}
	}
}

// Times of captures count in CLOCK_MONOTONIC. Where those of the recording do not, an offset can be given;
// otherwise code is there from the start, and what was in one place is left out.
func TestJ9_OtherClockThanMonotonic(t *testing.T) {
	world := func(mode string) *world {
		w := newWorld(t)
		w.ClockID = -1
		w.opts.Clock = mode
		w.runJava(100, monoStart+offset, j9Memory)
		w.capture("a", vector(t, j9Memory+0x1000, 0x200, 0, 0), j9Methods, fmt.Sprintf(`"time": %d`, monoStart+100))
		w.capture("b", vector(t, j9Memory+0x1100, 0x200, 0, 0), fmt.Sprintf(`"time": %d`, monoStart+200))
		w.capture("c", vector(t, j9Memory+0x2000, 0x200, 0, 0), j9Methods)
		w.opts.SideFiles = []config.SideFile{{Kind: formats.J9, PID: 100, Path: w.dir}}
		return w
	}
	w := world(fmt.Sprint(int64(offset)))
	w.expect(100, monoStart+offset+10, j9Memory+0x1010, "")
	w.expect(100, monoStart+offset+11, j9Memory+0x2010, "App.run(I)V+0x10")
	w.expect(100, monoStart+offset+110, j9Memory+0x1110, "App.run(I)V+0x110")
	w.expect(100, monoStart+offset+210, j9Memory+0x1110, "[method 0x500000]+0x10")
	w.clock(report.Clock{Kind: report.ClockGiven, Offset: offset, Error: -1})

	w = world("auto")
	w.expect(100, monoStart+offset+10, j9Memory+0x1010, "")
	w.expect(100, monoStart+offset+11, j9Memory+0x2010, "App.run(I)V+0x10")
	w.expect(100, monoStart+offset+110, j9Memory+0x1110, "")
	w.clock(noClock, "made without -k mono; its functions are used from the start of the recording; 2 functions at addresses that were used more than once are left out")

	w = world("strict")
	if _, err := w.run(); err == nil || !strings.Contains(err.Error(), "without -k mono") {
		t.Error(err)
	}
	if _, err := os.Stat(w.opts.Output); err == nil {
		t.Error("there is a result")
	}
}

// The process of captures is from the user, or from the captures.
func TestJ9_ProcessOfCaptures(t *testing.T) {
	for _, c := range []struct {
		name    string
		say     string
		pid     uint32 // of --j9
		all     uint32 // of --pid
		want    uint32
		problem string
	}{
		{name: "unknown", say: `"pid": 0`, problem: "it does not name its process; it is left out"},
		{name: "named", say: `"pid": 0`, pid: 100, want: 100},
		{name: "--pid", say: `"pid": 0`, all: 100, want: 100},
		{name: "it says", say: `"pid": 200`, want: 200},
		{name: "it says, not --pid", say: `"pid": 200`, all: 100, want: 200},
		{name: "it says, but named", say: `"pid": 100`, pid: 200, want: 200},
		{name: "another run", say: `"pid": 99`, problem: "it is of process 99, which is not in the recording; it is left out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.runJava(100, monoStart, j9Memory)
			w.runJava(200, monoStart+10, j9Memory)
			w.Sample(100, monoStart+200, 0x1000)
			w.capture("a", vector(t, j9Memory+0x1000, 0x200, 0, 0), j9Methods, c.say)
			w.capture("b", vector(t, j9Memory+0x2000, 0x200, 0, 0), j9Methods, c.say)
			w.opts.SideFiles, w.opts.PID = []config.SideFile{{Kind: formats.J9, PID: c.pid, Path: w.dir}}, c.all
			sum, err := w.run()
			switch {
			case err != nil:
				t.Fatal(err)
			case c.problem != "":
				if len(sum.Dumps) != 0 || len(sum.Problems) != 2 || sum.Problems[0].Text != c.problem || sum.Problems[0].File != w.path("a.bin") {
					t.Errorf("got %s; want no dumps, 2 problems, Problems[0].Text = %q, Problems[0].File = %v", asJSON(sum), c.problem, w.path("a.bin"))
				}
			case !sum.Complete() || len(sum.Dumps) != 1 || sum.Dumps[0].PID != c.want || sum.Dumps[0].Captures != 2:
				t.Errorf("got %s; want nothing missing, 1 dump, Dumps[0].PID = %v, Dumps[0].Captures = 2", asJSON(sum), c.want)
			}
		})
	}
}

// Captures of several processes in one directory, one of them forked from the other.
func TestJ9_ForkedProcessesInOneDirectory(t *testing.T) {
	w := newWorld(t)
	w.runJava(100, monoStart, j9Memory)
	w.Fork(200, 100, monoStart+10)
	w.capture("a", vector(t, j9Memory+0x1000, 0x200, 0, 0), j9Methods, `"pid": 100`)
	w.capture("b", vector(t, j9Memory+0x2000, 0x200, 0, 0), j9Methods, `"pid": 200`, fmt.Sprintf(`"time": %d`, monoStart+50))
	w.opts.SideFiles = []config.SideFile{{Kind: formats.J9, Path: w.dir}}
	w.expect(100, monoStart+100, j9Memory+0x1010, "App.run(I)V+0x10")
	w.expect(200, monoStart+101, j9Memory+0x1010, "App.run(I)V+0x10")
	w.expect(200, monoStart+102, j9Memory+0x2010, "App.run(I)V+0x10")
	w.expect(100, monoStart+103, j9Memory+0x2010, "")
	if sum := w.check(); len(sum.Dumps) != 2 {
		t.Errorf("got %s; want 2 dumps", asJSON(sum))
	}
}

// What is in one place without times is left out, but for copies of one body.
func TestJ9_OverlapWithoutTimes(t *testing.T) {
	w := newWorld(t)
	w.runJava(100, monoStart, j9Memory)
	other := vector(t, j9Memory+0x1100, 0x200, 0, 0)
	w.capture("a", vector(t, j9Memory+0x1000, 0x200, 0, 0), j9Methods)
	w.capture("b", other, j9Methods)
	w.capture("c", vector(t, j9Memory+0x2000, 0x200, 0, 0), j9Methods)
	w.capture("d", vector(t, j9Memory+0x2000, 0x200, 0, 0), j9Methods)
	w.opts.SideFiles = []config.SideFile{{Kind: formats.J9, Path: w.dir}}
	w.expect(100, monoStart+100, j9Memory+0x1010, "")
	w.expect(100, monoStart+101, j9Memory+0x2010, "App.run(I)V+0x10")
	sum, err := w.run()
	if err != nil || len(sum.Problems) != 2 || len(sum.Dumps) != 1 || sum.Dumps[0].Captures != 1 {
		t.Fatalf("got %s, %v; want no error, 2 problems, 1 dump, Dumps[0].Captures = 1", asJSON(sum), err)
	}
	for i, p := range sum.Problems {
		if p.File != w.path([]string{"a.bin", "b.bin"}[i]) || !strings.Contains(p.Text, "it overlaps code of "+w.path([]string{"b.bin", "a.bin"}[i])+" and has no time") || !strings.Contains(p.Advice, `"time"`) {
			t.Errorf("got %+v; want File = %v, Text with %q, Advice with `\"time\"`", p, w.path([]string{"a.bin", "b.bin"}[i]), "it overlaps code of "+w.path([]string{"b.bin", "a.bin"}[i])+" and has no time")
		}
	}
	w.resolve(w.opts.Output)
}

// What cannot be used of files that are named is said before anything is written; of those in a directory it
// is a problem.
func TestJ9_UnusableFiles(t *testing.T) {
	good := vector(t, j9Memory+0x1000, 0x200, 0, 0)
	big := slices.Clone(good)
	copy(big[40:], []byte{0, 0, 0x20, 0, 0, 0, 0x10, 0})
	for _, c := range []struct {
		name, path string
		pid        uint32
		want       string
	}{
		{"no file", "gone.bin", 0, "there is no such file"},
		{"no process", "good.bin", 7, "there is no process 7 in the recording"},
		{"no JSON", "alone.bin", 0, "alone.json: there is no such file"},
		{"no capture", "perf.data", 0, "it is no capture"},
		{"empty directory", "empty", 0, "it has no capture"},
		{"cut", "cut.bin", 0, "cut.bin: OpenJ9 metadata: it has 60 bytes"},
		{"other startPC", "other.bin", 0, "other.bin: OpenJ9 metadata: startPC at offset 0x28 is"},
		{"other machine", "arm.bin", 0, "arm.bin: it is of another machine than the recording: EM_AARCH64, with pointers of 8 bytes, LittleEndian"},
		{"byte order", "big.bin", 0, "big.bin: it is of another machine than the recording: EM_X86_64, with pointers of 8 bytes, BigEndian"},
		{"no place for code", "kernel.bin", 0, "outside of user space"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.runJava(100, monoStart, j9Memory)
			w.capture("good", good, j9Methods)
			w.capture("cut", good[:60])
			put(t, w.path("alone.bin"), good)
			w.capture("other", good)
			put(t, w.path("other.json"), []byte(`{"base": 1, "startPC": 2}`))
			w.capture("arm", good, `"machine": "aarch64"`)
			w.capture("big", big, `"byte_order": "big"`)
			put(t, w.path("big.json"), []byte(`{"base": 1, "startPC": "0x200000001000"}`))
			w.capture("kernel", vector(t, 0xffffffff80000000, 0x200, 0, 0))
			if err := os.Mkdir(w.path("empty"), 0o755); err != nil {
				t.Fatal(err)
			}
			w.Sample(100, monoStart+100, j9Memory+0x1010)
			w.opts.SideFiles = []config.SideFile{{Kind: formats.J9, PID: c.pid, Path: w.path(c.path)}}
			if _, err := w.run(); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "`Options.SideFiles{Kind: openj9-captures, ") {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if _, err := os.Stat(w.opts.Output); err == nil {
				t.Error("there is a result")
			}
			w.opts.SideFiles = []config.SideFile{{Kind: formats.J9, Path: w.dir}}
			sum, err := w.run()
			if err != nil || len(sum.Problems) != 5 || len(sum.Dumps) != 1 || sum.Dumps[0].Captures != 1 || sum.Samples.Resolved != 1 {
				t.Errorf("got %s, %v; want no error, 5 problems, 1 dump, Dumps[0].Captures = 1, Samples.Resolved = 1", asJSON(sum), err)
			}
		})
	}
}

// Damage costs lines and inlined calls, and is said once; names and code stay.
func TestJ9_DamagedCapture(t *testing.T) {
	w := newWorld(t)
	w.runJava(100, monoStart, j9Memory)
	metadata := vector(t, j9Memory+0x1000, 0x200, j9Memory+0x3000, 0x80)
	w.capture("a", metadata[:len(metadata)-100], j9Methods, `"code": "a.code"`, `"cold_code": "short"`)
	put(t, w.path("a.code"), code(0x200, 1))
	put(t, w.path("short"), code(0x40, 1))
	w.opts.SideFiles = []config.SideFile{{Kind: formats.J9, Path: w.path("a.bin")}}
	w.expect(100, monoStart+100, j9Memory+0x1010, "App.run(I)V+0x10")
	w.expect(100, monoStart+101, j9Memory+0x3010, "App.run(I)V+0x10")
	sum, err := w.run()
	if err != nil || len(sum.Problems) != 2 || sum.Dumps[0].WithoutCode != 1 || sum.Dumps[0].WithLines != 0 {
		t.Fatalf("got %s, %v; want no error, 2 problems, Dumps[0].WithoutCode = 1, Dumps[0].WithLines = 0", asJSON(sum), err)
	}
	if p := sum.Problems[0]; p.File != w.path("a.bin") || !strings.Contains(p.Text, "has 64 bytes, and the metadata says that there are 128") {
		t.Errorf(`got %+v; want File = %v, Text with "has 64 bytes, and the metadata says that there are 128"`, p, w.path("a.bin"))
	}
	if p := sum.Problems[1]; p.File != w.path("a.bin") || p.Offset != 92 || !strings.Contains(p.Text, "size at offset 0x5c") || !strings.Contains(p.Text, "without lines and inlined calls") {
		t.Errorf(`got %+v; want File = %v, Offset = 92, Text with "size at offset 0x5c", Text with "without lines and inlined calls"`, p, w.path("a.bin"))
	}
	w.resolve(w.opts.Output)
	f, err := elf.Open(w.path("jitted-100-0.so"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := f.Section(".text").Data(); err != nil || string(text) != string(code(0x200, 1)) {
		t.Errorf("got % x, %v; want no error, text = %v", text, err, string(code(0x200, 1)))
	}
}

// Who may not read one of the files may not read what comes of them.
func TestJ9_UnreadableForOthers(t *testing.T) {
	for name, mode := range map[string]os.FileMode{"b.json": 0o640, "a.code": 0o604, "": 0o644} {
		w := newWorld(t)
		w.runJava(100, monoStart, j9Memory)
		w.capture("a", vector(t, j9Memory+0x1000, 0x200, 0, 0), j9Methods, `"code": "a.code"`)
		w.capture("b", vector(t, j9Memory+0x2000, 0x200, 0, 0), j9Methods)
		put(t, w.path("a.code"), code(0x200, 1))
		for _, file := range []string{"a.bin", "a.json", "b.bin", "b.json", "a.code"} {
			if err := os.Chmod(w.path(file), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if name != "" {
			if err := os.Chmod(w.path(name), mode); err != nil {
				t.Fatal(err)
			}
		}
		w.opts.SideFiles = []config.SideFile{{Kind: formats.J9, Path: w.dir}}
		if sum, err := w.run(); err != nil || !sum.Complete() {
			t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
		}
		for _, object := range []string{"jitted-100-0.so", "jitted-100-1.so"} {
			if st, err := os.Stat(w.path(object)); err != nil || st.Mode().Perm() != mode {
				t.Errorf("%s: %s has mode %v, %v", name, object, st.Mode(), err)
			}
		}
	}
}

// The result does not take a capture's place.
func TestJ9_OutputIsCapture(t *testing.T) {
	for _, name := range []string{"a.bin", "b.bin", "a.json", "b.json"} {
		w := newWorld(t)
		w.runJava(100, monoStart, j9Memory)
		w.capture("a", vector(t, j9Memory+0x1000, 0x200, 0, 0), j9Methods)
		w.capture("b", vector(t, j9Memory+0x2000, 0x200, 0, 0), j9Methods)
		w.opts.SideFiles = []config.SideFile{{Kind: formats.J9, Path: w.dir}}
		w.opts.Output = w.path(name)
		if _, err := w.run(); err == nil || !strings.Contains(err.Error(), "of process 100; name another output with `Options.Output`") {
			t.Errorf("%s: got %v; want an error that asks for another output", name, err)
		}
	}
}

// Methods without lines get listings, which can be written like source files.
func TestJ9_MethodsWithoutLines(t *testing.T) {
	w := newWorld(t)
	w.runJava(100, monoStart, j9Memory)
	w.capture("a", vector(t, j9Memory+0x1000, 0x200, j9Memory+0x3000, 0x80), j9Methods)
	w.capture("b", vector(t, j9Memory+0x2000, 0x200, 0, 0))
	w.opts.SideFiles, w.opts.Sources = []config.SideFile{{Kind: formats.J9, Path: w.dir}}, w.path("sources")
	w.expect(100, monoStart+100, j9Memory+0x1010, "App.run(I)V+0x10")
	w.expect(100, monoStart+101, j9Memory+0x2010, "[method 0x500000]+0x10")
	sum := w.check()
	files, _ := filepath.Glob(w.path("sources/*.bytecode"))
	if sum.Dumps[0].Sources < 4 || len(files) == 0 {
		t.Fatalf("got %s, %q; want Dumps[0].Sources >= 4, some files", asJSON(sum), files)
	}
	text := string(read(t, w.path("sources/[method 0x500000].bytecode")))
	if !strings.Contains(text, "46:") || !strings.Contains(text, "inlines [method 0x5000c0]") {
		t.Errorf(`got %s; want one with "46:", one with "inlines [method 0x5000c0]"`, text)
	}
	out := testrec.Run(t, w.dir, testrec.Tool(t, "readelf"), "--debug-dump=decodedline", w.path("jitted-100-2.so"))
	if !strings.Contains(out, "[method 0x500000].bytecode") {
		t.Errorf(`got %s; want one with "[method 0x500000].bytecode"`, out)
	}
}

// In a stream, captures are read when all has come.
func TestJ9_Stream(t *testing.T) {
	w := newWorld(t)
	w.runJava(100, monoStart, j9Memory)
	w.capture("a", vector(t, j9Memory+0x1000, 0x200, 0, 0), j9Methods)
	w.expect(100, monoStart+300, j9Memory+0x1010, "App.run(I)V+0x10")
	w.Round()
	w.Machine = "x86_64"
	w.Write(t, w.opts.Input)
	stream := w.stream()
	sum, err := engine.Run(t.Context(), config.Options{Input: "-", Stdin: feed(t, stream, 100), Output: w.opts.Output, SideFiles: []config.SideFile{{Kind: formats.J9, Path: w.path("a.json")}}})
	if err != nil || !sum.Complete() || sum.Samples.Resolved != 1 || sum.Dumps[0].Captures != 1 {
		t.Fatalf("got %s, %v; want no error, nothing missing, Samples.Resolved = 1, Dumps[0].Captures = 1", asJSON(sum), err)
	}
	w.resolve(w.opts.Output)
	sum, err = engine.Run(t.Context(), config.Options{Input: "-", Stdin: feed(t, stream, 100), Output: w.opts.Output, SideFiles: []config.SideFile{{Kind: formats.J9, Path: w.path("gone.bin")}}})
	if err != nil || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Text, "gone.bin") {
		t.Fatalf(`got %s, %v; want no error, 1 problem, Problems[0].Text with "gone.bin"`, asJSON(sum), err)
	}
}

// What captures do not have of their code, a core dump of the process has.
func TestJ9_CodeFromCore(t *testing.T) {
	w := newWorld(t)
	w.runJava(100, monoStart, j9Memory)
	w.capture("a", vector(t, j9Memory+0x1000, 0x200, j9Memory+0x3000, 0x80), j9Methods, `"code": "a.code"`)
	put(t, w.path("a.code"), code(0x200, 1))
	w.capture("b", vector(t, j9Memory+0x8000, 0x40, 0, 0), j9Methods) // of which the core has nothing
	memory := append(make([]byte, 0x1000), code(0x3000, 2)...)
	put(t, w.path("core"), tinyCore(100, j9Memory, memory, map[string]uint64{"/usr/bin/java": 0x550000000000}))
	w.opts.SideFiles, w.opts.CodeFrom, w.opts.CFI = []config.SideFile{{Kind: formats.J9, Path: w.path("a.bin")}, {Kind: formats.J9, Path: w.path("b.bin")}}, []string{w.path("core")}, config.CFIAlways
	w.expect(100, monoStart+100, j9Memory+0x3010, "App.run(I)V+0x10")
	sum, err := w.run()
	if err != nil || !sum.Complete() || sum.Dumps[0].CodeFiles != 1 || sum.Dumps[0].WithoutCode != 1 || sum.Dumps[0].Unwind.Derived != 2 {
		t.Fatalf("got %s, %v; want no error, nothing missing, Dumps[0].CodeFiles = 1, Dumps[0].WithoutCode = 1, Dumps[0].Unwind.Derived = 2", asJSON(sum), err)
	}
	for i, want := range [][]byte{code(0x200, 1), memory[0x3000:0x3080]} {
		f, err := elf.Open(w.path(fmt.Sprintf("jitted-100-%d.so", i)))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := f.Section(".text").Data(); err != nil || string(text) != string(want) {
			t.Errorf("part %d: % x, %v", i, text[:min(len(text), 32)], err)
		}
		f.Close()
	}
	w.resolve(w.opts.Output)
}

// Times that cannot be do no harm.
func TestJ9_ImpossibleTimes(t *testing.T) {
	for _, time := range []string{"0", "1", "18446744073709551615", "18446744073709551614"} {
		for _, clock := range []int32{1, -1} {
			w := newWorld(t)
			w.ClockID = clock
			w.runJava(100, monoStart, j9Memory)
			w.capture("a", vector(t, j9Memory+0x1000, 0x200, 0, 0), j9Methods, `"time": `+time)
			w.capture("b", vector(t, j9Memory+0x2000, 0x200, 0, 0), j9Methods)
			w.opts.SideFiles = []config.SideFile{{Kind: formats.J9, PID: 100, Path: w.dir}}
			w.expect(100, monoStart+100, j9Memory+0x2010, "App.run(I)V+0x10")
			sum, err := w.run()
			if err != nil || len(sum.Dumps) != 1 || sum.Objects != 2 {
				t.Fatalf("time %s, clock %d: %+v, %v", time, clock, sum, err)
			}
			w.resolve(w.opts.Output)
		}
	}
}
