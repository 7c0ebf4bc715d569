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
func Read(symbol string) Name {
	for _, read := range []func(string) (Name, bool){v8, jsc, spiderMonkey, python, php, dotnet, java} {
		if n, ok := read(symbol); ok && n.Text != "" {
			return n
		}
	}
	return Name{Text: symbol}
}

// anonymous stands for the name of a function that has none.
const anonymous = "(anonymous)"

// V8's names: "JS:*add /tmp/prog.js:2:49". Up to V8 10 the kind differs, and the column is missing:
// "LazyCompile:*add /tmp/prog.js:2". Functions of WebAssembly have other names, and those of code
// without a script have no place.
func v8(symbol string) (n Name, ok bool) {
	kind, rest, ok := strings.Cut(symbol, ":")
	if !ok {
		return n, false
	}
	switch kind {
	case "JS", "LazyCompile", "Function", "Script", "Eval":
	case "BytecodeHandler":
		return Name{Text: rest, Tier: Interpreter}, true
	case "Builtin", "Stub", "RegExp":
		if strings.HasPrefix(rest, ":") { // C++
			return n, false
		}
		return Name{Text: rest, Tier: Stub}, true
	default:
		return n, false
	}
	for suffix, tier := range wasmTiers {
		if name, found := strings.CutSuffix(rest, suffix); found {
			if at := strings.LastIndexByte(name, '-'); at > 0 { // the number of the function
				name = name[:at]
			}
			return Name{Text: name, Tier: tier}, true
		}
	}
	tier, length := V8Mark(rest)
	if kind != "JS" && length == 0 { // a C++ function, as Function::call
		return n, false
	}
	n = Name{Text: rest[length:], Tier: tier}
	before, last, ok := cutNumber(n.Text)
	if !ok {
		return n, true
	}
	n.Line = last
	if outer, line, ok := cutNumber(before); ok {
		before, n.Line = outer, line
	}
	if n.Text, n.File, ok = cutFile(before); !ok || n.Text == "" {
		n.Text = anonymous
	}
	n.File = strings.TrimPrefix(n.File, "file://")
	return n, true
}

// wasmTiers are the ends of V8's names of WebAssembly's functions: is_prime-1-turbofan.
var wasmTiers = map[string]Tier{"-liftoff": Baseline, "-turbofan": Optimized}

// cutFile splits a name and a file, which V8 separates by a space. A name of two words is an accessor
// or a class member; a path may have spaces, too. So the file begins at the first space before a slash
// or before something with a scheme, or else at the last.
func cutFile(s string) (name, file string, ok bool) {
	for at := 0; at < len(s); at++ {
		if s[at] != ' ' {
			continue
		}
		word, _, _ := strings.Cut(s[at+1:], " ")
		if strings.HasPrefix(word, "/") || strings.Contains(word, ":") {
			return s[:at], s[at+1:], true
		}
	}
	if at := strings.LastIndexByte(s, ' '); at >= 0 {
		return s[:at], s[at+1:], true
	}
	return s, "", true
}

// cutNumber removes a colon and a number from the end.
func cutNumber(s string) (before string, n int, ok bool) {
	at := strings.LastIndexByte(s, ':')
	if at < 0 {
		return s, 0, false
	}
	number, err := strconv.ParseUint(s[at+1:], 10, 31)
	if err != nil {
		return s, 0, false
	}
	return s[:at], int(number), true
}

// JSC's names: "JSC-FTL: add#EE7vmg", with a hash of the function.
func jsc(symbol string) (n Name, ok bool) {
	rest, ok := strings.CutPrefix(symbol, "JSC-")
	kind, name, found := strings.Cut(rest, ": ")
	if !ok || !found {
		return n, false
	}
	n.Tier = map[string]Tier{"Baseline": Baseline, "DFG": Middle, "FTL": Optimized}[kind]
	if at := strings.LastIndexByte(name, '#'); at >= 0 && n.Tier != Unknown {
		name = name[:at]
	}
	if name == "" {
		name = anonymous
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
// trampoline calls. Its JIT compiler names what it makes py::jit:executor.
func python(symbol string) (n Name, ok bool) {
	rest, ok := strings.CutPrefix(symbol, "py::")
	if !ok {
		return n, false
	}
	if name, ok := strings.CutPrefix(rest, "jit:"); ok {
		return Name{Text: name, Tier: Optimized}, true
	}
	name, file, _ := strings.Cut(rest, ":")
	return Name{Text: name, File: file, Tier: Interpreter}, true
}

// PHP's names of traces: "TRACE-1$add$5", with the number of the trace, and the line where it begins,
// which may be inside the function (ext/opcache/jit/zend_jit_trace.c). Other functions are "JIT$add".
func php(symbol string) (n Name, ok bool) {
	if name, ok := strings.CutPrefix(symbol, "JIT$"); ok {
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

// .NET's names end in their tier (PerfMap::LogJITCompiledMethod of perfmap.cpp):
// "int32 [App] App::Add(int32)[OptimizedTier1]".
func dotnet(symbol string) (n Name, ok bool) {
	at := strings.LastIndexByte(symbol, '[')
	if at <= 0 || !strings.HasSuffix(symbol, "]") {
		return n, false
	}
	tier, known := dotnetTiers[symbol[at+1:len(symbol)-1]]
	return Name{Text: symbol[:at], Tier: tier}, known
}

var dotnetTiers = map[string]Tier{
	"PreJIT": Baseline, "ReadyToRun": Baseline, "Tier0": Baseline, "MinOptJitted": Baseline, "QuickJitted": Baseline, "InstrumentedTier0": Baseline,
	"InstrumentedTier1": Middle, "OptimizedTier1": Optimized, "OptimizedTier1OSR": Optimized, "Optimized": Optimized,
}

// HotSpot's interpreter is one piece of code.
func java(symbol string) (n Name, ok bool) {
	return Name{Text: symbol, Tier: Interpreter}, symbol == "Interpreter"
}
