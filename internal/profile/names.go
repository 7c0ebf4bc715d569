package profile

import (
	"path"
	"strconv"
	"strings"
)

// This file reads the names of functions in symbols.

// plain is for texts that are names.
func plain(text string) (name, file string, line int) { return strings.TrimRight(text, " "), "", 0 }

// beforeHash cuts the hash that JavaScriptCore appends: "countPrimes#EE7vmg".
func beforeHash(text string) (name, file string, line int) {
	if at := strings.LastIndexByte(text, '#'); at > 0 {
		text = text[:at]
	}
	return text, "", 0
}

// phpTrace reads a trace of PHP, with the function and the line where it begins: "1$isPrime$5". Code
// outside functions has its file's name.
func phpTrace(text string) (name, file string, line int) {
	_, name, ok := strings.Cut(text, "$")
	at := strings.LastIndexByte(name, '$')
	if !ok || at < 0 {
		return "TRACE-" + text, "", 0
	}
	line, err := strconv.Atoi(name[at+1:])
	if err != nil {
		return "TRACE-" + text, "", 0
	}
	if name = name[:at]; strings.HasPrefix(name, "/") {
		file = name
	}
	return name, file, line
}

// python reads a function of CPython: "count_primes:/path/app.py".
func python(text string) (name, file string, line int) {
	name, file, _ = strings.Cut(text, ":")
	return name, file, 0
}

// jsPlace reads the name of a function and where it begins: "add /tmp/prog.js:2:49", before V8 11
// without the column. Code of eval has no file, and anonymous functions no name.
func jsPlace(text string) (name, file string, line int) {
	place, number, ok := cutLine(text)
	if !ok {
		return text, "", 0
	}
	line = number
	if before, number, ok := cutLine(place); ok {
		place, line = before, number
	}
	at := jsFile(place)
	if at < 0 {
		return text, "", 0
	}
	return place[:at], strings.TrimPrefix(place[at+1:], "file://"), line
}

// jsFile returns the index of the space before the file, or -1. Names may have spaces, such as "get
// area", and so may files: the first text that looks like the start of an absolute path or of a URL
// counts, or else the last word.
func jsFile(place string) int {
	best := -1
	for _, begin := range []string{" /", " file:", " node:", " http:", " https:", " internal/", " wasm:"} {
		if at := strings.Index(place, begin); at >= 0 && (best < 0 || at < best) {
			best = at
		}
	}
	if best < 0 {
		best = strings.LastIndexByte(place, ' ')
	}
	return best
}

// cutLine cuts a colon and a number from the end of a text.
func cutLine(text string) (before string, n int, ok bool) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return text, 0, false
	}
	n, err := strconv.Atoi(text[at+1:])
	return text[:at], n, err == nil && n >= 0
}

// anonymous is the name that V8's log and compilers give to functions without one.
const anonymous = "(anonymous)"

// nameAnonymous names a function without a name by its place: "(anonymous app.js:3)". All others of the
// program would have the same name.
func (f *Function) nameAnonymous() {
	if f.Name == "" || strings.HasPrefix(f.Name, "(anonymous ") {
		f.Name = anonymous
	}
	if f.Name == anonymous && f.File != "" && f.Line > 0 {
		f.Name = "(anonymous " + path.Base(f.File) + ":" + strconv.Itoa(f.Line) + ")"
	}
}
