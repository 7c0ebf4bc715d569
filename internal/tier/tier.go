package tier

// A Tier is the part of a runtime that made or runs a function.
type Tier uint8

const (
	Unknown     Tier = iota // also if the runtime has only one
	Interpreter             // the function is interpreted
	Baseline                // compiled quickly: V8's Sparkplug, JSC's Baseline, .NET's Tier0
	Middle                  // compiled with some optimizations: V8's Maglev, JSC's DFG
	Optimized               // V8's TurboFan, JSC's FTL, traces of PHP, .NET's Tier1
	Stub                    // code that is no function of the program: adapters, trampolines, handlers
)

// String returns the word for a tier, or "" for Unknown.
func (t Tier) String() string {
	switch t {
	case Interpreter:
		return "interpreter"
	case Baseline:
		return "baseline"
	case Middle:
		return "middle"
	case Optimized:
		return "optimized"
	case Stub:
		return "stub"
	}
	return ""
}

// V8Mark returns the tier of the marks that a name begins with, after its kind ("JS:"), and the length
// of these marks in bytes: 0 if there are none. The marks are those of CodeKindToMarker in V8's
// src/objects/code-kind.cc. An o before the mark means that a loop was entered while it ran. A ' after
// it means that the code is for one context.
func V8Mark[T string | []byte](name T) (t Tier, length int) {
	if len(name) > 1 && name[0] == 'o' {
		length = 1
	}
	if len(name) == length {
		return Unknown, 0
	}
	switch name[length] {
	case '~':
		t = Interpreter
	case '^':
		t = Baseline // Sparkplug
	case '+':
		t = Middle // Maglev
	case '*':
		t = Optimized // TurboFan
	default:
		return Unknown, 0
	}
	if length++; len(name) > length && name[length] == '\'' {
		length++
	}
	return t, length
}
