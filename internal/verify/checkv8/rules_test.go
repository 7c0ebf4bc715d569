package checkv8_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/checkv8"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

// TestRules_Broken: for every rule there is a log that breaks it and no other.
func TestRules_Broken(t *testing.T) {
	verifytest.CheckBreaches(t, formats.Verifier(), checkv8.Format.Rules, breaches)
}

// TestRules_GoodLog: a good log has no complaints, alone and beside its dump.
func TestRules_GoodLog(t *testing.T) {
	verifytest.CheckGood(t, formats.Verifier(), func(t *testing.T, dir string) (string, verify.Options) {
		return alone(t, dir, goodLog()), verify.Options{}
	})
	verifytest.CheckGood(t, formats.Verifier(), func(t *testing.T, dir string) (string, verify.Options) {
		return beside(t, dir, goodLog(), goodLoads())
	})
}

// with is the breach of a log with one change.
func with(rule, old, new string, also ...string) verifytest.Breach {
	return changes(rule, []change{{old, new}}, also...)
}

func changes(rule string, list []change, also ...string) verifytest.Breach {
	return verifytest.Breach{Rule: rule, Make: func(t *testing.T, dir string) (string, verify.Options) {
		return alone(t, dir, changed(t, list...)), verify.Options{}
	}, Also: also}
}

// besideDump is the breach of a good log beside a dump.
func besideDump(rule string, change func(loads []loaded) []loaded, also ...string) verifytest.Breach {
	return verifytest.Breach{Rule: rule, Make: func(t *testing.T, dir string) (string, verify.Options) {
		return beside(t, dir, goodLog(), change(goodLoads()))
	}, Also: also}
}

// firstName is the end of the first line with code of f.
const firstName = "f /src/main.js:1:11,0x200000000010,~"

var breaches = []verifytest.Breach{
	with("v8log/version", "v8-version,14,1,146,11,-node.25,0\n", ""),
	with("v8log/version", "v8-version", "-version"),
	{Rule: "v8log/version", Make: func(t *testing.T, dir string) (string, verify.Options) {
		return alone(t, dir, ""), verify.Options{}
	}},
	with("v8log/kind", "new,CodeRange", "nnew,CodeRange"),
	with("v8log/kind", "new,CodeRange", "nitializeESM } = require(\n\nnew,CodeRange"),

	with("v8log/fields", "v8-version,14,1,146,11,-node.25,0", "v8-version,14,1,146"),
	with("v8log/fields", "0x7e0000001000,64,Abort", "0x7e0000001000"),
	with("v8log/fields", ",Abort", ",Abort,more"),
	with("v8log/fields", "code-creation,JS,9,500", "code-creation,JS,9,490,0x100000009000,20,cut\ncode-creation,JS,9,500"),
	with("v8log/fields", "code-move,0x100000003000,", "code-move,"),
	with("v8log/fields", "script-source,3", "script-source,4\nscript-source,3"),
	with("v8log/fields", `\n  return g(x)\x2C 1`, `\n  return g(x),789 1`),
	with("v8log/fields", "code-source-info,0x7f0000001100", "code-source-info,0x100000005000,3,3,5,C0O3,\ncode-source-info,0x7f0000001100"),

	with("v8log/number", "146,11", "146,eleven"),
	with("v8log/number", "Builtin,2,", "Builtin,two,"),
	with("v8log/number", "Builtin,2,100", "Builtin,2,1e2"),
	with("v8log/number", "0x7e0000001000,64", "7e0000001000,64"),
	with("v8log/number", "0x7e0000001000,64", "0x7e0000001000,-64"),
	with("v8log/number", "0x7e0000001000,64", "0x7e0000001000,6400000000"),
	with("v8log/number", "sfi-move,0x1,0x2", "sfi-move,0x1,2"),
	with("v8log/number", "code-source-info,0x7f0000001100", "code-source-info,0x100000005000,three,3,5,,,\ncode-source-info,0x7f0000001100"),
	with("v8log/number", "script-source,3", "script-source,four,b.js,text\nscript-source,3"),

	with("v8log/list", "C0O-1C4", "C0O-1D4"),
	with("v8log/list", "C0O-1C4", "C0C4"),
	with("v8log/list", "C0O-1C4", "C0O99999999999C4"),
	with("v8log/list", ",F0O", ",G0O"),
	with("v8log/list", ",S0x", ",T0x"),
	with("v8log/list", ",S0x", ",Sx"),

	with("v8log/escape", `\u2028`, `\q2028`, "v8log/start"),
	with("v8log/escape", `// \\`, `// \a\\`, "v8log/start"),
	with("v8log/escape", `script-source,3,/src/odd.js,`, `script-source,3,/src/od\d.js,`, "v8log/name"),

	with("v8log/isolates", "code-creation,JS,10", "v8-version,14,1,146,11,-node.25,0\ncode-creation,JS,10", "v8log/script-missing", "v8log/function-unknown"),
	with("v8log/isolates", "code-creation,JS,9,500", "code-creation,Builtin,2,500,0x7e0000001000,64,Abort\ncode-creation,JS,9,500"),
	changes("v8log/isolates", []change{{"new,", "nnew,"}, {"JS,9,500", "JS,9,390"}}, "v8log/kind", "v8log/time-goes-back"),
	{Rule: "v8log/cut", Make: func(t *testing.T, dir string) (string, verify.Options) {
		return alone(t, dir, strings.TrimSuffix(goodLog(), "\n")), verify.Options{}
	}},
	{Rule: "v8log/cut", Make: func(t *testing.T, dir string) (string, verify.Options) {
		log := goodLog()
		return alone(t, dir, log[:strings.Index(log, "script-source,3,")+len("script-source,3,/src/odd.js,(")]), verify.Options{}
	}},
	{Rule: "v8log/cut", Make: func(t *testing.T, dir string) (string, verify.Options) {
		log := goodLog()
		return alone(t, dir, log[:strings.LastIndex(log, "name\\x")]), verify.Options{}
	}},

	with("v8log/time-goes-back", "JS,9,500", "JS,9,399"),
	with("v8log/address", "0x7e0000001000", "0x10"),
	with("v8log/address", "0x7e0000001000", "0xffffffffffff0000"),
	with("v8log/tier", "0x200000000010,*", "0x200000000010,*!"),
	with("v8log/name", firstName, "f /src/main.mjs:1:11,0x200000000010,~"),
	with("v8log/name", firstName, "f/src/main.js:1:11,0x200000000010,~"),
	with("v8log/name", firstName, "f,0x200000000010,~"),

	with("v8log/script-twice", "code-creation,JS,9,500", "script-source,1,/src/main.js,"+escaped(mainText)+"\ncode-creation,JS,9,500"),
	with("v8log/script-missing", "script-source,3,/src/odd.js,"+escaped(oddText)+"\n", ""),
	with("v8log/extent", "0x100000001000,1,10,35", "0x100000001000,1,10,37"),
	with("v8log/extent", "0x100000001000,1,10,35", "0x100000001000,1,10,9"),
	with("v8log/start", "f /src/main.js:1:11,0x200000000010,*", "f /src/main.js:1:10,0x200000000010,*"),
	with("v8log/start", "0x100000003000,20,g /src/"+escaped("\u00fc,")+".js:3:11", "0x100000003000,20,g /src/"+escaped("\u00fc,")+".js:4:11"),

	{Rule: "v8log/no-sources", Make: func(t *testing.T, dir string) (string, verify.Options) {
		log := goodLog()
		return alone(t, dir, log[:strings.Index(log, "code-creation,JS")]), verify.Options{}
	}},
	with("v8log/source-unpaired", "code-source-info,0x7f0000001200", "code-source-info,0x7f0000001208"),
	{Rule: "v8log/source-missing", Make: func(t *testing.T, dir string) (string, verify.Options) {
		var more strings.Builder
		for i := range 20 {
			fmt.Fprintf(&more, "code-creation,JS,9,%d,0x%x,20,,0x200000000050,~\n", 700+i, 0x100000010000+i*64)
		}
		log := goodLog()
		log = log[:strings.LastIndex(log, "code-source-info")]
		return alone(t, dir, log+more.String()), verify.Options{}
	}},

	with("v8log/code-offset", "C47O", "C48O"),
	with("v8log/code-order", "C0O-1C4O", "C9O-1C4O"),
	with("v8log/inlining-index", "I2C47", "I3C47"),
	with("v8log/inlining-index", "I2C47", "I-1C47"),
	with("v8log/function-index", "F1O", "F2O"),
	with("v8log/parent-index", "I0FO", "I3FO"),
	with("v8log/parent-order", fmt.Sprintf("F1O%dI0FO%d", callOfH, callOfG), fmt.Sprintf("F1O%dI2FO%d", callOfG, callOfG)),
	with("v8log/parent-cycle", fmt.Sprintf("F1O%dI0", callOfH), "F1O-1I1"),
	with("v8log/parent-cycle", fmt.Sprintf(",F0O%dF1O%dI0", callOfG, callOfH), fmt.Sprintf(",F0O-1I1F1O%dI0", callOfH)),
	with("v8log/function-unknown", "S0x200000000020", "S0x200000000060"),
	with("v8log/function-unknown", "S0x200000000030", "S0x200000000040"), // moved away
	with("v8log/script-offset", fmt.Sprintf("C47O%d", callOfG), "C47O37"),
	with("v8log/script-offset", fmt.Sprintf("C47O%d", callOfG), "C47O-2"),
	with("v8log/outside-function", fmt.Sprintf("C47O%d", callOfG), "C47O9"),
	with("v8log/outside-function", fmt.Sprintf(",F0O%d", callOfG), ",F0O9"),
	with("v8log/offset-zero", fmt.Sprintf("C47O%d", callOfG), "C47O0"),

	besideDump("v8log/other-process", func(loads []loaded) []loaded {
		for i := range loads {
			loads[i].addr += 0x1000
		}
		return loads
	}),
	besideDump("v8log/unpaired", func(loads []loaded) []loaded {
		return append(loads[:1:1], loads[2])
	}),
	besideDump("v8log/unpaired", func(loads []loaded) []loaded {
		loads[1].name = "JS:*g /src/main.js:1:11"
		return loads
	}, "v8log/load-unpaired"),
	besideDump("v8log/load-unpaired", func(loads []loaded) []loaded {
		return append(loads[:2:2], loaded{1_000_500_000, codeF, "JS:*f /src/main.js:1:11"}, loads[2])
	}),
	besideDump("v8log/pair-time", func(loads []loaded) []loaded {
		loads[1].time += 201_000_000
		return loads
	}),
}
