package tier

import (
	"strconv"
	"strings"
)

// A Name is the name of a function in parts.
type Name struct {
	Text string // for people: the name without marks and place; never "" unless all of the name is
	Tier Tier
	File string // of the source, "" if the name does not say
	Line int    // where the function begins, from 1; 0 if the name does not say
}

// Read splits the name of a function, as its symbol has it. Names of other forms are their own Text.
//
// Some runtimes do not write the tier: JVMTI does not tell an agent which of HotSpot's compilers made a
// method, and BEAM and Mono have one compiler. Only their stubs have one.
func Read(symbol string) Name {
	for _, read := range []func(string) (Name, bool){v8, jsc, spiderMonkey, python, php, dotnet, dart, moarvm, ruby} {
		if n, ok := read(symbol); ok && n.Text != "" {
			return n
		}
	}
	return Name{Text: symbol, Tier: tierOfWhole(symbol)}
}

// Anonymous stands for the name of a function that has none.
const Anonymous = "(anonymous)"

// jscTiers are the compilers of JavaScriptCore. WebAssembly has two of its own.
var jscTiers = map[string]Tier{"Baseline": Baseline, "DFG": Middle, "FTL": Optimized, "WasmBBQ": Baseline, "WasmOMG": Optimized}

// JSC's names: "JSC-FTL: add#EE7vmg", with a hash of the function, which those of WebAssembly do not
// have (logJITCodeForJITDump of Source/JavaScriptCore/assembler/LinkBuffer.cpp).
func jsc(symbol string) (n Name, ok bool) {
	rest, ok := strings.CutPrefix(symbol, "JSC-")
	kind, name, found := strings.Cut(rest, ": ")
	if !ok || !found {
		return n, false
	}
	n.Tier = jscTiers[kind]
	if at := strings.LastIndexByte(name, '#'); at >= 0 && n.Tier != Unknown && !strings.HasPrefix(kind, "Wasm") {
		name = name[:at]
	}
	if name = strings.TrimRight(name, " "); name == "" {
		name = Anonymous
	}
	if n.Text = name; n.Tier == Unknown {
		n.Tier = Stub // a thunk
	}
	return n, true
}

// SpiderMonkey's names: "Ion: add (prog.js:2:49)" (js/src/jit/PerfSpewer.cpp).
func spiderMonkey(symbol string) (n Name, ok bool) {
	kind, rest, ok := strings.Cut(symbol, ": ")
	tier, known := map[string]Tier{"Interpreter": Interpreter, "BaselineInterpreter": Interpreter, "Baseline": Baseline, "Ion": Optimized}[kind]
	if !ok || !known {
		return n, false
	}
	n = Name{Text: rest, Tier: tier}
	name, place, found := strings.Cut(rest, " (")
	place, closed := strings.CutSuffix(place, ")")
	before, _, hasColumn := cutNumber(place)
	file, line, hasLine := cutNumber(before)
	if found && closed && hasColumn && hasLine {
		n.Text, n.File, n.Line = name, file, line
	}
	return n, true
}

// CPython's names: "py::add:/tmp/prog.py" (Python/perf_trampoline.c). The interpreter runs what the
// trampoline calls. All code of the JIT compiler is py::jit:executor, which says more than its last word.
//
// CinderX compiles functions: "__CINDER_JIT:__main__:Point.add" (cinderx/Jit/perf_jitdump.h).
func python(symbol string) (n Name, ok bool) {
	if n.Text, ok = strings.CutPrefix(symbol, "__CINDER_JIT:"); ok {
		n.Tier = Optimized
		return n, true
	}
	rest, ok := strings.CutPrefix(symbol, "py::")
	if !ok {
		return n, false
	}
	if strings.HasPrefix(rest, "jit:") {
		return Name{Text: symbol, Tier: Optimized}, true
	}
	name, file, _ := strings.Cut(rest, ":")
	return Name{Text: name, File: file, Tier: Interpreter}, true
}

// PHP's names of traces: "TRACE-1$add$5", with the number of the trace, and the line where it begins,
// which may be inside the function (ext/opcache/jit/zend_jit_trace.c). Other functions are "JIT$add",
// and stubs "JIT$$trace_exit" (zend_jit_disasm_add_symbol).
func php(symbol string) (n Name, ok bool) {
	if name, ok := strings.CutPrefix(symbol, "JIT$"); ok && !strings.HasPrefix(name, "$") {
		return Name{Text: name, Tier: Optimized}, true
	}
	rest, ok := strings.CutPrefix(symbol, "TRACE-")
	if !ok {
		return n, false
	}
	parts := strings.Split(rest, "$")
	if len(parts) < 3 {
		return n, false
	}
	line, err := strconv.ParseUint(parts[len(parts)-1], 10, 31)
	if err != nil {
		return n, false
	}
	n = Name{Text: strings.Join(parts[1:len(parts)-1], "$"), Tier: Optimized, Line: int(line)}
	if strings.HasPrefix(n.Text, "/") { // the code of a file outside of functions
		n.Text, n.File = "(main)", n.Text
	}
	return n, true
}

// Dart's names: "*Point_method", with a star for optimized code (runtime/vm/os_linux.cc).
func dart(symbol string) (n Name, ok bool) {
	n.Text, ok = strings.CutPrefix(symbol, "*")
	n.Tier = Optimized
	return n, ok
}

// .NET's names end in their tier: "int32 [App] App::Add(int32)[OptimizedTier1]"
// (PerfMap::LogJITCompiledMethod of src/coreclr/vm/perfmap.cpp).
func dotnet(symbol string) (n Name, ok bool) {
	at := strings.LastIndexByte(symbol, '[')
	if at <= 0 || !strings.HasSuffix(symbol, "]") {
		return n, false
	}
	tier, known := dotnetTiers[symbol[at+1:len(symbol)-1]]
	return Name{Text: strings.TrimRight(symbol[:at], " "), Tier: tier}, known
}

// dotnetTiers are the names of GetJitOptimizationTierStr in prestub.cpp, and those of .NET's events. Code
// that was compiled ahead counts as the first tier: .NET compiles it again if it is hot.
var dotnetTiers = map[string]Tier{
	"PreJIT": Baseline, "ReadyToRun": Baseline, "Tier0": Baseline, "MinOptJitted": Baseline, "QuickJitted": Baseline,
	"InstrumentedTier": Baseline, "InstrumentedTier0": Baseline, "InstrumentedTier1": Middle, "InstrumentedTierOptimized": Middle,
	"OptimizedTier1": Optimized, "OptimizedTier1OSR": Optimized, "Optimized": Optimized,
}
