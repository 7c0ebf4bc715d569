package v8log

import (
	"bytes"
	"strconv"
)

// A Version is the first line of an isolate's log.
type Version struct {
	Offset int64  // of the line
	Text   string `show:"version"` // the numbers, with dots: "11.3.244.8"
}

// A SourceInfo describes the source of code.
type SourceInfo struct {
	Offset  int64
	Address uint64 `show:"code_addr,addr"` // of the code
	Script  int32  `show:"script"`
	Start   int32  `show:"start"` // extent of the function in its script, in UTF-16 code units
	End     int32  `show:"end"`

	// Lists as they are in the file; see Positions, Calls and Functions.
	Positions, Inlining, Functions Span
}

// A ScriptSource is the text of a script.
type ScriptSource struct {
	Offset int64
	Script int32  `show:"script"`
	URL    []byte // escaped; "<unknown>" for none
	Text   Span   // escaped
	Lines  *Lines // where they start; the caller may keep it
}

// A Move says that the collector moved something. All Moves but those of Kind code-delete have To.
type Move struct {
	Offset int64
	Kind   MoveKind
	From   uint64 `show:"from,addr"`
	To     uint64 `show:"to,addr,opt"`
}

// A MoveKind is the kind of a Move.
type MoveKind uint8

const (
	FunctionMoved MoveKind = iota // a SharedFunctionInfo
	CodeMoved
	CodeDeleted
)

func (*Version) record()      {}
func (*CodeCreation) record() {}
func (*SourceInfo) record()   {}
func (*ScriptSource) record() {}
func (*Move) record()         {}

// read reads the fields of a line of r.kind. It returns nil for unused kinds; see isKind.
func (r *Reader) read() Record {
	switch string(r.kind) {
	case firstKind:
		return r.version()
	case "code-creation":
		return r.codeCreation()
	case "code-source-info":
		return r.sourceInfo()
	case "script-source":
		return r.scriptSource()
	case "sfi-move":
		return r.move(FunctionMoved)
	case "code-move":
		return r.move(CodeMoved)
	case "code-delete":
		return r.move(CodeDeleted)
	}
	return nil
}

// isKind reports whether read reads lines of a kind.
func isKind(kind []byte) bool {
	switch string(kind) {
	case firstKind, "code-creation", "code-source-info", "script-source", "sfi-move", "code-move", "code-delete":
		return true
	}
	return false
}

func (r *Reader) version() Record {
	v := &Version{Offset: r.lineAt}
	for i, name := range []string{"major", "minor", "build", "patch"} {
		n := r.number(name, 10, 31)
		if i > 0 {
			v.Text += "."
		}
		v.Text += strconv.FormatUint(n, 10)
	}
	return v
}

func (r *Reader) sourceInfo() Record {
	s := &SourceInfo{Offset: r.lineAt}
	s.Address = r.address("address")
	s.Script = int32(r.number("script", 10, 31))
	s.Start = r.position("start")
	s.End = r.position("end")
	s.Positions = r.span("positions", separators, nil)
	s.Inlining = r.span("inlining", separators, nil)
	s.Functions = r.span("functions", separators, nil)
	r.end()
	return s
}

func (r *Reader) scriptSource() Record {
	s := &ScriptSource{Offset: r.lineAt}
	s.Script = int32(r.number("script", 10, 31))
	r.name = r.held("URL", separators, r.name, MaxName)
	s.URL = r.name
	t := newLinesOf()
	s.Text = r.span("text", lineEnd, t.add)
	if s.Lines = t.finish(); t.bad > 0 {
		r.fieldAt = s.Text.Off
		r.fail("has %d escapes that are none of V8's", t.bad)
	} else if s.Lines.Count() > maxLines {
		r.fieldAt = s.Text.Off
		r.fail("has more than %d lines", maxLines)
	}
	return s
}

func (r *Reader) move(kind MoveKind) Record {
	m := &Move{Offset: r.lineAt, Kind: kind, From: r.address("from")}
	if kind != CodeDeleted {
		m.To = r.address("to")
	}
	return m
}

// end fails if the line has more fields.
func (r *Reader) end() {
	if r.fault == nil && !r.ended {
		r.field, r.fieldAt = "", r.at
		if r.lo < r.hi || r.fill() {
			r.fail("the line has more fields than its kind")
		}
	}
}

// number reads a field with a number of a base, of at most bits bits.
func (r *Reader) number(name string, base, bits int) uint64 {
	var digits [maxNumber]byte
	b := r.held(name, separators, digits[:0], maxNumber)
	if r.fault != nil {
		return 0
	}
	if base == 16 {
		rest, ok := bytes.CutPrefix(b, []byte("0x"))
		if !ok {
			r.fail("%q is no address", b)
		}
		b = rest
	}
	n, err := strconv.ParseUint(string(b), base, bits)
	if err != nil {
		r.fail("%q is no number of %d bits", b, bits)
	}
	return n
}

// address reads a field with an address.
func (r *Reader) address(name string) uint64 { return r.number(name, 16, 64) }

// position reads a field with a script offset. -1 is none.
func (r *Reader) position(name string) int32 {
	var digits [maxNumber]byte
	b := r.held(name, separators, digits[:0], maxNumber)
	if r.fault != nil {
		return 0
	}
	n, err := strconv.ParseInt(string(b), 10, 32)
	if err != nil || n < -1 {
		r.fail("%q is no script offset", b)
	}
	return int32(n)
}
