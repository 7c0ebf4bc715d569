package showv8

import (
	"bytes"

	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/show"
)

// A script is a source text.
type script struct {
	url []byte
	v8log.Placement
}

// A function is a SharedFunctionInfo.
type function struct {
	name   []byte // as in the log: NAME SCRIPT:LINE:COLUMN; the script is escaped
	text   string // the name without escapes
	script *script
}

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
		k.scripts[s.Script] = &script{url: v8log.AppendText(nil, s.URL), Placement: v8log.Placement{Lines: s.Lines}}
	}
}

func (k *known) addFunction(addr uint64, name []byte) {
	f, again := k.functions[addr]
	if again && bytes.Equal(f.name, name) {
		return // of another tier
	}
	if delete(k.functions, addr); k.keep(2 * len(name)) {
		k.functions[addr] = function{name: bytes.Clone(name), text: string(v8log.AppendText(nil, name))}
	}
}

func (f *function) showName(o *show.Form) {
	if len(f.name) > 0 { // many calls may share a long one
		show.MentionShared(o, f.text)
		o.Str("function", f.name)
	}
}

// position returns line and column of an offset in the script's file, or 0.
func (s *script) position(offset int32) (line, column uint64) {
	if s == nil {
		return 0, 0
	}
	l, c := s.Position(offset)
	return uint64(l), uint64(c)
}

func (s *script) file() []byte {
	if s == nil {
		return nil
	}
	return s.url
}
