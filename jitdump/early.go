package jitdump

import (
	"bytes"
	"fmt"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// An EarlyDebugInfo is what a prototype of samply wrote under the id that is
// Tier's today. It is read and turned into a DebugInfo2.
type EarlyDebugInfo struct {
	CodeAddr  uint64 // of the function
	Offsets   []EarlyOffset
	Positions []EarlyPosition
	Strings   [][]byte
	Extra     []byte

	at int64 // of Offsets in the file
}

// An EarlyOffset says that code from Code on comes from a position.
type EarlyOffset struct {
	Code     uint32 // from the start of the function
	Position uint32 // index
}

// An EarlyPosition is a place in the source, and how execution came there.
type EarlyPosition struct {
	Caller                 int32  // index of a position, or -1
	Function               uint32 // index of a string
	File                   int32  // index of a string, or -1
	StartLine, StartColumn uint32
	Line, Column           uint32
}

const (
	earlyHead         = 4 * 8
	earlyOffsetSize   = 2 * 4
	earlyPositionSize = 7 * 4
)

// IsEarlyDebugInfo reports whether the record is an EarlyDebugInfo and no Tier:
// all its sizes add up.
func (r *Raw) IsEarlyDebugInfo() bool {
	if r.ID != IDTier || len(r.Body) < earlyHead {
		return false
	}
	offsets, positions, strings := r.Order.Uint64(r.Body[8:]), r.Order.Uint64(r.Body[16:]), r.Order.Uint64(r.Body[24:])
	n := uint64(len(r.Body))
	if offsets > n || positions > n || strings > n {
		return false
	}
	at := earlyHead + offsets*earlyOffsetSize + positions*earlyPositionSize
	if at > n {
		return false
	}
	area := r.Body[at:]
	for range strings {
		end := bytes.IndexByte(area, 0)
		if end < 0 {
			return false
		}
		area = area[end+1:]
	}
	return len(area) <= 7 && allZero(area)
}

// earlyAddsUp is IsEarlyDebugInfo without a look at the strings.
func (r *Raw) earlyAddsUp() bool {
	if len(r.Body) < earlyHead {
		return false
	}
	offsets, positions, strings, n := r.Order.Uint64(r.Body[8:]), r.Order.Uint64(r.Body[16:]), r.Order.Uint64(r.Body[24:]), uint64(len(r.Body))
	return offsets <= n && positions > 0 && positions <= n && strings > 0 && strings <= n &&
		earlyHead+offsets*earlyOffsetSize+positions*earlyPositionSize+strings <= n && r.Body[n-1] == 0
}

// EarlyDebugInfo decodes a record of which IsEarlyDebugInfo holds.
func (r *Raw) EarlyDebugInfo() (EarlyDebugInfo, error) {
	c := r.cursor()
	e := EarlyDebugInfo{CodeAddr: c.U64("code_addr")}
	offsets, positions, strings := c.U64("offset_count"), c.U64("position_count"), c.U64("string_count")
	e.at = c.Offset()
	if !r.IsEarlyDebugInfo() {
		c.Fail("", "its sizes do not add up")
		return e, c.Err()
	}
	for range offsets {
		e.Offsets = append(e.Offsets, EarlyOffset{Code: c.U32("code_offset"), Position: c.U32("position")})
	}
	for range positions {
		e.Positions = append(e.Positions, EarlyPosition{
			Caller: int32(c.U32("caller")), Function: c.U32("function"), File: int32(c.U32("file")),
			StartLine: c.U32("start_line"), StartColumn: c.U32("start_column"), Line: c.U32("line"), Column: c.U32("column"),
		})
	}
	for range strings {
		e.Strings = append(e.Strings, c.CString("string"))
	}
	e.Extra = c.Rest()
	return e, c.Err()
}

func (e *EarlyDebugInfo) id() RecordID { return IDTier }
func (e *EarlyDebugInfo) size() int {
	n := earlyHead + earlyOffsetSize*len(e.Offsets) + earlyPositionSize*len(e.Positions) + len(e.Extra)
	for _, s := range e.Strings {
		n += len(s) + 1
	}
	return n
}

func (e *EarlyDebugInfo) append(b *wire.Buffer) {
	b.U64(e.CodeAddr)
	b.U64(uint64(len(e.Offsets)))
	b.U64(uint64(len(e.Positions)))
	b.U64(uint64(len(e.Strings)))
	for _, o := range e.Offsets {
		b.U32(o.Code)
		b.U32(o.Position)
	}
	for _, p := range e.Positions {
		b.U32(uint32(p.Caller))
		b.U32(p.Function)
		b.U32(uint32(p.File))
		b.U32(p.StartLine)
		b.U32(p.StartColumn)
		b.U32(p.Line)
		b.U32(p.Column)
	}
	for _, s := range e.Strings {
		b.Bytes(s)
		b.U8(0)
	}
	b.Bytes(e.Extra)
}

// DebugInfo2 returns what e says as the record of today, for a function of size
// bytes. With an error, which is a *wire.Error about a position or string that does
// not exist, about positions that call each other in a circle or code out of order,
// the record has no calls, and those of the lines that can be believed.
func (e *EarlyDebugInfo) DebugInfo2(size uint64) (*DebugInfo2, error) {
	t := earlyTree{EarlyDebugInfo: e, state: make([]earlyState, len(e.Positions)), calls: make(map[earlyCall]CallID)}
	err := t.build(size)
	if err == nil {
		var d *DebugInfo2
		if d, err = t.builder.Record(uint32(size)); err == nil {
			return d, nil
		}
	}
	return e.lines(), err
}

// lines returns a record of nothing but lines.
func (e *EarlyDebugInfo) lines() *DebugInfo2 {
	d := &DebugInfo2{Files: append([][]byte{nil}, e.Strings...)}
	for _, o := range e.Offsets {
		l := SourceLine{Offset: o.Code} // of the file without a name, unless it is known better
		if uint64(o.Position) < uint64(len(e.Positions)) {
			if p := &e.Positions[o.Position]; p.File >= 0 && int(p.File) < len(e.Strings) {
				l.File, l.Line, l.Column = uint32(p.File)+1, p.Line, p.Column
			}
		}
		d.Lines = append(d.Lines, l)
	}
	return d
}

// An earlyTree is the tree of calls that positions describe.
type earlyTree struct {
	*EarlyDebugInfo
	builder InlineBuilder
	state   []earlyState
	calls   map[earlyCall]CallID
	path    []int // memory of callOf
}

// An earlyState is what is known of a position.
type earlyState struct {
	call  CallID // that it is in
	known bool
	onWay bool // it is being looked at
}

// An earlyCall tells calls apart: positions that agree in all of it are in one.
type earlyCall struct {
	caller                 CallID
	line, column           uint32 // of the call
	function               uint32
	file                   int32
	startLine, startColumn uint32
}

// build tells the builder what the record says.
func (t *earlyTree) build(size uint64) error {
	if size > math.MaxUint32 {
		return t.fault("", 0, "the function has %#x bytes", size)
	}
	t.outer()
	for i, o := range t.Offsets {
		at := int64(i) * earlyOffsetSize
		switch {
		case uint64(o.Position) >= uint64(len(t.Positions)):
			return t.fault("position", at+4, "is %d in a list of %d positions", o.Position, len(t.Positions))
		case i > 0 && o.Code < t.Offsets[i-1].Code:
			return t.fault("code_offset", at, "%#x is less than that of the entry before, %#x", o.Code, t.Offsets[i-1].Code)
		case uint64(o.Code) > size:
			return t.fault("code_offset", at, "%#x is beyond the %#x bytes of the function", o.Code, size)
		}
		call, err := t.callOf(int(o.Position))
		if err != nil {
			return err
		}
		p := &t.Positions[o.Position]
		t.builder.at(o.Code, call, t.builder.files.index(t.file(p)), p.Line, p.Column)
	}
	if len(t.Offsets) == 0 || len(t.builder.functions) == 0 {
		return t.fault("position_count", -16, "is %d; there is no outer function", len(t.Positions))
	}
	return nil
}

// outer describes the outer function: by a position that knows its file, if there
// is one.
func (t *earlyTree) outer() {
	var found *EarlyPosition
	for i := range t.Positions {
		p := &t.Positions[i]
		if p.Caller == -1 && uint64(p.Function) < uint64(len(t.Strings)) && (found == nil || t.file(found) == "") {
			found = p
		}
	}
	if found != nil {
		t.describe(found)
	}
}

// file returns the file of a position, or "".
func (t *earlyTree) file(p *EarlyPosition) string {
	if p.File < 0 || int(p.File) >= len(t.Strings) {
		return ""
	}
	return string(t.Strings[p.File])
}

// callOf returns the call that position i is in, making it and those around it
// where they are new.
func (t *earlyTree) callOf(i int) (CallID, error) {
	t.path = t.path[:0]
	for !t.state[i].known {
		p := &t.Positions[i]
		at := int64(len(t.Offsets))*earlyOffsetSize + int64(i)*earlyPositionSize
		switch {
		case t.state[i].onWay:
			return 0, t.fault("caller", at, "of position %d leads back to itself", i)
		case len(t.path) > MaxDepth:
			return 0, t.fault("caller", at, "is more than %d calls deep", MaxDepth)
		case p.Caller < -1 || int64(p.Caller) >= int64(len(t.Positions)):
			return 0, t.fault("caller", at, "is %d in a list of %d positions", p.Caller, len(t.Positions))
		case uint64(p.Function) >= uint64(len(t.Strings)):
			return 0, t.fault("function", at+4, "is %d in a list of %d strings", p.Function, len(t.Strings))
		case p.File < -1 || int64(p.File) >= int64(len(t.Strings)):
			return 0, t.fault("file", at+8, "is %d in a list of %d strings", p.File, len(t.Strings))
		}
		t.state[i].onWay = true
		t.path = append(t.path, i)
		if p.Caller < 0 {
			break
		}
		i = int(p.Caller)
	}
	for n := len(t.path) - 1; n >= 0; n-- {
		t.state[t.path[n]] = earlyState{call: t.enter(&t.Positions[t.path[n]]), known: true}
	}
	if len(t.path) > 0 {
		i = t.path[0]
	}
	return t.state[i].call, nil
}

// enter returns the call of a position whose caller is known.
func (t *earlyTree) enter(p *EarlyPosition) CallID {
	c := earlyCall{caller: Outer, function: p.Function, file: p.File, startLine: p.StartLine, startColumn: p.StartColumn}
	if p.Caller < 0 {
		return Outer
	}
	site := &t.Positions[p.Caller]
	c.caller, c.line, c.column = t.state[p.Caller].call, site.Line, site.Column
	id, ok := t.calls[c]
	if !ok {
		id = t.builder.Inline(c.caller, t.describe(p), c.line, c.column)
		t.calls[c] = id
	}
	return id
}

func (t *earlyTree) describe(p *EarlyPosition) FunctionID {
	return t.builder.Function(string(t.Strings[p.Function]), t.file(p), p.StartLine, p.StartColumn, 0)
}

// fault returns an error about a field at an offset from the first list.
func (e *EarlyDebugInfo) fault(field string, at int64, format string, args ...any) error {
	return &wire.Error{Format: FormatName, Record: "early debug info", Field: field, Offset: e.at + at, Text: fmt.Sprintf(format, args...)}
}
