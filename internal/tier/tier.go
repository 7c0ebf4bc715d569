package tier

// A Tier is the part of a runtime that made or runs a function.
type Tier uint8

const (
	Unknown     Tier = iota // also if the runtime has only one
	Interpreter             // the function is interpreted; also the interpreter itself
	Baseline                // compiled quickly, or ahead: V8's Sparkplug, JSC's Baseline, .NET's Tier0
	Middle                  // compiled with some optimizations: V8's Maglev, JSC's DFG
	Optimized               // V8's TurboFan, JSC's FTL, traces of PHP and LuaJIT, .NET's Tier1
	Stub                    // code that is no function of the program: adapters, trampolines, builtins
)

// String returns the word for a tier, or "" for Unknown.
func (t Tier) String() string {
	return [...]string{Unknown: "", Interpreter: "interpreter", Baseline: "baseline", Middle: "middle", Optimized: "optimized", Stub: "stub"}[t]
}
