package jitdump

import (
	"fmt"
	"math"
)

// Conversion of the positions of an early record to a tree of calls.

// An earlyTree is the tree of calls that positions describe.
type earlyTree struct {
	*EarlyDebugInfo
	builder InlineBuilder
	state   []earlyState
	calls   map[earlyCall]CallID
	path    []int // reused memory of callOf
}

// An earlyState is the state of a position.
type earlyState struct {
	call  CallID // innermost call at the position
	known bool
	onWay bool // callOf is processing it
}

// An earlyCall identifies a call. Positions with equal fields are in one call.
type earlyCall struct {
	caller                 CallID
	line, column           uint32 // of the call
	function               uint32
	file                   int32
	startLine, startColumn uint32
}

// build fills the builder from the record.
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
		t.builder.at(o.Code, call, t.builder.files.index(t.file(p)), p.Line, fromZero(p.Column))
	}
	if len(t.Offsets) == 0 || len(t.builder.functions) == 0 {
		return t.fault("position_count", -16, "is %d; there is no outer function", len(t.Positions))
	}
	return nil
}

// outer describes the outer function, if possible by a position with a known file.
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

// callOf returns the call of position i. It creates this call and the enclosing ones if needed.
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

// enter returns the call of a position with a known caller.
func (t *earlyTree) enter(p *EarlyPosition) CallID {
	c := earlyCall{caller: Outer, function: p.Function, file: p.File, startLine: p.StartLine, startColumn: p.StartColumn}
	if p.Caller < 0 {
		return Outer
	}
	site := &t.Positions[p.Caller]
	c.caller, c.line, c.column = t.state[p.Caller].call, site.Line, site.Column
	id, ok := t.calls[c]
	if !ok {
		id = t.builder.Inline(c.caller, t.describe(p), c.line, fromZero(c.column))
		t.calls[c] = id
	}
	return id
}

func (t *earlyTree) describe(p *EarlyPosition) FunctionID {
	return t.builder.Function(string(t.Strings[p.Function]), t.file(p), p.StartLine, fromZero(p.StartColumn), 0)
}

// fromZero converts a column that counts from 1 to a column of a DebugInfo2: 0, an unknown one,
// becomes NoColumn.
func fromZero(column uint32) uint32 { return column - 1 }

// fault returns an error about a field at an offset from the first list.
func (e *EarlyDebugInfo) fault(field string, at int64, format string, args ...any) error {
	return &Error{Format: FormatName, Record: "early debug info", Field: field, Offset: e.at + at, Text: fmt.Sprintf(format, args...)}
}
