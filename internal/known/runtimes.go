package known

import (
	"fmt"
	"io"
	"path"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/wire"
)

// dotnetDir matches the directory of .NET's libraries, which has its version.
var dotnetDir = regexp.MustCompile(`/Microsoft\.NETCore\.App/(\d{1,3})\.`)

const (
	dotnetDump   = 5 // the first major version of .NET that writes a dump
	dotnetPrefix = 6 // the first that reads variables beginning with DOTNET_, before those with COMPlus_
)

// dotnet returns r for a process of .NET that maps files of these names. The version is unknown if a
// program contains its runtime.
func dotnet(r Runtime, files []string) *Runtime {
	major := 0
	for _, name := range files {
		if m := dotnetDir.FindStringSubmatch(name); m != nil {
			n, _ := strconv.Atoi(m[1])
			major = max(major, n)
		}
	}
	switch {
	case major >= dotnetPrefix:
		r.note = ""
	case major > 0:
		r.flags = slices.DeleteFunc(slices.Clone(r.flags), func(f string) bool { return f != complusFlag })
		r.set, r.env, r.note = complusFlag+"=1", []string{complusFlag}, ""
		if major < dotnetDump {
			r.note = mapOnly
		}
	}
	return &r
}

// complusFlag is the variable that makes .NET before version 6 write maps or dumps.
const complusFlag = "COMPlus_PerfMapEnabled"

// mapOnly says what a perf map lacks.
const mapOnly = "which writes /tmp/perf-PID.map: names, without lines and code"

// inGo are runtimes that are libraries of Go, by the paths of their modules. Each has only a note.
var inGo = map[string]Runtime{
	"github.com/tetratelabs/wazero":           {note: "go build -tags perfmap makes wazero write /tmp/perf-PID.map: names, without lines and code"},
	"github.com/bytecodealliance/wasmtime-go": {note: "config.SetProfiler(wasmtime.ProfilingStrategyJitdump) makes wasmtime write jit-PID.dump into the working directory; with config.SetDebugInfo(true), jitinject --live PID reads lines while it runs"},
}

// InGo returns the runtime that is a library in the process's program, or nil: the files of Go programs list
// their modules.
func InGo(p *recording.Process) *Runtime {
	for _, name := range filesOf(p, 4) {
		if path.IsAbs(name) && !strings.Contains(path.Base(name), ".so") {
			if r := inProgram(name); r != nil {
				return r
			}
		}
	}
	return nil
}

func inProgram(name string) *Runtime {
	f, err := safefile.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	info := buildInfo(f)
	if info == nil {
		return nil
	}
	for _, m := range info.Deps {
		r, ok := inGo[withoutMajor(m.Path)]
		if !ok {
			continue
		}
		if hasTag(info, "perfmap") && strings.Contains(r.note, "-tags perfmap") {
			r.note = "it was built with -tags perfmap: run jitinject where the map /tmp/perf-PID.map is"
		}
		return &r
	}
	return nil
}

// buildInfo returns what Go's linker wrote about a program, or nil. From Go 1.18 on, the section has 32 bytes and
// two strings with their lengths before them: the version, and the modules between marks of 16 bytes
func buildInfo(file io.ReaderAt) *debug.BuildInfo {
	const magic, header, inline, mark = "\xff Go buildinf:", 32, 2, 16
	f, err := elffile.Open(file)
	if err != nil {
		return nil
	}
	s := f.Section(".go.buildinfo")
	if s == nil || s.FileSize > 1<<20 {
		return nil
	}
	b, err := s.Data()
	if err != nil || len(b) < header || string(b[:len(magic)]) != magic || b[15]&inline == 0 {
		return nil
	}
	c := wire.NewCursor("Go", ".go.buildinfo", b[header:], f.ByteOrder, header)
	c.Bytes("version", c.Uleb("version"))
	modules := c.Bytes("modules", c.Uleb("modules"))
	if c.Err() != nil || len(modules) < 2*mark {
		return nil
	}
	info, err := debug.ParseBuildInfo(string(modules[mark : len(modules)-mark]))
	if err != nil {
		return nil
	}
	return info
}

// withoutMajor returns the path of a module without the major version, which ends some.
func withoutMajor(module string) string {
	if dir, last := path.Split(module); len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		return strings.TrimSuffix(dir, "/")
	}
	return module
}

// hasTag reports whether a program was built with a tag.
func hasTag(info *debug.BuildInfo, tag string) bool {
	for _, s := range info.Settings {
		if s.Key == "-tags" && strings.Contains(","+s.Value+",", ","+tag+",") {
			return true
		}
	}
	return false
}

// nativeImage is a native image of GraalVM: a program of any name, in which Truffle compiles.
var nativeImage = Runtime{note: "a native image of GraalVM writes a dump if it was built with -H:+RuntimeDebugInfo -H:RuntimeDebugInfoFormat=jitdump; perf shows addresses in the code that Truffle compiles otherwise"}

// pythonFile matches names of CPython's program and library.
var pythonFile = regexp.MustCompile(`^(?:lib)?python3\.(\d{1,3})(?:[^\d]|$)`)

// jitRegisters is the first minor version of CPython 3 whose JIT compiler registers its code for
// debuggers (Python/jit_publish.c).
const jitRegisters = 15

// python returns r for a process that runs CPython with a main thread and files of these names. What
// -X perf_jit makes CPython write are trampolines, which call the interpreter: hardly any sample is in
// one. Samples in code of a process are of other code.
func python(r Runtime, comm string, files []string) *Runtime {
	minor := 0
	for _, name := range append([]string{comm}, files...) {
		if m := pythonFile.FindStringSubmatch(path.Base(name)); m != nil {
			n, _ := strconv.Atoi(m[1])
			minor = max(minor, n)
		}
	}
	switch {
	case minor >= 13:
		r.note = ""
	case minor == 12:
		r.recordable = byNothing // its variable would make a map
		r.options, r.ignored, r.flags, r.env = "-X perf", "-X perf_jit", []string{"-X perf", "-Xperf", "PYTHONPERFSUPPORT"}, []string{"PYTHONPERFSUPPORT"}
		r.note = mapOnly + "; Python 3.13 has -X perf_jit"
	case minor > 0:
		r.options, r.flags, r.note = "", nil, fmt.Sprintf("Python 3.%d can write no dump; Python 3.13 and newer have -X perf_jit", minor)
	}
	loads := func(library string) bool {
		return slices.ContainsFunc(files, func(f string) bool { return strings.Contains(path.Base(f), library) })
	}
	switch {
	case loads("_cinderx"):
		r.other = "it has loaded CinderX, which -X perf_jit does not describe"
		r.live = "perf record -k mono --call-graph dwarf,65528 python3 -X cinderx-jit-all PROGRAM.py  # it writes /tmp/perf-PID.map; inject while that is there"
	case loads("llvmlite"):
		r.other = "it has loaded LLVM (llvmlite, as Numba does), which -X perf_jit does not describe"
		r.live = llvmLive + "  # Numba's code is registered for debuggers: jitinject help gdbjit"
	case minor >= jitRegisters:
		r.other = fmt.Sprintf("Python 3.%d has a JIT compiler (PYTHON_JIT=1), and -X perf_jit would switch that off", minor)
		r.live = llvmLive + "  # its code is registered for debuggers: jitinject help gdbjit"
	default:
		r.other = "-X perf_jit describes Python's functions, which are callers of such code"
	}
	return &r
}

// withJIT returns r, or for a command of Ruby that asks for ZJIT a copy with ZJIT's option: YJIT's
// would ask for another compiler.
func (r *Runtime) withJIT(cmdline []string) *Runtime {
	isZJIT := func(word string) bool { return strings.Contains(word, "--zjit") }
	if !slices.Contains(r.names, "ruby") || !slices.ContainsFunc(cmdline, isZJIT) {
		return r
	}
	z := *r
	z.options, z.note = "--zjit-perf", mapOnly
	return &z
}
