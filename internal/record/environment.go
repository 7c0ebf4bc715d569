package record

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// An Environment has the variables of a command, in the form of os.Environ.
type Environment []string

// lookup returns the index of a variable, or -1. The last one counts, as for programs.
func (e Environment) lookup(name string) int {
	for i := len(e) - 1; i >= 0; i-- {
		if strings.HasPrefix(e[i], name+"=") {
			return i
		}
	}
	return -1
}

// Get returns the value of a variable, or "".
func (e Environment) Get(name string) string {
	if i := e.lookup(name); i >= 0 {
		return e[i][len(name)+1:]
	}
	return ""
}

// Set gives a variable a value.
func (e *Environment) Set(name, value string) {
	if i := e.lookup(name); i >= 0 {
		(*e)[i] = name + "=" + value
		return
	}
	*e = append(*e, name+"="+value)
}

// Append adds a text to a variable, after a separator if it has a value already.
func (e *Environment) Append(name, separator, text string) {
	if old := e.Get(name); old != "" {
		text = old + separator + text
	}
	e.Set(name, text)
}

// setDefault gives a variable a value if it has none.
func (e *Environment) setDefault(name, value string) {
	if e.Get(name) == "" {
		e.Set(name, value)
	}
}

// Settings are what the variables depend on.
type Settings struct {
	Dir     string   // for files; without characters that a variable would have to quote
	Agent   string   // the agent for Java; "" if it is not installed
	Inlines bool     // V8's log, which has inlined calls
	Only    []string // runtimes; nil for all
}

// A switchOn makes one runtime write dumps.
type switchOn struct {
	name string
	set  func(e *Environment, s *Settings)
}

// runtimes are those that environment variables make write dumps. A variable that a program reads
// for other reasons is appended to. A runtime without files in s.Dir writes them into its working
// directory (node, qemu), or into /tmp (php, python, erlang, dotnet).
var runtimes = []switchOn{
	{"node", func(e *Environment, s *Settings) {
		e.Append("NODE_OPTIONS", " ", "--perf-prof")
		if s.Inlines {
			e.Append("NODE_OPTIONS", " ", "--require="+filepath.Join(s.Dir, preloadFile))
		}
	}},
	{"deno", func(e *Environment, s *Settings) {
		flags := "--perf-prof,--perf-prof-path=" + s.Dir
		if s.Inlines {
			flags += ",--log-code,--log-source-code,--logfile=" + s.Dir + "/v8.log"
		}
		e.Append("DENO_V8_FLAGS", ",", flags)
	}},
	{"bun", func(e *Environment, s *Settings) { // aborts if the directory does not exist
		e.Set("BUN_JSC_useJITDump", "1")
		e.Set("BUN_JSC_jitDumpDirectory", s.Dir)
	}},
	{"java", func(e *Environment, s *Settings) { // a VM ends if the agent does not exist
		old := e.Get("JAVA_TOOL_OPTIONS") + e.Get("JDK_JAVA_OPTIONS")
		if s.Agent == "" || strings.Contains(old, "perf-jvmti") || strings.Contains(old, "jitinject-jvmti") {
			return
		}
		e.Append("JAVA_TOOL_OPTIONS", " ", fmt.Sprintf("-agentpath:%s=dir=%s -XX:+PreserveFramePointer", s.Agent, s.Dir))
	}},
	{"php", func(e *Environment, s *Settings) { // an empty first entry is the compiled-in directory
		e.Set("PHP_INI_SCAN_DIR", e.Get("PHP_INI_SCAN_DIR")+":"+filepath.Join(s.Dir, filepath.Dir(phpFile)))
	}},
	{"python", func(e *Environment, _ *Settings) { e.setDefault("PYTHON_PERF_JIT_SUPPORT", "1") }},
	{"erlang", func(e *Environment, _ *Settings) { e.Append("ERL_AFLAGS", " ", "+JPperf true") }},
	{"mono", func(e *Environment, s *Settings) {
		e.Append("MONO_ENV_OPTIONS", " ", "--profile=log:nodefaults,jit,output="+s.Dir+"/%p.mlpd")
		e.Append("MONO_DEBUG", ",", "disable_omit_fp")
	}},
	{"llvm", func(e *Environment, s *Settings) { e.setDefault("JITDUMPDIR", s.Dir) }},
	{"qemu", func(e *Environment, _ *Settings) { e.setDefault("QEMU_JITDUMP", "1") }},
	{"raku", func(e *Environment, s *Settings) {
		e.setDefault("MVM_JIT_PERF_MAP", "1")
		e.setDefault("MVM_JIT_PERF_DUMP", s.Dir) // from MoarVM 2026.05 on
	}},
	{"dotnet", func(e *Environment, _ *Settings) {
		e.setDefault("DOTNET_PerfMapEnabled", "2")
		e.setDefault("DOTNET_PerfMapStubGranularity", "2") // .NET 10.0 cannot write blocks of stubs
		e.setDefault("COMPlus_PerfMapEnabled", "1")        // .NET before version 6 reads only this
	}},
}

// Runtimes returns the names of the runtimes that record can switch on.
func Runtimes() (names []string) {
	for _, r := range runtimes {
		names = append(names, r.name)
	}
	return names
}

// Has reports whether a runtime is to write dumps.
func (s *Settings) Has(name string) bool { return s.Only == nil || slices.Contains(s.Only, name) }

// SwitchOn makes the runtimes of a command and of its children write dumps.
func (e *Environment) SwitchOn(s *Settings) {
	for _, r := range runtimes {
		if s.Has(r.name) {
			r.set(e, s)
		}
	}
}

// Files that the variables name, in the directory for files. They stay there: a process that goes
// on may start another one, and node and bun would end without them.
const (
	preloadFile = scaffold + "/v8log.cjs"
	phpFile     = scaffold + "/php/zz-jitinject.ini"
)

// scaffoldFiles are the contents of these files. NODE_OPTIONS may have --perf-prof, which opens V8's
// log, but no flag that makes V8 write functions into it; a preload sets those. They are V8's for
// the whole process, so worker threads need not set them. Before node 20, V8 has not all of them and complains.
var scaffoldFiles = map[string]string{
	preloadFile: `'use strict';
if (require('worker_threads').isMainThread && parseInt(process.versions.v8) >= 11) {
  const { setFlagsFromString } = require('v8');
  for (const flag of ['--log-code', '--log-source-code', '--log-source-position']) setFlagsFromString(flag);
}
`,
	phpFile: `opcache.enable=1
opcache.enable_cli=1
opcache.jit_buffer_size=64M
opcache.jit=tracing
opcache.jit_debug=32
opcache.file_update_protection=0
`,
}
