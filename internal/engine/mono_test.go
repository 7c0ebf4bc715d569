package engine_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/format/monolog/monogen"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/report"
)

// Logs of Mono's profiler, made by hand. Times are from a second on: earlier ones are
// none that a program could have.
const monoStart = 5_000_000_000

const (
	corlib   = "/usr/lib/mono/aot-cache/nowhere/mscorlib.dll.so"
	profiler = "/usr/lib/libmono-profiler-log.so.0.0.0"
)

// runMono adds a process that runs Mono from a time on, with 64 KiB of executable memory and
// the image of corlib. There are some samples of it that nobody expects anything of.
func (w *world) runMono(pid uint32, start, memory, image uint64) {
	w.Comm(pid, start, "mono", true)
	w.Mmap2(pid, start+1, 0x550000000000, 0x300000, 0, "/usr/bin/mono-sgen")
	w.Mmap2(pid, start+2, 0x7f1100000000+start, 0x20000, 0, profiler)
	w.Mmap2(pid, start+3, memory, 0x10000, 0, "//anon")
	w.Mmap2(pid, start+4, image, 0x500000, 0x1000, corlib)
}

// A jitted is a method in a log.
type jitted struct {
	time, method, addr, size uint64
	name                     string
}

// monoLog returns a log of data version 17, or of version 1, which has no pid.
func monoLog(t testing.TB, version uint8, pid uint32, start uint64, methods ...jitted) []byte {
	t.Helper()
	major, minor := monogen.MonoVersion(version)
	h := &monolog.Header{Major: major, Minor: minor, Version: version, PtrSize: 8}
	if version > 1 {
		h.PID = pid
	}
	if version == 17 {
		h.StartupTime, h.Arch, h.OS = start+10, "x86-64", "linux"
	}
	var out bytes.Buffer
	w, err := monogen.NewWriter(&out, h)
	if err == nil {
		err = w.Buffer(monolog.BufferHeader{Time: start + 20, PtrBase: 0x40000000, Thread: 0x7f0000001000, MethodBase: 0x5500000})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range methods {
		if err := w.Event(&monolog.Event{Kind: monolog.KindJIT, Time: m.time, Method: m.method, Code: m.addr, Size: m.size, Name: []byte(m.name)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// hot is a log of one method in memory, and one in the image.
func hot(t testing.TB, version uint8, pid uint32, start, memory, image uint64) []byte {
	return monoLog(t, version, pid, start,
		jitted{start + 100, 1, image + 0x100, 64, "System.String:Concat (string,string)"},
		jitted{start + 200, 2, memory + 0x100, 64, "App:IsPrime (int)"})
}

// A log that is named, plain or packed; methods in images stay these's, unless they are asked for.
func TestMono_NamedLog(t *testing.T) {
	for _, zip := range []bool{false, true} {
		w := newWorld(t)
		w.runMono(100, monoStart, 0x40000000, 0x7f2200000000)
		log := hot(t, 17, 100, monoStart, 0x40000000, 0x7f2200000000)
		if zip {
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			z.Write(log)
			z.Close()
			log = packed.Bytes()
		}
		put(t, w.path("app.mlpd"), log)
		w.opts.SideFiles = []config.SideFile{{Kind: formats.Mono, Path: w.path("app.mlpd")}}
		w.expect(100, monoStart+300, 0x40000110, "App:IsPrime (int)+0x10")
		w.expect(100, monoStart+310, 0x40000200, "")
		w.expect(100, monoStart+320, 0x7f2200000110, "")
		sum := w.check()
		if d := sum.Dumps[0]; d.Kind != formats.Mono || d.Functions != 2 || d.InImages != 1 || d.PID != 100 || d.Command != "mono" || d.Samples.InJIT != 2 || sum.Markers != 1 || sum.Objects != 1 {
			t.Errorf(`got %s; want d.Kind = KindMono, d.Functions = 2, d.InImages = 1, d.PID = 100, d.Command = "mono", d.Samples.InJIT = 2, Markers = 1, Objects = 1`, asJSON(sum))
		}
	}
	w := newWorld(t)
	w.runMono(100, monoStart, 0x40000000, 0x7f2200000000)
	put(t, w.path("app.mlpd"), hot(t, 17, 100, monoStart, 0x40000000, 0x7f2200000000))
	w.opts.SideFiles, w.opts.Precompiled = []config.SideFile{{Kind: formats.Mono, Path: w.path("app.mlpd")}}, true
	w.expect(100, monoStart+320, 0x7f2200000110, "System.String:Concat (string,string)+0x10")
	if sum := w.check(); sum.Objects != 2 || sum.Dumps[0].InImages != 0 {
		t.Errorf("got %s; want Objects = 2, Dumps[0].InImages = 0", asJSON(sum))
	}
}

// Whose a log is: its header says so, unless its code is not there; then memory and times
// tell, and what begins with the profiler of one process is not another's.
func TestMono_OwnerOfLog(t *testing.T) {
	type running struct {
		pid           uint32
		start         uint64
		memory, image uint64
		end           uint64 // 0 for none
	}
	a := running{100, monoStart, 0x40000000, 0x7f2200000000, 0}
	for _, c := range []struct {
		name    string
		version uint8
		header  uint32 // pid
		others  []running
		pid     uint32 // 0 for a problem
		problem string
	}{
		{"it says so", 17, 100, nil, 100, ""},
		{"nobody else", 1, 0, nil, 100, ""},
		{"by memory", 1, 0, []running{{200, monoStart, 0x41000000, 0x7f3300000000, 0}}, 100, ""},
		{"by an image", 1, 0, []running{{200, monoStart, 0x40000000, 0x7f3300000000, 0}}, 100, ""},
		{"another's number", 17, 200, []running{{200, monoStart, 0x41000000, 0x7f3300000000, 0}}, 100, ""},
		{"a number of another pid namespace", 17, 7, []running{{200, monoStart, 0x41000000, 0x7f3300000000, 0}}, 100, ""},
		{"one after the other", 1, 0, []running{{200, monoStart - 2e9, 0x40000000, 0x7f2200000000, monoStart - 1e9}}, 100, ""},
		{"one later", 1, 0, []running{{200, monoStart + 1e9, 0x40000000, 0x7f2200000000, 0}}, 100, ""},
		{"one that has been there for long", 1, 0, []running{{200, monoStart - 2e9, 0x40000000, 0x7f2200000000, 0}}, 100, ""},
		{"two alike", 1, 0, []running{{200, monoStart - 1e6, 0x40000000, 0x7f2200000000, 0}}, 0, "any of the processes 100, 200"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			for _, p := range append(c.others, a) {
				w.runMono(p.pid, p.start, p.memory, p.image)
				if p.end != 0 {
					w.Exit(p.pid, p.pid, p.end)
				}
			}
			w.Machine = "x86_64"
			put(t, w.path("app.mlpd"), hot(t, c.version, c.header, monoStart, 0x40000000, 0x7f2200000000))
			w.opts.SideFiles = []config.SideFile{{Kind: formats.Mono, Path: w.path("app.mlpd")}}
			w.Sample(100, monoStart+300, 0x40000110)
			sum, err := w.run()
			if c.pid == 0 {
				if err == nil && (len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), c.problem) || !strings.Contains(sum.Problems[0].Advice, "SideFiles{Kind: mono-log, PID: PID, ")) {
					t.Errorf(`got %s, %v; want an error or 1 problem and Problems[0] with %q and Problems[0].Advice with "SideFiles{Kind: mono-log, PID: PID, "`, asJSON(sum), err, c.problem)
				}
				w.opts.PID = 100 // as one of them is told to
				if sum, err = w.run(); err != nil {
					t.Fatal(err)
				}
				c.pid = 100
			}
			if err != nil || !sum.Complete() || sum.Dumps[0].PID != c.pid || sum.Samples.Resolved != 1 {
				t.Errorf("got %s, %v; want no error, nothing missing, Dumps[0].PID = %v, Samples.Resolved = 1", asJSON(sum), err, c.pid)
			}
		})
	}
}

// A log of another run is refused; named with its process, it is believed.
func TestMono_NamedLogOfAnotherRun(t *testing.T) {
	w := newWorld(t)
	w.runMono(100, monoStart, 0x40000000, 0x7f2200000000)
	put(t, w.path("app.mlpd"), hot(t, 17, 100, monoStart, 0x48000000, 0x7f3300000000))
	w.opts.SideFiles = []config.SideFile{{Kind: formats.Mono, Path: w.path("app.mlpd")}}
	w.Sample(100, monoStart+300, 0x48000110)
	sum, err := w.run()
	if err != nil || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Text, "overwritten by another run") || !strings.Contains(sum.Problems[0].Advice, fmt.Sprintf("PID: PID, Path: %q}", w.path("app.mlpd"))) || sum.Mappings != 0 {
		t.Fatalf(`got %s, %v; want no error, 1 problem, Problems[0].Text with "overwritten by another run", Problems[0].Advice with %q, Mappings = 0`, asJSON(sum), err, fmt.Sprintf("PID: PID, Path: %q}", w.path("app.mlpd")))
	}
	w.opts.SideFiles[0].PID = 100
	if sum, err = w.run(); err != nil || !sum.Complete() || sum.Samples.Resolved != 1 {
		t.Errorf("got %s, %v; want no error, nothing missing, Samples.Resolved = 1", asJSON(sum), err)
	}
	w.opts.SideFiles[0].PID = 101
	if _, err = w.run(); err == nil || !strings.Contains(err.Error(), "there is no process 101") {
		t.Error(err)
	}
	w.opts.SideFiles[0] = config.SideFile{Kind: formats.Mono, Path: w.path("nothing.mlpd")}
	if _, err = w.run(); err == nil || !strings.Contains(err.Error(), "Kind: mono-log") {
		t.Error(err)
	}
	put(t, w.path("app.exe"), []byte("MZ and more of that kind"))
	w.opts.SideFiles[0] = config.SideFile{Kind: formats.Mono, Path: w.path("app.exe")}
	if _, err = w.run(); err == nil {
		t.Error("something else is a log")
	}
}

// Several processes of several runtimes, each with its own.
func TestMono_BesideOtherRuntimes(t *testing.T) {
	w := newWorld(t)
	w.Cmdline = []string{"perf", "record", "-k", "mono", "sh", "-c", "mono --profile=log:jit,output=%p.mlpd a.exe & mono --profile=log:jit,output=%p.mlpd b.exe & node --perf-prof x.js"}
	w.runMono(100, monoStart, 0x40000000, 0x7f2200000000)
	w.runMono(200, monoStart+1000, 0x41000000, 0x7f3300000000)
	put(t, w.path("100.mlpd"), hot(t, 17, 100, monoStart, 0x40000000, 0x7f2200000000))
	put(t, w.path("200.mlpd"), hot(t, 17, 200, monoStart+1000, 0x41000000, 0x7f3300000000))
	w.mark(300, monoStart, "jit-300.dump")
	w.dump("jit-300.dump", x86(300), load(monoStart+10, 300, 0, 0x40000100, "JS:alpha", code(64, 1)))
	w.expect(100, monoStart+2000, 0x40000110, "App:IsPrime (int)+0x10")
	w.expect(200, monoStart+2000, 0x41000110, "App:IsPrime (int)+0x10")
	w.expect(300, monoStart+2000, 0x40000110, "JS:alpha+0x10")
	w.expect(200, monoStart+2000, 0x40000110, "")
	if sum := w.check(); len(sum.Dumps) != 3 || sum.Markers != 3 {
		t.Errorf("got %s; want 3 dumps, Markers = 3", asJSON(sum))
	}
}

// Without -k mono the difference is estimated, by when the profiler was loaded.
func TestMono_WithoutMonotonicClock(t *testing.T) {
	const ahead = 3e9
	w := newWorld(t)
	w.ClockID = -1
	w.runMono(100, monoStart+ahead, 0x40000000, 0x7f2200000000)
	put(t, w.path("app.mlpd"), monoLog(t, 17, 100, monoStart,
		jitted{monoStart + 5e6, 1, 0x40000100, 64, "App:First ()"},
		jitted{monoStart + 50e6, 2, 0x40000100, 64, "App:Second ()"}))
	w.opts.SideFiles = []config.SideFile{{Kind: formats.Mono, Path: w.path("app.mlpd")}}
	w.expect(100, monoStart+ahead+6e6, 0x40000110, "App:First ()+0x10")
	w.expect(100, monoStart+ahead+51e6, 0x40000110, "App:Second ()+0x10")
	sum, err := w.run()
	if err != nil || sum.Dumps[0].Clock.Kind != report.ClockEstimated {
		t.Fatalf("got %s, %v; want no error, Dumps[0].Clock.Kind = ClockEstimated", asJSON(sum), err)
	}
	if c := sum.Dumps[0].Clock; c.Offset != ahead-8 { // the profiler was loaded 2 ns after the start, and its log begun 10 ns after that
		t.Errorf("got %+v; want Offset = %v", c, ahead-8)
	}

	w = newWorld(t)
	w.runMono(100, monoStart, 0x40000000, 0x7f2200000000)
	w.Machine = "x86_64"
	put(t, w.path("app.mlpd"), hot(t, 1, 0, 1000, 0x40000000, 0x7f2200000000))
	w.opts.SideFiles = []config.SideFile{{Kind: formats.Mono, Path: w.path("app.mlpd")}}
	w.Sample(100, monoStart+300, 0x40000110)
	if _, err := w.run(); err == nil || !strings.Contains(err.Error(), "time=null") {
		t.Errorf("times that are none: %v", err)
	}
}

// Methods without an address, damage, and a log that is cut: what is good is used, and the rest
// told of.
func TestMono_DamagedLog(t *testing.T) {
	make := func(log []byte) (*world, func() *report.Summary) {
		w := newWorld(t)
		w.runMono(100, monoStart, 0x40000000, 0x7f2200000000)
		put(t, w.path("app.mlpd"), log)
		w.opts.SideFiles = []config.SideFile{{Kind: formats.Mono, Path: w.path("app.mlpd")}}
		w.Sample(100, monoStart+300, 0x40000110)
		return w, func() *report.Summary {
			sum, err := w.run()
			if err != nil {
				t.Fatal(err)
			}
			return sum
		}
	}
	log := monoLog(t, 17, 100, monoStart,
		jitted{monoStart + 100, 1, 0x40000100, 64, "App:IsPrime (int)"},
		jitted{monoStart + 200, 2, 0, 0, "App:Lost (int)"})
	_, run := make(log)
	sum := run()
	if sum.Samples.Resolved != 1 || sum.Dumps[0].Nowhere != 1 || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Advice, "nodefaults,jit") {
		t.Errorf(`got %s; want Samples.Resolved = 1, Dumps[0].Nowhere = 1, 1 problem, Problems[0].Advice with "nodefaults,jit"`, asJSON(sum))
	}
	_, run = make(log[:len(log)-5])
	if sum = run(); sum.Samples.Resolved != 1 || sum.Dumps[0].Cut < 0 || sum.Dumps[0].Nowhere != 0 {
		t.Errorf("got %s; want Samples.Resolved = 1, Dumps[0].Cut >= 0, Dumps[0].Nowhere = 0", asJSON(sum))
	}
	second := hot(t, 17, 100, monoStart, 0x40000000, 0x7f2200000000)
	second = second[bytes.Index(second, []byte{1, 'L', 'P', 'M'}):]
	damaged := append(bytes.Clone(log), "something else that is of no format"...)
	_, run = make(append(damaged, second...))
	if sum = run(); sum.Samples.Resolved != 1 || sum.Dumps[0].Functions != 2 || len(sum.Problems) != 2 || sum.Problems[0].Offset != int64(len(log)) || !strings.Contains(sum.Problems[0].Text, "35 bytes are left out") {
		t.Errorf(`got %s; want Samples.Resolved = 1, Dumps[0].Functions = 2, 2 problems, Problems[0].Offset = %v, Problems[0].Text with "35 bytes are left out"`, asJSON(sum), int64(len(log)))
	}
}

// A stream's logs are read in the end.
func TestMono_LogOfStream(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	w := newWorld(t)
	w.runMono(100, monoStart, 0x40000000, 0x7f2200000000)
	put(t, "app.mlpd", hot(t, 17, 100, monoStart, 0x40000000, 0x7f2200000000))
	w.Sample(100, monoStart+300, 0x40000110)
	w.Round()
	w.Write(t, w.opts.Input)
	stream := asPipe(t, w.opts.Input)
	out := filepath.Join(dir, "out.data")
	sum, err := engine.Run(t.Context(), config.Options{Input: "-", Stdin: feed(t, stream, 100), Output: out, SideFiles: []config.SideFile{{Kind: formats.Mono, Path: "app.mlpd"}}})
	if err != nil || !sum.Complete() || sum.Samples.Resolved != 1 || sum.Dumps[0].InImages != 1 {
		t.Fatalf("got %s, %v; want no error, nothing missing, Samples.Resolved = 1, Dumps[0].InImages = 1", asJSON(sum), err)
	}
	result, err := os.ReadFile(out)
	if err != nil || !bytes.Contains(result, []byte("jitted-100-1.so")) {
		t.Error("the function is not in the result")
	}
	if sum, err = engine.Run(t.Context(), config.Options{Input: "-", Stdin: feed(t, stream, 100), Output: out, SideFiles: []config.SideFile{{Kind: formats.Mono, Path: "gone.mlpd"}}}); err != nil || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Text, "gone.mlpd") {
		t.Fatalf(`got %s, %v; want no error, 1 problem, Problems[0].Text with "gone.mlpd"`, asJSON(sum), err)
	}
}

// asPipe returns a recording made by hand as perf record -o - writes it.
func asPipe(t *testing.T, path string) []byte {
	t.Helper()
	file := read(t, path)
	le := binary.LittleEndian
	size := le.Uint64(file[16:]) - 16
	attr := file[le.Uint64(file[24:]):][:size]
	ids := file[104:112]
	out := le.AppendUint64([]byte("PERFILE2"), 16)
	out = le.AppendUint32(out, 64) // HEADER_ATTR
	out = le.AppendUint16(out, 0)
	out = le.AppendUint16(out, uint16(8+len(attr)+len(ids)))
	out = append(append(out, attr...), ids...)
	return append(out, file[le.Uint64(file[40:]):][:le.Uint64(file[48:])]...)
}
