package tier

import (
	"path"
	"slices"
	"strings"
)

// rakuFiles are endings of names of Raku's sources, which tell MoarVM's names from others.
var rakuFiles = []string{".raku", ".rakumod", ".rakutest", ".nqp", ".p6", ".pl6", ".pm6"}

// MoarVM's names: "count-primes(/tmp/app.raku:2)", and "(app.raku:9)" for a block
// (MVM_jit_compile_graph of src/jit/compile.c).
func moarvm(symbol string) (n Name, ok bool) {
	at := strings.LastIndexByte(symbol, '(')
	place, closed := strings.CutSuffix(symbol, ")")
	if at < 0 || !closed {
		return n, false
	}
	file, line, ok := cutNumber(place[at+1:])
	if !ok || !slices.Contains(rakuFiles, path.Ext(file)) {
		return n, false
	}
	n = Name{Text: symbol[:at], Tier: Optimized, File: file, Line: line}
	if n.Text == "" {
		n.Text = Anonymous
	}
	return n, true
}
