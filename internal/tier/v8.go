package tier

import (
	"strconv"
	"strings"
)

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
	default:
		return v8Other(symbol, kind, rest)
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
	if n.Text == "" && length > 0 {
		n.Text = Anonymous
	}
	before, last, ok := cutNumber(n.Text)
	if !ok {
		return n, true
	}
	n.Line = last
	if outer, line, ok := cutNumber(before); ok {
		before, n.Line = outer, line
	}
	if n.Text, n.File = cutFile(before); n.Text == "" {
		n.Text = Anonymous
	}
	n.File = strings.TrimPrefix(n.File, "file://")
	return n, true
}

// v8Other reads V8's names of code that is no function of a script (src/logging/code-events.h). The time of
// interpreted functions is in the handlers of their bytecodes and in InterpreterEntryTrampoline, which
// has their frames; so both are the interpreter. A regular expression is neither a function nor a stub: the
// program wrote it. Handlers and expressions keep their kind, as the rest of the name is no function's.
func v8Other(symbol, kind, rest string) (n Name, ok bool) {
	if strings.HasPrefix(rest, ":") { // C++, as Stub::call
		return n, false
	}
	switch kind {
	case "BytecodeHandler":
		return Name{Text: symbol, Tier: Interpreter}, true
	case "RegExp":
		return Name{Text: symbol}, true
	case "Builtin", "Stub", "Handler":
		n = Name{Text: rest, Tier: Stub}
		if strings.HasPrefix(rest, "InterpreterEntryTrampoline") {
			n.Tier = Interpreter
		}
		return n, true
	}
	return n, false
}

// wasmTiers are the ends of V8's names of WebAssembly's functions, after their number: is_prime-1-turbofan
// (CodeEventLogger::CodeCreateEvent of src/logging/log.cc).
var wasmTiers = map[string]Tier{"-liftoff": Baseline, "-turbofan": Optimized}

// cutFile splits a name and a file, which V8 separates by a space. A name of two words is an accessor
// or a class member; a path may have spaces, too. So the file begins at the first space before a slash
// or before something with a scheme, or else at the last.
func cutFile(s string) (name, file string) {
	for at := 0; at < len(s); at++ {
		if s[at] != ' ' {
			continue
		}
		word, _, _ := strings.Cut(s[at+1:], " ")
		if strings.HasPrefix(word, "/") || strings.Contains(word, ":") {
			return s[:at], s[at+1:]
		}
	}
	if at := strings.LastIndexByte(s, ' '); at >= 0 {
		return s[:at], s[at+1:]
	}
	return s, ""
}

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
