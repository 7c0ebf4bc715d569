package profile

import "strings"

// A form is a kind of symbol of a runtime.
type form struct {
	prefix string // of the symbol
	suffix string // "" for any
	tier   Tier
	// name returns the name for people, and the source's file and line if the symbol has them. The text
	// is the symbol without prefix and suffix. nil: the symbol is the name.
	name func(text string) (name, file string, line int)
}

// forms are the symbols of jitted code from which the tier can be read. The first that fits counts.
// Compilers of HotSpot are not in its names: JVMTI does not tell an agent which one compiled a method.
var forms = []form{
	// V8: src/objects/code-kind.cc, CodeKindToMarker, and CodeTag of src/logging/code-events.h. The
	// marks are in script, below. WebAssembly: CodeEventLogger::CodeCreateEvent of src/logging/log.cc
	// appends the function's number and the tier.
	{prefix: "JS:", suffix: "-liftoff", tier: Baseline, name: plain},
	{prefix: "JS:", suffix: "-turbofan", tier: Optimized, name: plain},
	{prefix: "Builtin:InterpreterEntryTrampoline", tier: Interpreter}, // the frame of an interpreted function
	{prefix: "Builtin:", tier: Stub},
	{prefix: "BytecodeHandler:", tier: Stub},
	{prefix: "Handler:", tier: Stub},
	{prefix: "Stub:", tier: Stub},
	{prefix: "RegExp:", tier: NoTier},

	// HotSpot: the names that JVMTI's event DynamicCodeGenerated has, from VM_Version, SharedRuntime,
	// CodeBlob and StubCodeGenerator in src/hotspot/share; as in dumps of OpenJDK 17 to 27.
	{prefix: "Interpreter", suffix: "Interpreter", tier: Interpreter},
	{prefix: "I2C/C2I adapters", tier: Stub},
	{prefix: "vtable stub", tier: Stub},
	{prefix: "itable stub", tier: Stub},
	{prefix: "call_stub", tier: Stub},
	{prefix: "cont_", tier: Stub},
	{prefix: "C1 Runtime ", tier: Stub},
	{prefix: "C2 Runtime ", tier: Stub},
	{prefix: "Shared Runtime ", tier: Stub},
	{prefix: "DeoptimizationBlob", tier: Stub},
	{prefix: "ExceptionBlob", tier: Stub},
	{prefix: "SafepointBlob", tier: Stub},
	{prefix: "UncommonTrapBlob", tier: Stub},

	// JavaScriptCore: Source/JavaScriptCore/assembler/LinkBuffer.cpp, logJITCodeForJITDump.
	{prefix: "JSC-Baseline: ", tier: Baseline, name: beforeHash},
	{prefix: "JSC-DFG: ", tier: Middle, name: beforeHash},
	{prefix: "JSC-FTL: ", tier: Optimized, name: beforeHash},
	{prefix: "JSC-WasmBBQ: ", tier: Baseline, name: plain},
	{prefix: "JSC-WasmOMG: ", tier: Optimized, name: plain},

	// PHP: ext/opcache/jit/zend_jit_trace.c, zend_jit_trace_name; zend_jit_disasm_add_symbol for stubs.
	{prefix: "TRACE-", tier: Optimized, name: phpTrace},
	{prefix: "JIT$$", tier: Stub},
	{prefix: "jit$$", tier: Stub},

	// BEAM: erts/emulator/beam/jit, beam_jit_metadata.cpp. There is one compiler.
	{prefix: "global::", tier: Stub},
	{suffix: "::codeHeader", tier: Stub},
	{suffix: "::codeFooter", tier: Stub},

	// .NET: src/coreclr/vm/perfmap.cpp, LogJITCompiledMethod and LogStubs, with the names of
	// GetJitOptimizationTierStr in prestub.cpp.
	{suffix: "[MinOptJitted]", tier: Baseline, name: plain},
	{suffix: "[QuickJitted]", tier: Baseline, name: plain},
	{suffix: "[InstrumentedTier]", tier: Baseline, name: plain},
	{suffix: "[InstrumentedTierOptimized]", tier: Middle, name: plain},
	{suffix: "[Optimized]", tier: Optimized, name: plain},
	{suffix: "[OptimizedTier1]", tier: Optimized, name: plain},
	{suffix: "[OptimizedTier1OSR]", tier: Optimized, name: plain},
	{suffix: "[PreJIT]", tier: NoTier, name: plain},
	{prefix: "stub<", tier: Stub},

	// Mono: mono/metadata/debug-helpers.c, mono_method_full_name; trampolines as internal/runtime/mono
	// calls them. There is one compiler.
	{prefix: "(wrapper ", tier: Stub},
	{prefix: "(trampoline ", tier: Stub},

	// CPython: Python/perf_trampoline.c. The trampoline of a function calls the interpreter.
	{prefix: "py::jit:", tier: NoTier},
	{prefix: "py::", tier: Interpreter, name: python},

	// LuaJIT: src/lj_trace.c, perftools_addtrace.
	{prefix: "TRACE_", tier: Optimized},
}

// fits reports whether a symbol has the form.
func (m *form) fits(symbol string) bool {
	return strings.HasPrefix(symbol, m.prefix) && strings.HasSuffix(symbol, m.suffix)
}

// describe sets what the symbol says about a function.
func (f *Function) describe() {
	f.Name = f.Symbol
	switch f.Kind {
	case Unknown:
		if f.Object != "" && f.Object != unknownSymbol {
			f.Name = "[" + strings.Trim(f.Object[strings.LastIndexByte(f.Object, '/')+1:], "[]") + "]"
		}
		return
	case JIT:
	default:
		return
	}
	if name, tier, ok := script(f.Symbol); ok {
		f.Tier = tier
		f.Name, f.File, f.Line = jsPlace(name)
		f.nameAnonymous()
		return
	}
	for i := range forms {
		m := &forms[i]
		if !m.fits(f.Symbol) {
			continue
		}
		f.Tier = m.tier
		if m.name != nil && len(f.Symbol) > len(m.prefix)+len(m.suffix) {
			f.Name, f.File, f.Line = m.name(f.Symbol[len(m.prefix) : len(f.Symbol)-len(m.suffix)])
		}
		return
	}
}

// setSource sets where a function is declared. It overrides what the symbol says: a source map may
// have led to the original.
func (f *Function) setSource(file string, line int) {
	if file == "" {
		return
	}
	if f.File != file || line > 0 {
		f.File, f.Line = file, line
	}
	f.nameAnonymous()
}

// v8Kinds are the first words of symbols of functions of a script: JS since V8 11, the others before.
var v8Kinds = [...]string{"JS:", "LazyCompile:", "Function:", "Script:", "Eval:"}

// script splits the symbol of a function that V8 compiled from a script, "JS:*add /tmp/prog.js:2:49". An o
// before the mark means that a loop was entered while it ran. A ' after it means that the code is for
// one context [V8, CodeKindToMarker].
func script(symbol string) (name string, tier Tier, ok bool) {
	for _, kind := range v8Kinds {
		rest, found := strings.CutPrefix(symbol, kind)
		if !found {
			continue
		}
		marked := rest
		if len(marked) > 1 && marked[0] == 'o' && strings.IndexByte("~^+*", marked[1]) >= 0 {
			marked = marked[1:]
		}
		if marked == "" {
			return "", NoTier, false
		}
		switch marked[0] {
		case '~':
			tier = Interpreter
		case '^':
			tier = Baseline
		case '+':
			tier = Middle
		case '*':
			tier = Optimized
		default:
			return "", NoTier, false
		}
		return strings.TrimPrefix(marked[1:], "'"), tier, true
	}
	return "", NoTier, false
}
