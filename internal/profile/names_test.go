package profile

import (
	"testing"

	"github.com/jitinject/jitinject/internal/tier"
)

// Package tier's own test has the names of all runtimes.
func TestDescribe_NamesForPeople(t *testing.T) {
	for _, c := range []struct {
		symbol, object string
		kind           Kind
		want           Function
	}{
		{"JS:+'isAccessExpression /a b/tsc.js:17221:28", "", JIT, Function{Name: "isAccessExpression", Tier: tier.Middle, File: "/a b/tsc.js", Line: 17221}},
		{"JS:^ file:///tmp/m.mjs:1:1", "", JIT, Function{Name: "(anonymous m.mjs:1)", Tier: tier.Baseline, File: "/tmp/m.mjs", Line: 1}},
		{"JS:* :1:13", "", JIT, Function{Name: "(anonymous)", Tier: tier.Optimized, Line: 1}}, // of eval
		{"JSC-DFG: #EE7vmg", "", JIT, Function{Name: "(anonymous)", Tier: tier.Middle}},
		{"square", "", JIT, Function{Name: "square"}},
		{"(anonymous namespace)::f()", "", JIT, Function{Name: "(anonymous namespace)::f()"}},
		{"", "", JIT, Function{}},
		{"JS:*run /tmp/bench.js:4:13", "/bin/prog", Native, Function{Name: "JS:*run /tmp/bench.js:4:13"}},
		{"Interpreter", "[kernel.kallsyms]", Kernel, Function{Name: "Interpreter"}},
		{unknownSymbol, "/usr/lib/libc.so.6", Unknown, Function{Name: "[libc.so.6]"}},
		{unknownSymbol, "[heap]", Unknown, Function{Name: "[heap]"}},
		{unknownSymbol, unknownSymbol, Unknown, Function{Name: unknownSymbol}},
	} {
		got := Function{Symbol: c.symbol, Object: c.object, Kind: c.kind}
		got.describe()
		c.want.Symbol, c.want.Object, c.want.Kind = c.symbol, c.object, c.kind
		if got != c.want {
			t.Errorf("%q: got %+v; want %+v", c.symbol, got, c.want)
		}
	}
}

// The declaration in an object overrides that in the symbol, also in the name of a function without one.
func TestSetSource_Overrides(t *testing.T) {
	for _, c := range []struct {
		file string
		line int
		want Function
	}{
		{"", 9, Function{Name: "(anonymous m.js:1)", File: "/tmp/m.js", Line: 1}},
		{"/src/m.ts", 7, Function{Name: "(anonymous m.ts:7)", File: "/src/m.ts", Line: 7}},
		{"/tmp/m.js", 0, Function{Name: "(anonymous m.js:1)", File: "/tmp/m.js", Line: 1}},
		{"/src/m.ts", 0, Function{Name: "(anonymous)", File: "/src/m.ts"}},
	} {
		got := Function{Symbol: "JS:* /tmp/m.js:1:11", Kind: JIT}
		got.describe()
		got.setSource(c.file, c.line)
		c.want.Symbol, c.want.Kind, c.want.Tier = got.Symbol, JIT, tier.Optimized
		if got != c.want {
			t.Errorf("%q:%d: got %+v; want %+v", c.file, c.line, got, c.want)
		}
	}
}
