package showv8

import (
	"bytes"
	"strconv"

	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/show"
)

// A script is a source text.
type script struct {
	url, raw string // raw is escaped, as in the file
	lines    *v8log.Lines

	// Scripts inside pages begin at another line and column of these. The first functions say where.
	placed, indented bool
	line, column     uint32 // added to lines, and to columns of the first line
}

// A function is a SharedFunctionInfo.
type function struct {
	name   int64 // offset of the name in the file
	size   int32 // of the name
	script int32 // number of the script, or noScript
	start  int32 // in UTF-16 code units
}

// noScript is the number of the script of functions without one.
const noScript = -1

// known has the scripts and functions of the isolate so far.
type known struct {
	scripts   map[int32]*script
	functions map[uint64]function // by address
	bytes     int                 // of scripts
	left      uint64              // scripts and functions that were not kept
}

// Bounds of memory.
const (
	maxScripts   = 64 << 20 // bytes
	maxFunctions = 1 << 20
)

// begin forgets everything: addresses and numbers are an isolate's.
func (k *known) begin() {
	k.scripts, k.functions, k.bytes = make(map[int32]*script), make(map[uint64]function), 0
}

// addScript keeps a script, if there is room.
func (k *known) addScript(s *v8log.ScriptSource, url string) {
	size := s.Lines.Bytes() + 2*len(s.URL) + 100
	if k.bytes+size > maxScripts {
		k.left++
		delete(k.scripts, s.Script)
		return
	}
	k.bytes += size
	k.scripts[s.Script] = &script{url: url, raw: string(s.URL), lines: s.Lines}
}

// addFunction keeps a function, if there is room.
func (k *known) addFunction(addr uint64, f function) {
	if _, ok := k.functions[addr]; !ok && len(k.functions) >= maxFunctions {
		k.left++
		return
	}
	k.functions[addr] = f
}

// A name is the name of a function, and its place.
type name struct {
	function     string
	script       string // URL, or ""
	line, column uint64 // from 1, or 0 if unknown
	known        bool
}

// text returns the name for filters.
func (n *name) text() string {
	if n.script == "" {
		return n.function
	}
	return n.function + " " + n.script
}

// show shows a name that is known.
func (n *name) show(o show.Form) {
	if !n.known {
		return
	}
	show.MentionName(o, []byte(n.text()))
	o.Str("function", []byte(n.function))
	if n.script != "" {
		o.Place([]byte(n.script), n.line, n.column)
	}
}

// unknownURL is the URL of scripts without a name. Names of their functions leave it out.
const unknownURL = "<unknown>"

// splitName splits NAME SCRIPT:LINE:COLUMN. The script says where the name ends. Without one, all of it
// is the function.
func splitName(b []byte, s *script) name {
	n := name{function: string(b), known: true}
	before, line, column, ok := cutPlace(b)
	if !ok || s == nil {
		return n
	}
	url := s.raw
	if url == unknownURL {
		url = ""
	}
	if f, ok := bytes.CutSuffix(before, []byte(" "+url)); ok {
		n.function, n.script, n.line, n.column = string(f), s.url, line, column
	}
	return n
}

// cutPlace removes ":LINE:COLUMN" from the end of a name.
func cutPlace(b []byte) (before []byte, line, column uint64, ok bool) {
	var numbers [2]uint64
	for i := range numbers {
		colon := bytes.LastIndexByte(b, ':')
		if colon < 0 {
			return nil, 0, 0, false
		}
		n, err := strconv.ParseUint(string(b[colon+1:]), 10, 32)
		if err != nil {
			return nil, 0, 0, false
		}
		b, numbers[i] = b[:colon], n
	}
	return b, numbers[1], numbers[0], true
}

// nameOf returns the name of a function. It is read again from the file.
func (l *logViewer) nameOf(f function) name {
	b := make([]byte, f.size)
	if n, _ := l.File.ReadAt(b, f.name); n < len(b) {
		return name{}
	}
	return splitName(b, l.known.scripts[f.script])
}

// place records where a script begins in its file, by a function's start and name.
func (s *script) place(start int32, n *name) {
	line, column, ok := s.lines.Position(start)
	if !ok || n.line == 0 {
		return
	}
	if !s.placed && uint32(n.line) >= line {
		s.placed, s.line = true, uint32(n.line)-line
	}
	if line == 1 && !s.indented && uint32(n.column) >= column {
		s.indented, s.column = true, uint32(n.column)-column
	}
}

// position returns line and column of an offset in the script's file, or 0.
func (s *script) position(offset int32) (line, column uint64) {
	if s == nil {
		return 0, 0
	}
	l, c, ok := s.lines.Position(offset)
	if !ok {
		return 0, 0
	}
	if l == 1 {
		c += s.column
	}
	return uint64(l + s.line), uint64(c)
}
