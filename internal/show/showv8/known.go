package showv8

import (
	"bytes"
	"strconv"

	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/show"
)

// A script is a source text.
type script struct {
	url   []byte
	lines *v8log.Lines

	// Scripts inside pages begin at another line and column of these. The first functions say where.
	placed, indented bool
	line, column     uint32 // added to lines, and to columns of the first line
}

// A function is a SharedFunctionInfo.
type function struct {
	name   []byte // as in the log: NAME SCRIPT:LINE:COLUMN; the script is escaped
	script int32  // number of the script, or noScript
	start  int32  // in UTF-16 code units
}

// noScript is the number of the script of functions without one.
const noScript = -1

// known has the scripts and functions of the isolate so far: addresses and numbers are an isolate's.
type known struct {
	scripts   map[int32]*script
	functions map[uint64]function // by address
	bytes     int                 // of both
}

// maxKnown bounds the names that are kept, in bytes. Later functions have no names.
const maxKnown = 64 << 20

func newKnown() known {
	return known{scripts: make(map[int32]*script), functions: make(map[uint64]function)}
}

// keep reports whether there is room for more.
func (k *known) keep(size int) bool {
	k.bytes += size + 100
	return k.bytes <= maxKnown
}

func (k *known) addScript(s *v8log.ScriptSource) {
	if delete(k.scripts, s.Script); k.keep(s.Lines.Bytes() + len(s.URL)) {
		k.scripts[s.Script] = &script{url: v8log.AppendText(nil, s.URL), lines: s.Lines}
	}
}

func (k *known) addFunction(addr uint64, name []byte) {
	f, again := k.functions[addr]
	if again && bytes.Equal(f.name, name) {
		return // of another tier
	}
	if delete(k.functions, addr); k.keep(len(name)) {
		k.functions[addr] = function{name: bytes.Clone(name), script: noScript}
	}
}

func (f *function) showName(o *show.Form) {
	if len(f.name) == 0 {
		return
	}
	if show.Matching(o) { // many calls may share a long name
		show.MentionName(o, v8log.AppendText(nil, f.name))
	}
	o.Str("function", f.name)
}

// place records where a script begins in its file, by a function's start and name.
func (s *script) place(start int32, name []byte) {
	line, column, ok := s.lines.Position(start)
	inFile, inLine, known := placeIn(name)
	if !ok || !known {
		return
	}
	if !s.placed && inFile >= line {
		s.placed, s.line = true, inFile-line
	}
	if line == 1 && !s.indented && inLine >= column {
		s.indented, s.column = true, inLine-column
	}
}

// placeIn returns the line and the column at the end of a name, from 1.
func placeIn(name []byte) (line, column uint32, ok bool) {
	parts := bytes.Split(name, []byte{':'})
	if len(parts) < 3 {
		return 0, 0, false
	}
	l, err := strconv.ParseUint(string(parts[len(parts)-2]), 10, 32)
	if err != nil || l == 0 {
		return 0, 0, false
	}
	c, err := strconv.ParseUint(string(parts[len(parts)-1]), 10, 32)
	return uint32(l), uint32(c), err == nil
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

func (s *script) file() []byte {
	if s == nil {
		return nil
	}
	return s.url
}
