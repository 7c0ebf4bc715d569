package cost

import (
	"bytes"
	"compress/gzip"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/format/monolog/monogen"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/format/xrayfdr/xraygen"
	"github.com/jitinject/jitinject/internal/wire"
)

// unlogged adds a process of a runtime that writes no dump, with memory for code.
func (s *scene) unlogged(name string) {
	s.Machine, s.calls = "x86_64", true
	s.Comm(pid, s.tick(), name, true)
	s.memory(pid)
	s.samples(100)
}

// monoLog makes a Mono log. each is called until the log has size bytes.
func monoLog(version uint8, size int, each func(w *monogen.Writer, i int)) []byte {
	var b bytes.Buffer
	major, minor := monogen.MonoVersion(version)
	w, _ := monogen.NewWriter(&b, &monolog.Header{Major: major, Minor: minor, Version: xrayfdr.Version, PtrSize: 8, Startup: 1, StartupTime: second, PID: pid, Args: "log", Arch: "x86-64", OS: "linux"})
	w.Buffer(monolog.BufferHeader{Time: second, PtrBase: base, Thread: 7, MethodBase: base})
	for i, flushed := 0, 0; b.Len() < size; i++ {
		if each(w, i); i-flushed > 500 {
			flushed = i
			w.Buffer(monolog.BufferHeader{Time: second + uint64(i), PtrBase: base, Thread: 7, MethodBase: base})
		}
	}
	w.Flush()
	return b.Bytes()
}

// mono returns a scene of a Mono log.
func mono(version uint8, each func(w *monogen.Writer, i int)) func(s *scene, size int) {
	return func(s *scene, size int) {
		s.unlogged("mono")
		s.must(os.WriteFile(s.path("a.mlpd"), monoLog(version, size, each), 0o644))
	}
}

// profiled returns a maker of processes with Mono's profiler, and as many logs. as returns the process that the
// header of the i-th of n logs names, and that of its code.
func profiled(as func(i, n int) (pid, at int)) func(s *scene, size int) {
	return func(s *scene, size int) {
		s.Machine, s.calls = "x86_64", true
		n := size / 450
		for i := range n {
			pid, code := child(i), base+uint64(i)<<20
			s.Comm(pid, s.tick(), "mono", true)
			s.FileMmap2(pid, s.tick(), base-1<<20, 1<<12, 0, "/usr/lib/libmono-profiler-log.so", 7)
			s.Mmap2(pid, s.tick(), code, 1<<20, 0, "//anon")
			s.Sample(pid, s.tick(), code+8)
		}
		for i := range n {
			pid, at := as(i, n)
			var b bytes.Buffer
			major, minor := monogen.MonoVersion(17)
			w, _ := monogen.NewWriter(&b, &monolog.Header{Major: major, Minor: minor, Version: 17, PtrSize: 8, Startup: 1, StartupTime: second, PID: child(pid), Args: "log", Arch: "x86-64", OS: "linux"})
			w.Buffer(monolog.BufferHeader{Time: s.now, PtrBase: base, Thread: 7, MethodBase: base})
			w.Event(&monolog.Event{Kind: monolog.KindJIT, Time: s.now, Method: base, Code: base + uint64(at)<<20, Size: 64, Name: []byte("f")})
			w.Flush()
			s.must(os.WriteFile(s.path(fmt.Sprintf("%06d.mlpd", i)), b.Bytes(), 0o644))
		}
	}
}

func jitted(i int, addr, size uint64, name string) *monolog.Event {
	return &monolog.Event{Kind: monolog.KindJIT, Time: second + uint64(i), Method: base + uint64(i), Code: addr, Size: size, Name: []byte(name)}
}

func fdr(each func(w *xraygen.Writer, i int)) func(s *scene, size int) {
	return func(s *scene, size int) {
		s.unlogged("prog")
		var b bytes.Buffer
		w, err := xraygen.NewWriter(&b, &xrayfdr.Header{Order: binary.LittleEndian, Version: xrayfdr.Version, ConstantTSC: true, NonstopTSC: true, CycleFrequency: 1e9, BufferSize: 4096})
		s.must(err)
		for i := 0; b.Len() < size; i++ {
			each(w, i)
		}
		s.must(w.End())
		s.must(os.WriteFile(s.path("xray-log.prog.x"), b.Bytes(), 0o644))
	}
}

func block(tid int, i int) *xrayfdr.Block {
	return &xrayfdr.Block{TID: uint32(tid), PID: pid, Seconds: 1, Microseconds: uint32(i), TSC: second + uint64(i)*1000}
}

// sledded gives the process a program of n functions with sleds of XRay at their entries and exits, and more sections,
// of which the first is the third.
func (s *scene) sledded(n int, more ...part) {
	s.t.Helper()
	sleds := wire.NewBuffer(binary.LittleEndian)
	for i := range uint64(n) {
		for kind := range uint64(2) {
			for _, v := range []uint64{base + room*i + kind, base + room*i, kind, 0} {
				sleds.U64(v)
			}
		}
	}
	path := s.path("prog")
	s.must(os.WriteFile(path, withSegments(elfFile(elf.ET_EXEC, append([]part{{name: "xray_instr_map", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, addr: 0x1000, content: sleds.Data}}, more...)...),
		elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: base, Filesz: 1 << 12, Memsz: 1 << 12}), 0o755))
	info, err := os.Stat(path)
	s.must(err)
	st := info.Sys().(*syscall.Stat_t)
	s.Major, s.Minor = unix.Major(st.Dev), unix.Minor(st.Dev)
	s.FileMmap2(pid, s.tick(), base, 1<<12, 0, path, st.Ino)
}

// traced returns a maker of a trace of a program with sleds, which take a share of the bytes.
func traced(share int, each func(w *xraygen.Writer, i int)) func(s *scene, size int) {
	return func(s *scene, size int) {
		fdr(each)(s, size-size/share)
		s.sledded(size / share / 64)
	}
}

// Commands that read logs, traces and captures.
var (
	monoRuns = []string{"inject -i perf.data --mono 4711=a.mlpd", "dump a.mlpd", "dump --json a.mlpd"}
	xrayRuns = []string{"inject -i perf.data --pid 4711 --xray xray-log.prog.x", "dump xray-log.prog.x", "dump --json xray-log.prog.x"}
	j9Runs   = []string{"inject -i perf.data --j9 4711=.", "dump c0.bin", "dump --json c0.bin"}
)

var worstOtherLogs = []worst{
	{"mono", "methods", mono(17, func(w *monogen.Writer, i int) { w.Event(jitted(i, place(i), 64, "f")) }), monoRuns},
	{"mono", "methods without names", mono(17, func(w *monogen.Writer, i int) { w.Event(jitted(i, base+uint64(i), 1, "")) }), monoRuns},
	{"mono", "methods without names and a call", mono(17, func(w *monogen.Writer, i int) {
		if w.Event(jitted(i, base+uint64(i), 1, "")); i == 0 {
			w.Event(&monolog.Event{Kind: monolog.KindEnter, Time: second + 1, Method: base})
		}
	}), monoRuns},
	{"mono", "methods at one address", mono(17, func(w *monogen.Writer, i int) { w.Event(jitted(i, base, 64, fmt.Sprint("f", i))) }), monoRuns},
	{"mono", "methods without addresses", mono(17, func(w *monogen.Writer, i int) { w.Event(jitted(i, 0, 0, "f")) }), monoRuns},
	{"mono", "overlapping methods", mono(17, func(w *monogen.Writer, i int) { w.Event(jitted(i, base+uint64(i), 1<<20, "f")) }), monoRuns},
	{"mono", "helpers", mono(17, func(w *monogen.Writer, i int) {
		w.Event(&monolog.Event{Kind: monolog.KindJITHelper, Time: second + uint64(i), Helper: monolog.HelperIMTTrampoline, Code: place(i), Size: 64})
	}), monoRuns},
	{"mono", "threads", mono(17, func(w *monogen.Writer, i int) {
		w.Buffer(monolog.BufferHeader{Time: second, PtrBase: base, Thread: uint64(i), MethodBase: base})
		w.Event(&monolog.Event{Kind: monolog.KindThread, Load: monolog.LoadName, Time: second, Pointer: uint64(i), Name: []byte("t")})
	}), monoRuns},
	{"mono", "threads with calls", mono(17, func(w *monogen.Writer, i int) {
		w.Buffer(monolog.BufferHeader{Time: second, PtrBase: base, Thread: uint64(i), MethodBase: base})
		w.Event(jitted(i, place(i), 64, "f"))
		w.Event(&monolog.Event{Kind: monolog.KindEnter, Time: second + 1, Method: base + uint64(i)})
	}), monoRuns},
	{"mono", "calls", mono(17, func(w *monogen.Writer, i int) {
		if i == 0 {
			w.Event(jitted(i, place(i), 64, "f"))
		}
		w.Event(&monolog.Event{Kind: monolog.KindEnter, Time: second + uint64(i), Method: base})
	}), monoRuns},
	{"mono", "calls and returns", mono(17, func(w *monogen.Writer, i int) {
		if i == 0 {
			w.Event(jitted(i, place(i), 64, "f"))
		}
		k := monolog.KindEnter
		if i%2 > 0 {
			k = monolog.KindLeave
		}
		w.Event(&monolog.Event{Kind: k, Time: second + uint64(i), Method: base})
	}), monoRuns},
	{"mono", "buffers of a byte", mono(17, func(w *monogen.Writer, i int) {
		w.Buffer(monolog.BufferHeader{Time: second, PtrBase: base, Thread: 7, MethodBase: base})
		w.Raw([]byte{0xff})
	}), monoRuns},
	{"mono", "packed methods", func(s *scene, size int) {
		s.unlogged("mono")
		log := monoLog(17, size, func(w *monogen.Writer, i int) { w.Event(jitted(i, place(i), 64, "f")) })
		s.pack("a.mlpd", log)
	}, monoRuns},
	{"mono", "packed nothing", func(s *scene, size int) {
		s.unlogged("mono")
		log := monoLog(17, size/10, func(w *monogen.Writer, i int) { w.Event(jitted(i, place(i), 64, "f")) })
		s.pack("a.mlpd", append(log, make([]byte, size-size/10)...))
	}, monoRuns},
	{"mono", "logs that nothing names", func(s *scene, size int) {
		s.unlogged("mono")
		for i := range size / 140 {
			log := monoLog(17, 1, func(w *monogen.Writer, k int) { w.Event(jitted(k, place(i), 64, "f")) })
			s.must(os.WriteFile(s.path(fmt.Sprintf("%d.mlpd", i)), log, 0o644))
		}
	}, nil},
	{"mono", "logs and processes", profiled(func(i, n int) (pid, at int) { return i, i }), nil},
	{"mono", "logs of other processes", profiled(func(i, n int) (pid, at int) { return n - 1 - i, i }), nil},
	{"mono", "logs of no process", profiled(func(i, n int) (pid, at int) { return n + i, i }), nil},
	{"mono", "logs in directories", func(s *scene, size int) {
		profiled(func(i, n int) (pid, at int) { return i, n })(s, size/2)
		for i := range size / 2 / 300 {
			dir := s.path(fmt.Sprintf("dir%d", i/5))
			s.must(os.MkdirAll(dir, 0o755))
			s.must(os.WriteFile(fmt.Sprintf("%s/%d.mlpd", dir, i), make([]byte, 300), 0o644))
		}
	}, []string{"inject -i perf.data --dump-dir ."}},
	{"mono", "options of perf record", func(s *scene, size int) {
		s.unlogged("mono")
		for i := range size / 30 {
			s.Cmdline = append(s.Cmdline, fmt.Sprintf("--profile=log:output=%d", i))
		}
	}, nil},
	{"mono", "option of perf record", func(s *scene, size int) {
		s.unlogged("mono")
		s.Cmdline = []string{strings.Repeat("--profile=log:output='a ", size/25)}
	}, nil},
	{"xray", "blocks", fdr(func(w *xraygen.Writer, i int) { w.Begin(block(7, i)) }), xrayRuns},
	{"xray", "blocks of threads", fdr(func(w *xraygen.Writer, i int) { w.Begin(block(i, i)) }), xrayRuns},
	{"xray", "blocks of threads with a call", fdr(func(w *xraygen.Writer, i int) {
		w.Begin(block(i, i))
		w.Function(xrayfdr.Enter, 1, second+uint64(i)*1000)
	}), xrayRuns},
	{"xray", "calls", fdr(func(w *xraygen.Writer, i int) {
		if i%500 == 0 {
			w.Begin(block(7, i))
		}
		w.Function(xrayfdr.Enter, 1, second+uint64(i)*1000)
	}), xrayRuns},
	{"xray", "functions", fdr(func(w *xraygen.Writer, i int) {
		if i%500 == 0 {
			w.Begin(block(7, i))
		}
		w.Function(xrayfdr.Enter, uint32(i+1), second+uint64(i)*1000)
		w.Function(xrayfdr.Exit, uint32(i+1), second+uint64(i)*1000)
	}), xrayRuns},
	{"xray", "a recording with events of its names", func(s *scene, size int) {
		traced(10, func(w *xraygen.Writer, i int) {
			w.Begin(block(pid, i))
			w.Function(xrayfdr.Enter, 1, second+uint64(i)*1000)
		})(s, size/10)
		s.changed = func(file []byte) []byte {
			le := binary.LittleEndian
			at, one := le.Uint64(file[24:]), le.Uint64(file[16:])
			attr := file[at:][:one-16]
			n := size * 9 / 10 / (2*len(attr) + 80)
			events := words(n, len(attr))
			for i := range n {
				id := words(uint64(1000 + i))
				name := strings.TrimSuffix(fmt.Sprintf("xray-%d", i+1), "-1")
				events = append(append(append(append(events, attr...), words(1, 24)...), name...), append(make([]byte, 24-len(name)), id...)...)
			}
			out := withFeature(file, 12, events)
			ids := len(out)
			for i := range n {
				out = append(out, words(uint64(1000+i))...)
			}
			le.PutUint64(out[24:], uint64(len(out)))
			le.PutUint64(out[32:], uint64(n)*one)
			for i := range n {
				out = append(append(out, attr...), words(uint64(ids+8*i), uint64(8))...)
			}
			return out
		}
	}, xrayRuns[:1]},
	{"xray", "events", fdr(func(w *xraygen.Writer, i int) {
		if i%500 == 0 {
			w.Begin(block(7, i))
		}
		w.CustomEvent(second, nil)
	}), xrayRuns},
	{"xray", "calls of a program", traced(10, func(w *xraygen.Writer, i int) {
		if i%500 == 0 {
			w.Begin(block(pid, i))
		}
		w.Function(xrayfdr.Kind(i%2), uint32(1+i/2%10), second+uint64(i)*1000)
	}), xrayRuns},
	{"xray", "demangled names", func(s *scene, size int) {
		fdr(func(w *xraygen.Writer, i int) {
			w.Begin(block(pid, i))
			w.Function(xrayfdr.Enter, 1, second+uint64(i)*1000)
		})(s, size/10)
		name := mangled()
		n := size * 9 / 10 / (64 + 24 + len(name) + 1)
		s.sledded(n, part{name: ".symtab", kind: elf.SHT_SYMTAB, content: symbols(n, 2, base, room, func(i int) uint32 { return uint32(1 + i*(len(name)+1)) }), link: 4},
			part{name: ".strtab", kind: elf.SHT_STRTAB, content: []byte("\x00" + strings.Repeat(name+"\x00", n))})
	}, []string{"dump --xray-binary prog xray-log.prog.x", "dump --json --xray-binary prog xray-log.prog.x"}},
	{"xray", "calls in calls of a program", traced(10, func(w *xraygen.Writer, i int) {
		if i%500 == 0 {
			w.Begin(block(pid, i))
		}
		w.Function(xrayfdr.Enter, uint32(1+i%10), second+uint64(i)*1000)
	}), xrayRuns},
	{"xray", "threads of a program", traced(10, func(w *xraygen.Writer, i int) {
		w.Begin(block(pid+i, i))
		w.Function(xrayfdr.Enter, 1, second+uint64(i)*1000)
		w.Function(xrayfdr.Exit, 1, second+uint64(i)*1000+500)
	}), xrayRuns},
	{"xray", "files of a program", func(s *scene, size int) {
		s.unlogged("prog")
		for i := range size / 2 / 200 {
			var b bytes.Buffer
			w, _ := xraygen.NewWriter(&b, &xrayfdr.Header{Order: binary.LittleEndian, Version: xrayfdr.Version, ConstantTSC: true, NonstopTSC: true, CycleFrequency: 1e9, BufferSize: 4096})
			w.Begin(block(pid, i))
			w.Function(xrayfdr.Enter, 1, second+uint64(i)*1000)
			w.End()
			s.files = append(s.files, fmt.Sprintf("xray-log.prog.%06d", i))
			s.must(os.WriteFile(s.path(s.files[i]), b.Bytes(), 0o644))
		}
		s.sledded(size / 2 / 64)
	}, nil},
	{"xray", "files of a program that forks", func(s *scene, size int) {
		s.unlogged("prog")
		for i := range size / 2 / 200 {
			var b bytes.Buffer
			w, _ := xraygen.NewWriter(&b, &xrayfdr.Header{Order: binary.LittleEndian, Version: xrayfdr.Version, ConstantTSC: true, NonstopTSC: true, CycleFrequency: 1e9, BufferSize: 4096})
			w.Begin(block(pid, i))
			w.Function(xrayfdr.Enter, 1, second+uint64(i)*1000)
			w.End()
			s.files = append(s.files, fmt.Sprintf("xray-log.prog.%06d", i))
			s.must(os.WriteFile(s.path(s.files[i]), b.Bytes(), 0o644))
		}
		s.sledded(size / 4 / 64)
		for i := range size / 4 / 64 {
			s.Fork(child(i), pid, s.tick())
		}
	}, nil},
	{"xray", "files of forked processes", func(s *scene, size int) {
		s.unlogged("prog")
		for i := range size / 2 / 200 {
			var b bytes.Buffer
			w, _ := xraygen.NewWriter(&b, &xrayfdr.Header{Order: binary.LittleEndian, Version: xrayfdr.Version, ConstantTSC: true, NonstopTSC: true, CycleFrequency: 1e9, BufferSize: 4096})
			w.Begin(block(pid, 0))
			w.Function(xrayfdr.Enter, 1, 1000*second+uint64(i)*1000)
			w.End()
			s.files = append(s.files, fmt.Sprintf("xray-log.prog.%06d", i))
			s.must(os.WriteFile(s.path(s.files[i]), b.Bytes(), 0o644))
		}
		s.sledded(size / 4 / 64)
		for i := range size / 4 / 64 {
			s.Fork(child(i), pid, s.tick())
		}
	}, nil},
	{"xray", "files of a program that forked before", func(s *scene, size int) {
		s.unlogged("prog")
		for i := range size / 4 / 64 {
			s.Fork(child(i), pid, s.tick())
		}
		for i := range size / 2 / 200 {
			var b bytes.Buffer
			w, _ := xraygen.NewWriter(&b, &xrayfdr.Header{Order: binary.LittleEndian, Version: xrayfdr.Version, ConstantTSC: true, NonstopTSC: true, CycleFrequency: 1e9, BufferSize: 4096})
			w.Begin(block(pid, 1<<19+i))
			w.Function(xrayfdr.Enter, 1, second+uint64(1<<19+i)*1000)
			w.End()
			s.files = append(s.files, fmt.Sprintf("xray-log.prog.%06d", i))
			s.must(os.WriteFile(s.path(s.files[i]), b.Bytes(), 0o644))
		}
		s.sledded(size / 4 / 64)
	}, nil},
	{"xray", "mapped files and traces that nothing names", func(s *scene, size int) {
		s.unlogged("prog")
		for i := range size / 2 / 72 {
			s.FileMmap2(pid, s.tick(), base+1<<33+uint64(i)<<12, 1<<12, 0, fmt.Sprint("/l", i), uint64(i+1))
		}
		for i := range size / 2 / 200 {
			s.must(os.WriteFile(s.path(fmt.Sprintf("xray-log.other.%06d", i)), make([]byte, 200), 0o644))
		}
	}, nil},
	{"xray", "damage", func(s *scene, size int) {
		fdr(func(w *xraygen.Writer, i int) { w.Begin(block(7, i)) })(s, size/2)
		data, err := os.ReadFile(s.path("xray-log.prog.x"))
		s.must(err)
		s.must(os.WriteFile(s.path("xray-log.prog.x"), append(data, bytes.Repeat([]byte{15}, size/2)...), 0o644))
	}, xrayRuns},
	{"xray", "traces that nothing names", func(s *scene, size int) {
		s.unlogged("prog")
		for i := range size / 200 {
			var b bytes.Buffer
			w, _ := xraygen.NewWriter(&b, &xrayfdr.Header{Order: binary.LittleEndian, Version: xrayfdr.Version, ConstantTSC: true, NonstopTSC: true, CycleFrequency: 1e9, BufferSize: 4096})
			w.Begin(block(7, 1))
			w.End()
			s.must(os.WriteFile(s.path(fmt.Sprintf("xray-log.prog.%06d", i)), b.Bytes(), 0o644))
			s.files = append(s.files, fmt.Sprintf("xray-log.prog.%06d", i))
		}
	}, nil},
	{"openj9", "captures", func(s *scene, size int) {
		s.unlogged("java")
		for i, n := 0, 0; n < size; i++ {
			n += s.capture(i, j9gen.Options{Sites: -1, Maps: 1, Native: j9gen.Never})
		}
	}, j9Runs},
	{"openj9", "captures of natives", func(s *scene, size int) {
		s.unlogged("java")
		for i, n := 0, 0; n < size; i++ {
			n += s.capture(i, j9gen.Options{Native: j9gen.Always})
		}
	}, j9Runs},
	{"openj9", "maps", func(s *scene, size int) {
		s.unlogged("java")
		s.capture(0, j9gen.Options{Sites: -1, Maps: size / 10, CodeSize: uint32(size), Native: j9gen.Never})
	}, j9Runs},
	{"openj9", "sites", func(s *scene, size int) {
		s.unlogged("java")
		s.capture(0, j9gen.Options{Sites: size / 30, Maps: size / 40, CodeSize: uint32(size), Native: j9gen.Never})
	}, j9Runs},
	{"openj9", "captures with one file of code", func(s *scene, size int) {
		s.unlogged("java")
		for i := range size / 2 / 500 {
			s.capture(i*(1+size>>13), j9gen.Options{Sites: 1, Maps: 1, CodeSize: uint32(size / 2), Native: j9gen.Never}, func(c *j9meta.Description) { c.CodeFile = "code" })
		}
		s.must(os.WriteFile(s.path("code"), make([]byte, size/2), 0o644))
	}, j9Runs[:1]},
	{"openj9", "methods", func(s *scene, size int) {
		s.unlogged("java")
		s.capture(0, j9gen.Options{Sites: 10, Maps: 10, CodeSize: 1000, Native: j9gen.Never}, func(c *j9meta.Description) {
			for i := range size / 160 {
				c.Methods = append(c.Methods, j9meta.CaptureMethod{Method: j9meta.Address(0x1000 + i), Class: "c", Name: "n", Signature: "()V"})
			}
		})
	}, j9Runs},
	{"openj9", "description", func(s *scene, size int) {
		s.unlogged("java")
		s.capture(0, j9gen.Options{Sites: 10, Maps: 10, CodeSize: 1000, Native: j9gen.Never})
		s.must(os.WriteFile(s.path("c0.json"), []byte(`{"base":"0x1000","startPC":"0x7f1200000000","methods":[`+strings.TrimSuffix(strings.Repeat("{},", size/3), ",")+`]}`), 0o644))
	}, j9Runs},
	{"openj9", "lines in the description", func(s *scene, size int) {
		s.unlogged("java")
		s.capture(0, j9gen.Options{Sites: 10, Maps: 10, CodeSize: 1000, Native: j9gen.Never})
		s.must(os.WriteFile(s.path("c0.json"), []byte(`{"base":"0x1000","startPC":"0x7f1200000000","methods":[{"method":1,"class":"a","name":"b","lines":[`+strings.TrimSuffix(strings.Repeat("[1,1],", size/6), ",")+`]}]}`), 0o644))
	}, j9Runs},
	{"openj9", "nesting in the description", func(s *scene, size int) {
		s.unlogged("java")
		s.capture(0, j9gen.Options{Sites: 10, Maps: 10, CodeSize: 1000, Native: j9gen.Never})
		s.must(os.WriteFile(s.path("c0.json"), []byte(`{"x":`+strings.Repeat("[", size)), 0o644))
	}, j9Runs},
}

// pack writes a file packed by gzip.
func (s *scene) pack(name string, data []byte) {
	s.t.Helper()
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	z.Write(data)
	s.must(z.Close())
	s.must(os.WriteFile(s.path(name), b.Bytes(), 0o644))
	s.unpacked += int64(len(data) - b.Len())
}

// capture writes a capture of OpenJ9's metadata, and returns its size in bytes.
func (s *scene) capture(i int, o j9gen.Options, changes ...func(c *j9meta.Description)) int {
	s.t.Helper()
	o.Layout = j9meta.Layout{Machine: elf.EM_X86_64, PointerSize: 8, Order: binary.LittleEndian}
	o.StartPC, o.Cold = base+uint64(i)<<12, j9gen.Never
	if o.CodeSize == 0 {
		o.CodeSize = 64
	}
	b := j9gen.Random(rand.New(rand.NewPCG(1, uint64(i))), o)
	blob, err := j9gen.Encode(b)
	s.must(err)
	c := &j9meta.Description{Base: j9meta.Address(b.Base), StartPC: j9meta.Address(b.Header.StartPC)}
	for _, change := range changes {
		change(c)
	}
	text := j9gen.Description(c)
	s.must(os.WriteFile(s.path(fmt.Sprintf("c%d.bin", i)), blob, 0o644))
	s.must(os.WriteFile(s.path(fmt.Sprintf("c%d.json", i)), text, 0o644))
	return len(blob) + len(text)
}
