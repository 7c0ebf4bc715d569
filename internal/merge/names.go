package merge

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/jitinject/jitinject/internal/mangled"
)

// Sources spell one name in several ways: "JS:*f a.js:1:2" and "*f a.js:1:2" of V8, "Lp/C;::m" and "int p.C.m()"
// of Java, and mangled names of compilers.

// A likeness says how much two names of code at one place are those of one function.
type likeness int

const (
	differs   likeness = iota
	unnamed            // one of them is made up
	alike              // see isAlike
	sameWords          // the words are the same
	identical
)

// compare returns the likeness of two names.
func compare(a, b []byte) likeness {
	switch {
	case bytes.Equal(a, b):
		return identical
	case isAlike(a, b):
		if slices.Equal(wordsOf(string(a), demangle.NoParams), wordsOf(string(b), demangle.NoParams)) {
			return sameWords
		}
		return alike
	case isMadeUp(a) || isMadeUp(b):
		return unnamed
	}
	return differs
}

// isAlike reports whether two names of code at one place may be of one function: one has all words of the
// other, in their order. Parameters do not count, unless both names have them in one spelling, as overloads do:
// descriptors of Java have other words for them.
func isAlike(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, y := string(a), string(b)
	if o, p := operatorOf(x), operatorOf(y); o != p && len(o) > len("operator") && len(p) > len("operator") {
		return false
	}
	if strings.HasPrefix(x, "_Z") && strings.HasPrefix(y, "_Z") {
		return hasWords(wordsOf(x), wordsOf(y))
	}
	if d, e := descriptor.FindString(x), descriptor.FindString(y); d != e && d != "" && e != "" {
		return false
	}
	return hasWords(wordsOf(x, demangle.NoParams), wordsOf(y, demangle.NoParams)) || hasWords(wordsOf(withoutParameters(x)), wordsOf(withoutParameters(y)))
}

// descriptor matches the parameters and the result of a method of Java [JVMS 4.3.3].
var descriptor = regexp.MustCompile(`\((\[|[BCDFIJSZ]|L[^;()]+;)*\)\[*([BCDFIJSZV]|L[^;()]+;)$`)

// isMadeUp reports whether a name stands for one that its source does not know: of Mono's helpers, in its log, and
// of OpenJ9's methods without tables.
func isMadeUp(name []byte) bool {
	for _, prefix := range []string{"(helper", "(trampoline", "(unnamed)", "[method 0x"} {
		if bytes.HasPrefix(name, []byte(prefix)) {
			return true
		}
	}
	return len(name) == 0
}

// withoutParameters returns a name up to its parameters.
func withoutParameters(name string) string {
	before, _, _ := strings.Cut(name, "(")
	return before
}

// hasWords reports whether one of two lists, which is not empty, is in the other.
func hasWords(x, y []string) bool {
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(x) == 0 {
		return false
	}
	for _, word := range y {
		if len(x) > 0 && x[0] == word {
			x = x[1:]
		}
	}
	return len(x) == 0
}

// operators matches the name of an operator of C++ that is no conversion.
var operators = regexp.MustCompile(`operator( new| delete)?(\[\]|\(\)|[-+*/%^&|~!=<>,]*)`)

// operatorOf returns the operator in a name, or "".
func operatorOf(name string) string {
	return operators.FindString(mangled.Demangle(name, demangle.NoParams))
}

// wordsOf returns the words of a name, demangled with options. Of a Java class in a descriptor, the L is left out,
// and the $ before names in maps of Erlang.
func wordsOf(name string, options ...demangle.Option) []string {
	name = strings.TrimPrefix(mangled.Demangle(name, options...), "$")
	isMark := func(c rune) bool {
		return !(c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z')
	}
	words := strings.FieldsFunc(name, isMark)
	if len(words) > 0 && strings.HasPrefix(name, "L") && strings.Contains(name, ";") {
		words[0] = words[0][1:]
	}
	return words
}
