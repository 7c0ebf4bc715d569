package known

import (
	"path"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/recording"
)

// IsMono reports whether a runtime is Mono.
func (r *Runtime) IsMono() bool { return r != nil && slices.Contains(r.names, "mono") }

// Asks reports whether a command line starts the runtime.
func (r *Runtime) Asks(cmdline []string) bool {
	return len(r.flags) > 0 && slices.ContainsFunc(cmdline, func(arg string) bool {
		return slices.Contains(r.names, plain(arg))
	})
}

// A Runtime is a program with a JIT compiler, with the way to make it write a dump.
type Runtime struct {
	names []string // of its program, or of its main thread
	// files are parts of names of files that it maps, where its own name is not enough.
	files []string
	flags []string // parts of a command line that make it write a dump
	// start is what to type after perf record, or "" if the runtime cannot write a dump.
	start string
	note  string // further advice, or ""
}

// all are the runtimes in common use. Names are compared up to a digit, a dash or a dot, as in
// python3.13.
var all = []Runtime{
	{names: []string{"node", "nodejs", "electron"}, flags: []string{"--perf-prof"}, start: "node --perf-prof PROGRAM.js"},
	{names: []string{"deno"}, flags: []string{"--perf-prof"}, start: "deno run --v8-flags=--perf-prof PROGRAM.ts"},
	{names: []string{"chrome", "chromium", "d8"}, files: []string{"/chrome", "/chromium"}, flags: []string{"--perf-prof"}, start: "chromium --no-sandbox --js-flags=--perf-prof", note: "without the sandbox, which keeps it from writing"},
	{names: []string{"java"}, files: []string{"/libjvm.so"}, flags: []string{"-agentpath:"}, start: "java -agentpath:/usr/local/lib/jitinject/libjitinject-jvmti.so -XX:+PreserveFramePointer PROGRAM", note: "in a running JVM: jcmd PID Compiler.perfmap"},
	{names: []string{"beam"}, files: []string{"/beam.smp"}, flags: []string{"+JPperf"}, start: "erl +JPperf true PROGRAM", note: "for Elixir, ELIXIR_ERL_OPTIONS='+JPperf true'"},
	{names: []string{"php", "php-fpm", "php-cgi"}, files: []string{"/opcache.so"}, flags: []string{"opcache.jit_debug"}, start: "php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing -d opcache.jit_debug=32 -d opcache.file_update_protection=0 PROGRAM.php"},
	{names: []string{"python", "pypy"}, files: []string{"/libpython3"}, flags: []string{"perf_jit", "PYTHON_PERF_JIT_SUPPORT"}, start: "python3 -X perf_jit PROGRAM.py", note: "from Python 3.13 on"},
	{names: []string{"julia"}, files: []string{"/libjulia"}, flags: []string{"ENABLE_JITPROFILING"}, start: "env ENABLE_JITPROFILING=1 julia PROGRAM.jl", note: "a julia that was built with USE_PERF_JITEVENTS=1"},
	{names: []string{"lli"}, flags: []string{"--jit-kind=mcjit", "-jit-kind=mcjit"}, start: "lli --jit-kind=mcjit PROGRAM.bc", note: "an LLVM that was built with LLVM_USE_PERF; or jitinject --live PID while it runs"},
	{names: []string{"wasmtime"}, flags: []string{"--profile=jitdump", "--profile jitdump", "--jitdump"}, start: "wasmtime --profile=jitdump PROGRAM.wasm"},
	{names: []string{"wasmer"}, flags: []string{"--profiler=perfmap"}, start: "wasmer run --profiler=perfmap PROGRAM.wasm", note: "which writes /tmp/perf-PID.map: names, without lines and code"},
	{names: []string{"dotnet"}, files: []string{"/libcoreclr.so"}, flags: []string{"DOTNET_PerfMapEnabled"}, start: "env DOTNET_PerfMapEnabled=2 dotnet PROGRAM.dll"},
	{names: []string{"mono"}, files: []string{"/libmono"}, flags: []string{"--profile=log", "--jitdump"}, start: "env MONO_DEBUG=disable_omit_fp mono --profile=log:nodefaults,jit,output=app.mlpd PROGRAM.exe", note: "jitinject finds app.mlpd by itself; the variable lets -g find callers"},
	{names: []string{"ruby"}, files: []string{"/libruby"}, flags: []string{"--yjit-perf"}, start: "ruby --yjit --yjit-perf PROGRAM.rb", note: "which writes /tmp/perf-PID.map: names, without lines and code"},
	{names: []string{"luajit"}, files: []string{"/libluajit"}, note: "LuaJIT can write no dump; built with -DLUAJIT_USE_PERFTOOLS it writes /tmp/perf-PID.map: names, without lines and code"},
	{names: []string{"bun"}, flags: []string{"useJITDump"}, start: "env BUN_JSC_useJITDump=1 BUN_JSC_jitDumpDirectory=$PWD bun run PROGRAM.js"},
	{names: []string{"js", "firefox"}, flags: []string{"IONPERF"}, start: "env PERF_SPEW_DIR=/tmp IONPERF=func js PROGRAM.js", note: "a nightly build; in the browser with MOZ_DISABLE_CONTENT_SANDBOX=1"},
	{names: []string{"qemu"}, flags: []string{"-jitdump"}, start: "qemu-ARCH -jitdump PROGRAM", note: "from QEMU 8 on"},
	{files: []string{"/llvmjit.so"}, note: "PostgreSQL writes a dump with jit_profiling_support=on; with jit_debugging_support=on, jitinject --live PID reads the code of a running query: jitinject help gdbjit"},
	{files: []string{"/libLLVM"}, note: "LLVM may register its code for debuggers; while the process runs, jitinject --live PID reads that: jitinject help gdbjit"},
}

// plain returns a program's name without its version or machine.
func plain(name string) string {
	name = path.Base(name)
	if i := strings.IndexAny(name, "0123456789.-"); i > 0 {
		name = name[:i]
	}
	return name
}

// Of returns the runtime of a process, or nil.
func Of(p *recording.Process) *Runtime {
	var files []string
	for i := range p.FileMaps {
		if name := p.FileMaps[i].Name; name != "" && !slices.Contains(files, name) && len(files) < 1000 {
			files = append(files, name)
		}
	}
	for i := range all {
		r := &all[i]
		is := func(name string) bool { return slices.Contains(r.names, name) || slices.Contains(r.names, plain(name)) }
		if is(p.Comm) || slices.ContainsFunc(files, func(f string) bool {
			return is(path.Base(f)) || slices.ContainsFunc(r.files, func(part string) bool { return strings.Contains(f, part) })
		}) {
			return r
		}
	}
	return nil
}

// Advice returns the command that makes the runtime write a dump, with further advice.
func (r *Runtime) Advice() string {
	switch {
	case r.start == "":
		return r.note
	case r.note != "":
		return "perf record -k mono -g " + r.start + "  # " + r.note
	}
	return "perf record -k mono -g " + r.start
}

// Given returns the argument of a command line that has one of the runtime's flags, or "".
func (r *Runtime) Given(cmdline []string) string {
	for _, arg := range cmdline {
		for _, f := range r.flags {
			if strings.Contains(arg, f) {
				return arg
			}
		}
	}
	return ""
}
