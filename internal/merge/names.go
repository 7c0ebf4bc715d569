package merge

import (
	"bytes"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Sources spell one name in several ways: "JS:*f a.js:1:2" and "*f a.js:1:2" of V8, "Lp/C;::m" and "int p.C.m()"
// of Java, and mangled names of compilers.

// isAlike reports whether two names of code at one place may be of one function: one has all words of the
// other, in their order.
func isAlike(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, y := wordsOf(string(a)), wordsOf(string(b))
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

// wordsOf returns the words of a name, demangled. Of a Java class in a descriptor, the L is left out.
func wordsOf(name string) []string {
	if strings.HasPrefix(name, "_") {
		name = demangle.Filter(name, demangle.NoParams)
	}
	isMark := func(c rune) bool {
		return !(c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z')
	}
	words := strings.FieldsFunc(name, isMark)
	if len(words) > 0 && strings.HasPrefix(name, "L") && strings.Contains(name, ";") {
		words[0] = words[0][1:]
	}
	return words
}
