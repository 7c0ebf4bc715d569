package tier

import "strings"

// A form is a kind of name that says the tier and has no parts for people.
type form struct {
	prefix, suffix string // "" for any
	tier           Tier
}

// forms are the names that stay whole: those of stubs, interpreters and traces.
var forms = []form{
	// HotSpot: the names that JVMTI's event DynamicCodeGenerated has, from VM_Version, SharedRuntime,
	// CodeBlob and StubCodeGenerator in src/hotspot/share; as in dumps of OpenJDK 17 to 27. The
	// interpreter is one piece of code, Interpreter.
	{"Interpreter", "Interpreter", Interpreter},
	{"I2C/C2I adapters", "", Stub},
	{"vtable stub", "", Stub},
	{"itable stub", "", Stub},
	{"call_stub", "", Stub},
	{"cont_thaw", "", Stub},
	{"cont_preempt", "", Stub},
	{"cont_returnBarrier", "", Stub},
	{"C1 Runtime ", "", Stub},
	{"C2 Runtime ", "", Stub},
	{"Shared Runtime ", "", Stub},
	{"DeoptimizationBlob", "", Stub},
	{"ExceptionBlob", "", Stub},
	{"SafepointBlob", "", Stub},
	{"UncommonTrapBlob", "", Stub},

	// CinderX: cinderx/Jit/perf_jitdump.h.
	{"__CINDER_INFRA_JIT:", "", Stub},

	// PHP: zend_jit_disasm_add_symbol of ext/opcache/jit.
	{"JIT$$", "", Stub},
	{"jit$$", "", Stub},

	// BEAM: beam_jit_metadata.cpp of erts/emulator/beam/jit.
	{"global::", "", Stub},
	{"", "::codeHeader", Stub},
	{"", "::codeFooter", Stub},

	// .NET: PerfMap::LogStubs of src/coreclr/vm/perfmap.cpp.
	{"stub<", "", Stub},

	// Mono: mono_method_full_name of mono/metadata/debug-helpers.c; jitinject names trampolines itself.
	{"(wrapper ", "", Stub},
	{"(trampoline ", "", Stub},

	// LuaJIT: perftools_addtrace of src/lj_trace.c, as TRACE_1::app.lua:12.
	{"TRACE_", "", Optimized},
}

// fits reports whether a name has the form.
func (m *form) fits(symbol string) bool {
	return strings.HasPrefix(symbol, m.prefix) && strings.HasSuffix(symbol, m.suffix)
}

// tierOfWhole returns the tier of a name without parts, or Unknown.
func tierOfWhole(symbol string) Tier {
	for i := range forms {
		if forms[i].fits(symbol) {
			return forms[i].tier
		}
	}
	return Unknown
}
