package source

import (
	"bytes"
	"strconv"
)

// What V8 says of a function in its name: "JS:*add /tmp/prog.js:2:49" is add, compiled by
// Turbofan, which begins in line 2 of that script at column 49. Until V8 10 the kind is
// another, and the column is missing: "LazyCompile:*add /tmp/prog.js:2". The marks are
// those of CodeKindToMarker in V8's src/objects/code-kind.cc; an o in front of them
// says that a loop was entered while it ran, a ' behind them that the code is only for
// one context.

// The tiers of V8's compilers that write line tables.
const (
	tierBaseline = '^' // Sparkplug
	tierMaglev   = '+'
	tierTurbofan = '*'
)

// v8Kinds begin the names of functions that come from a script. All but the first are
// believed only in dumps that V8 has written for sure.
var v8Kinds = [...]string{"JS:", "LazyCompile:", "Function:", "Script:", "Eval:"}

// v8Pad is what V8 writes into the pad field of the file header [perf-jit.cc,
// LogWriteHeader: reserved_], in all versions.
const v8Pad = 0xdeadbeef

// A v8Name is what a name says.
type v8Name struct {
	tier         byte   // 0 if it does not say
	script       []byte // the name up to the end of the file's: "JS:*add /tmp/prog.js"; nil if it does not say
	line, column uint32 // where the function begins, from 1; column is 0 if it does not say
}

// isOptimized reports whether code of a tier may have functions inlined.
func (n *v8Name) isOptimized() bool { return n.tier == tierMaglev || n.tier == tierTurbofan }

// v8Name takes the name of a function apart. ok is false if it is none of a script's.
func (d *Jitdump) v8Name(name []byte) (n v8Name, ok bool) {
	var rest []byte
	for i, kind := range v8Kinds {
		if i > 0 && d.header.Pad != v8Pad {
			return n, false
		}
		if rest, ok = bytes.CutPrefix(name, []byte(kind)); ok {
			break
		}
	}
	if !ok {
		return n, false
	}
	isTier := func(b []byte) bool { return len(b) > 0 && bytes.IndexByte([]byte("~^+*"), b[0]) >= 0 }
	if len(rest) > 0 && rest[0] == 'o' && isTier(rest[1:]) {
		rest = rest[1:]
	}
	if isTier(rest) {
		n.tier = rest[0]
	}
	script, last, found := cutNumber(name)
	if !found {
		return n, true
	}
	if before, line, found := cutNumber(script); found {
		n.script, n.line, n.column = before, line, last
	} else if !bytes.HasPrefix(name, []byte(v8Kinds[0])) {
		n.script, n.line = script, last
	}
	return n, true
}

// cutNumber cuts a colon and a number off the end of a name.
func cutNumber(name []byte) (before []byte, n uint32, ok bool) {
	i := bytes.LastIndexByte(name, ':')
	if i < 0 {
		return nil, 0, false
	}
	number, err := strconv.ParseUint(string(name[i+1:]), 10, 32)
	if err != nil {
		return nil, 0, false
	}
	return name[:i], uint32(number), true
}
