package jitdump

import (
	"bytes"
	"net/url"
	"unicode/utf8"
)

// isGarbled reports whether name cannot be a file name. Freed memory has control characters; file
// names have none, except perhaps tabs. If names are known to be UTF-8, invalid UTF-8 is a sign,
// too.
func isGarbled(name []byte, inUTF8 bool) bool {
	control := func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
	return bytes.ContainsFunc(name, control) || inUTF8 && !utf8.Valid(name)
}

// FileName returns the path for a file name or a URL of V8, as files of functions have it.
func FileName(name string) string { return fileName([]byte(name)) }

// fileName returns the path for a file name. V8 names ES modules by URL, file:///dir/module.mjs;
// tools that show sources need paths.
func fileName(name []byte) string {
	if path, ok := bytes.CutPrefix(name, []byte("file://")); ok && len(path) > 0 && path[0] == '/' {
		if plain, err := url.PathUnescape(string(path)); err == nil && !isGarbled([]byte(plain), true) {
			return plain
		}
	}
	return string(name)
}

// fileNames has the names of files in records, and the paths that they stand for. Most functions
// have names that functions before had, and most of their lines one of a few.
type fileNames struct {
	byName   map[string]*knownName
	byPath   map[string]*knownPath
	bytes    int // total length of names and paths
	function int // number of the current function, from 1
}

// A knownName is what a name in a record means.
type knownName struct {
	path    *knownPath
	garbled bool // by isGarbled, in any encoding; such names have no path
	invalid bool // not UTF-8
}

// A knownPath is a path of functions' files.
type knownPath struct {
	path     string
	function int // latest one that has it
	index    int // in Files of that function
}

// maxInterned and maxInternedBytes bound the names that are remembered between functions, in number
// and in bytes.
const (
	maxInterned      = 10000
	maxInternedBytes = 4 << 20
)

// garbledName is what names mean that cannot be a file's.
var garbledName = &knownName{garbled: true}

// begin starts a function: it has no files.
func (n *fileNames) begin() {
	if n.function++; len(n.byPath) >= maxInterned || n.bytes > maxInternedBytes {
		clear(n.byName)
		clear(n.byPath)
		n.bytes = 0
	}
}

// of returns what name means.
func (n *fileNames) of(name []byte) *knownName {
	if k := n.byName[string(name)]; k != nil {
		return k
	}
	if isGarbled(name, false) {
		return garbledName
	}
	if n.byName == nil {
		n.byName, n.byPath = make(map[string]*knownName), make(map[string]*knownPath)
	}
	path := fileName(name)
	p := n.byPath[path]
	if p == nil {
		p = &knownPath{path: path}
		n.byPath[path] = p
		n.bytes += len(path)
	}
	if len(n.byName) >= maxInterned { // paths have to last as long as the function
		clear(n.byName)
	}
	k := &knownName{path: p, invalid: !utf8.Valid(name)}
	n.byName[string(name)] = k
	n.bytes += len(name)
	return k
}
