package tier

import (
	"slices"
	"testing"
)

// Names are those of real dumps, except where a comment says otherwise.
func TestRead_NamesOfRuntimes(t *testing.T) {
	for symbol, want := range map[string]Name{
		"JS:*hot /tmp/rec/node-hot/hot.js:9:13":                   {"hot", Optimized, "/tmp/rec/node-hot/hot.js", 9},
		"JS:^hot /tmp/rec/node-hot/hot.js:9:13":                   {"hot", Baseline, "/tmp/rec/node-hot/hot.js", 9},
		"JS:~hot /tmp/rec/node-hot/hot.js:9:13":                   {"hot", Interpreter, "/tmp/rec/node-hot/hot.js", 9},
		"JS:*'countPrimes file:///home/me/app/app.js:9:21":        {"countPrimes", Optimized, "/home/me/app/app.js", 9},
		"JS:o+countPrimes file:///home/me/app/app.js:9:21":        {"countPrimes", Middle, "/home/me/app/app.js", 9},
		"JS:*normalize node:path:1259:12":                         {"normalize", Optimized, "node:path", 1259},
		"JS:*get size /a dir/app.js:3:5":                          {"get size", Optimized, "/a dir/app.js", 3}, // made
		"JS:o*countPrimes main:2:21":                              {"countPrimes", Optimized, "main", 2},
		"JS:* /tmp/job.js:1:11":                                   {"(anonymous)", Optimized, "/tmp/job.js", 1},
		"JS:~ file:///tmp/main.mjs:1:1":                           {"(anonymous)", Interpreter, "/tmp/main.mjs", 1},
		"infix:<plus>(truth.raku:71)":                             {"infix:<plus>", Optimized, "truth.raku", 71},
		"[JIT] value=@truth.rb:48":                                {"value=", Optimized, "truth.rb", 48},
		"[JIT] block in <main>@/tmp/a.rb:181":                     {"block in <main>", Optimized, "/tmp/a.rb", 181},
		"ZJIT: f@/tmp/a.rb:3":                                     {"f", Optimized, "/tmp/a.rb", 3}, // made
		"optimize(NQP::src/QRegex/NFA.nqp:1131)":                  {"optimize", Optimized, "NQP::src/QRegex/NFA.nqp", 1131},
		"(truth.raku:191)":                                        {"(anonymous)", Optimized, "truth.raku", 191},
		"f(a.cc:3)":                                               {"f(a.cc:3)", Unknown, "", 0}, // made
		"JS:*order":                                               {"order", Optimized, "", 0},   // made
		"LazyCompile:*add /tmp/prog.js:2":                         {"add", Optimized, "/tmp/prog.js", 2},
		"Function:*add /tmp/prog.js:2:49":                         {"add", Optimized, "/tmp/prog.js", 2},   // made
		"Function::call(int)":                                     {"Function::call(int)", Unknown, "", 0}, // made
		"Builtin:MathSqrt":                                        {"MathSqrt", Stub, "", 0},
		"BytecodeHandler:LdaZero":                                 {"BytecodeHandler:LdaZero", Interpreter, "", 0},
		"Builtin:InterpreterEntryTrampoline":                      {"InterpreterEntryTrampoline", Interpreter, "", 0},
		"Stub:js-to-wasm:i:i":                                     {"js-to-wasm:i:i", Stub, "", 0},
		"RegExp:a+b":                                              {"RegExp:a+b", Unknown, "", 0},
		"Handler::call()":                                         {"Handler::call()", Unknown, "", 0}, // made
		"JS:*get area file:///tmp/m.mjs:3:20":                     {"get area", Optimized, "/tmp/m.mjs", 3},
		"JS:*get a /b file:///tmp/m.mjs:3:20":                     {"get a", Optimized, "/b file:///tmp/m.mjs", 3}, // ambiguous
		"JS:*ev :1:13":                                            {"ev", Optimized, "", 1},
		"JS:^requireBuiltin node:internal/bootstrap/realm:420:24": {"requireBuiltin", Baseline, "node:internal/bootstrap/realm", 420},
		"JS:*":                                                        {"(anonymous)", Optimized, "", 0}, // made
		"Script:~ /tmp/prog.js:1:1":                                   {"(anonymous)", Interpreter, "/tmp/prog.js", 1},
		"JSC-WasmBBQ: wasm-function[3] ":                              {"wasm-function[3]", Baseline, "", 0}, // made
		"JSC-WasmOMG: a#b":                                            {"a#b", Optimized, "", 0},             // made
		"JSC-Thunk: call":                                             {"call", Stub, "", 0},                 // made
		"JS:is_prime-1-turbofan":                                      {"is_prime", Optimized, "", 0},
		"JS:is_prime-1-liftoff":                                       {"is_prime", Baseline, "", 0}, // made
		"JSC-FTL: countPrimes#EE7vmg":                                 {"countPrimes", Optimized, "", 0},
		"JSC-DFG: countPrimes#EE7vmg":                                 {"countPrimes", Middle, "", 0},
		"JSC-Baseline: #EE7vmg":                                       {"(anonymous)", Baseline, "", 0},        // made
		"Ion: add (/tmp/prog.js:2:49)":                                {"add", Optimized, "/tmp/prog.js", 2},   // made
		"BaselineInterpreter: add (/tmp/prog.js:2:49)":                {"add", Interpreter, "/tmp/prog.js", 2}, // made
		"py::count_primes.<locals>.<genexpr>:/home/me/app/app.py":     {"count_primes.<locals>.<genexpr>", Interpreter, "/home/me/app/app.py", 0},
		"py::_find_and_load:<frozen importlib._bootstrap>":            {"_find_and_load", Interpreter, "<frozen importlib._bootstrap>", 0},
		"__CINDER_JIT:__main__:Point.method":                          {"__main__:Point.method", Optimized, "", 0},
		"__CINDER_INFRA_JIT:deopt_trampoline":                         {"__CINDER_INFRA_JIT:deopt_trampoline", Stub, "", 0},
		"*::_declared":                                                {"::_declared", Optimized, "", 0},
		"py::jit:executor":                                            {"py::jit:executor", Optimized, "", 0},
		"TRACE-1$isPrime$5":                                           {"isPrime", Optimized, "", 5},
		"TRACE-4$/tmp/rec/php/prog.php$3":                             {"(main)", Optimized, "/tmp/rec/php/prog.php", 3},
		"JIT$add":                                                     {"add", Optimized, "", 0},                         // made
		"int32 [App] App::Add(int32)[OptimizedTier1]":                 {"int32 [App] App::Add(int32)", Optimized, "", 0}, // made
		"int32 [App] App::Sum(int32)[QuickJitted]":                    {"int32 [App] App::Sum(int32)", Baseline, "", 0},
		"int32 [App] App::Sum(int32)[InstrumentedTier]":               {"int32 [App] App::Sum(int32)", Baseline, "", 0},
		"int32 [App] App::Sum(int32)[InstrumentedTierOptimized]":      {"int32 [App] App::Sum(int32)", Middle, "", 0}, // made
		"void [System.Private.CoreLib] X::Y()[PreJIT]":                {"void [System.Private.CoreLib] X::Y()", Baseline, "", 0},
		"int32 [App] App::Sum(int32[])":                               {"int32 [App] App::Sum(int32[])", Unknown, "", 0}, // made
		"Interpreter":                                                 {"Interpreter", Interpreter, "", 0},
		"java.lang.Object java.util.HashMap.merge(java.lang.Object[]": {"java.lang.Object java.util.HashMap.merge(java.lang.Object[]", Unknown, "", 0},
		"prog:'-loop/2-lc$^0/1-0-'/2":                                 {"prog:'-loop/2-lc$^0/1-0-'/2", Unknown, "", 0},
		"App.countPrimes(I)I":                                         {"App.countPrimes(I)I", Unknown, "", 0},
		"global::int_div_rem_guard_shared":                            {"global::int_div_rem_guard_shared", Stub, "", 0},
		"":                                                            {},
		"py::":                                                        {"py::", Unknown, "", 0},
		"TRACE-odd":                                                   {"TRACE-odd", Unknown, "", 0}, // made
		"TRACE-1$":                                                    {"TRACE-1$", Unknown, "", 0},
		"[Tier0]":                                                     {"[Tier0]", Unknown, "", 0},
	} {
		if got := Read(symbol); got != want {
			t.Errorf("%q: got %+v; want %+v", symbol, got, want)
		}
	}
}

// Names without parts stay whole.
func TestRead_WholeNames(t *testing.T) {
	for symbol, want := range map[string]Tier{
		"I2C/C2I adapters(0xbabe)": Stub, "C1 Runtime load_appendix_patching_blob": Stub, "cont_thaw": Stub, "cont_roller": Unknown,
		"Interpreter": Interpreter, "InterpreterFactory.make()V": Unknown, "java.util.ArrayList.isEmpty()Z": Unknown,
		"JIT$$trace_exit": Stub, "JIT$$": Stub, "app:is_prime/2": Unknown, "global::apply_fun_shared": Stub, "queue::codeFooter": Stub, "queue::codeHeader": Stub,
		"stub<7> GenerateDispatchStub<GenerateDispatchStub>": Stub,
		"App:IsPrime (int)": Unknown, "(wrapper runtime-invoke) object:x ()": Stub, "(trampoline 3)": Stub,
		"TRACE_1::app.lua:12": Optimized, "square": Unknown,
	} {
		if got := Read(symbol); got != (Name{Text: symbol, Tier: want}) {
			t.Errorf("%q: got %+v; want it whole, and tier %q", symbol, got, want)
		}
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

// Whatever a name is, it has a text and does no harm.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"JS:*a b:1:2", "JSC-FTL: a#b", "Ion: a (b:1:2)", "py::a:b", "TRACE-1$a$5", "a[Tier0]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, symbol string) {
		if n := Read(symbol); n.Text == "" && symbol != "" || n.Line < 0 {
			t.Errorf("%q: got %+v; want a text, and no negative line", symbol, n)
		}
	})
}

// The marks are found in bytes as in strings, and only whole.
func TestV8Mark_Length(t *testing.T) {
	for name, want := range map[string]struct {
		tier   Tier
		length int
	}{
		"": {}, "o": {}, "a": {}, "oa": {}, "'a": {}, "~": {Interpreter, 1}, "^a": {Baseline, 1}, "+'a": {Middle, 2}, "o*a": {Optimized, 2}, "o*'a": {Optimized, 3}, "*'": {Optimized, 2},
	} {
		tier, length := V8Mark(name)
		asBytes, lengthInBytes := V8Mark([]byte(name))
		if tier != want.tier || length != want.length || asBytes != tier || lengthInBytes != length {
			t.Errorf("%q: got %v, %d as text, %v, %d as bytes; want %v, %d", name, tier, length, asBytes, lengthInBytes, want.tier, want.length)
		}
	}
}
