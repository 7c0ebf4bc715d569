package profile

import (
	"slices"
	"testing"
)

func TestDescribe_SymbolsOfRuntimes(t *testing.T) {
	for _, c := range []struct {
		symbol string
		tier   Tier
		name   string
		file   string
		line   int
	}{
		{"JS:~run /tmp/bench.js:4:13", Interpreter, "run", "/tmp/bench.js", 4},
		{"JS:^run /tmp/bench.js:4:13", Baseline, "run", "/tmp/bench.js", 4},
		{"JS:+'isAccessExpression /a b/tsc.js:17221:28", Middle, "isAccessExpression", "/a b/tsc.js", 17221},
		{"JS:*'getDeclarationName /n/tsc.js:41529:30", Optimized, "getDeclarationName", "/n/tsc.js", 41529},
		{"JS:o*countPrimes main:2:21", Optimized, "countPrimes", "main", 2},
		{"JS:*get a /b file:///tmp/m.mjs:3:20", Optimized, "get a", "/b file:///tmp/m.mjs", 3}, // ambiguous
		{"JS:*get area file:///tmp/m.mjs:3:20", Optimized, "get area", "/tmp/m.mjs", 3},
		{"JS:^ file:///tmp/m.mjs:1:1", Baseline, "(anonymous m.mjs:1)", "/tmp/m.mjs", 1},
		{"JS:*ev :1:13", Optimized, "ev", "", 1},
		{"JS:^requireBuiltin node:internal/bootstrap/realm:420:24", Baseline, "requireBuiltin", "node:internal/bootstrap/realm", 420},
		{"LazyCompile:*add /tmp/prog.js:2", Optimized, "add", "/tmp/prog.js", 2},
		{"Script:~ /tmp/prog.js:1:1", Interpreter, "(anonymous prog.js:1)", "/tmp/prog.js", 1},
		{"JS:rec-2-liftoff", Baseline, "rec-2", "", 0},
		{"JS:rec-2-turbofan", Optimized, "rec-2", "", 0},
		{"Builtin:ArrayMap", Stub, "Builtin:ArrayMap", "", 0},
		{"Builtin:InterpreterEntryTrampoline", Interpreter, "Builtin:InterpreterEntryTrampoline", "", 0},
		{"BytecodeHandler:Ldar", Stub, "BytecodeHandler:Ldar", "", 0},
		{"Stub:js-to-wasm:i:i", Stub, "Stub:js-to-wasm:i:i", "", 0},
		{"RegExp:a+b", NoTier, "RegExp:a+b", "", 0},
		{"Interpreter", Interpreter, "Interpreter", "", 0},
		{"InterpreterFactory.make()V", NoTier, "InterpreterFactory.make()V", "", 0},
		{"I2C/C2I adapters(0xbabe)", Stub, "I2C/C2I adapters(0xbabe)", "", 0},
		{"C1 Runtime load_appendix_patching_blob", Stub, "C1 Runtime load_appendix_patching_blob", "", 0},
		{"java.util.ArrayList.isEmpty()Z", NoTier, "java.util.ArrayList.isEmpty()Z", "", 0},
		{"JSC-FTL: countPrimes#EE7vmg", Optimized, "countPrimes", "", 0},
		{"JSC-DFG: countPrimes#EE7vmg", Middle, "countPrimes", "", 0},
		{"JSC-Baseline: countPrimes#EE7vmg", Baseline, "countPrimes", "", 0},
		{"TRACE-1$isPrime$5", Optimized, "isPrime", "", 5},
		{"TRACE-4$/tmp/prog.php$3", Optimized, "/tmp/prog.php", "/tmp/prog.php", 3},
		{"TRACE-odd", Optimized, "TRACE-odd", "", 0},
		{"JIT$$trace_exit", Stub, "JIT$$trace_exit", "", 0},
		{"app:is_prime/2", NoTier, "app:is_prime/2", "", 0},
		{"global::apply_fun_shared", Stub, "global::apply_fun_shared", "", 0},
		{"queue::codeFooter", Stub, "queue::codeFooter", "", 0},
		{"int32 [App] App::CountPrimes(int32)[OptimizedTier1]", Optimized, "int32 [App] App::CountPrimes(int32)", "", 0},
		{"int32 [App] App::CountPrimes(int32)[QuickJitted]", Baseline, "int32 [App] App::CountPrimes(int32)", "", 0},
		{"void [System.Private.CoreLib] X::Y()[PreJIT]", NoTier, "void [System.Private.CoreLib] X::Y()", "", 0},
		{"stub<7> GenerateDispatchStub<GenerateDispatchStub>", Stub, "stub<7> GenerateDispatchStub<GenerateDispatchStub>", "", 0},
		{"App:IsPrime (int)", NoTier, "App:IsPrime (int)", "", 0},
		{"(wrapper runtime-invoke) object:x ()", Stub, "(wrapper runtime-invoke) object:x ()", "", 0},
		{"py::count_primes:/path/app.py", Interpreter, "count_primes", "/path/app.py", 0},
		{"py::jit:executor", NoTier, "py::jit:executor", "", 0},
		{"TRACE_1::app.lua:12", Optimized, "TRACE_1::app.lua:12", "", 0},
		{"square", NoTier, "square", "", 0},
		{"", NoTier, "", "", 0},
	} {
		f := Function{Symbol: c.symbol, Kind: JIT}
		f.describe()
		if f.Tier != c.tier || f.Name != c.name || f.File != c.file || f.Line != c.line {
			t.Errorf("%s: got tier %d, %q from %s:%d; want tier %d, %q from %s:%d", c.symbol, f.Tier, f.Name, f.File, f.Line, c.tier, c.name, c.file, c.line)
		}
	}
	f := Function{Symbol: "JS:*run /tmp/bench.js:4:13", Kind: Native}
	if f.describe(); f.Tier != NoTier || f.Name != f.Symbol {
		t.Errorf("got tier %d and name %q of native code; want none", f.Tier, f.Name)
	}
}

// Each form of the table fits a symbol of its own: none is hidden by another one.
func TestForms_NoneHidden(t *testing.T) {
	for i := range forms {
		symbol := forms[i].prefix + "x" + forms[i].suffix
		if forms[i].prefix == forms[i].suffix {
			symbol = forms[i].prefix
		}
		first := slices.IndexFunc(forms, func(m form) bool { return m.fits(symbol) })
		if first != i {
			t.Errorf("%q: got form %d (%q…%q); want %d", symbol, first, forms[first].prefix, forms[first].suffix, i)
		}
	}
}

func TestThreadNames_AtTheEnd(t *testing.T) {
	var n threadNames
	main, worker, child := threadID{1, 1}, threadID{1, 2}, threadID{3, 3}
	n.name(main, 30, "renamed")
	n.name(main, 10, "program\nwith a line") // its buffer was read later
	n.fork(worker, main, 20)
	n.fork(child, worker, 40)
	n.name(child, 50, "child")
	n.fork(threadID{9, 9}, threadID{9, 9}, 1)
	for _, c := range []struct {
		id   threadID
		time uint64
		want string
	}{{main, 100, "renamed"}, {main, 20, "program\nwith a line"}, {worker, 100, "program\nwith a line"}, {child, 45, "program\nwith a line"}, {child, 100, "child"}, {threadID{9, 9}, 9, ""}, {threadID{8, 8}, 9, ""}} {
		if got := n.at(c.id, c.time); got != c.want {
			t.Errorf("thread %d/%d at %d: got %q; want %q", c.id.pid, c.id.tid, c.time, got, c.want)
		}
	}
}
