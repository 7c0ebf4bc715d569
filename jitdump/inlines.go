package jitdump

import "fmt"

// An InlineBuilder makes DebugInfo2 records in the order of a compiler's work. While code is
// emitted, [InlineBuilder.At] gets its source position and its inlined call. Ranges and the order
// of the tree follow from that. Functions can be described in advance or later.
//
// The first function is the outer one. Reset empties a builder and keeps its memory.
type InlineBuilder struct {
	files, names textTable
	functions    []SourceFunction
	calls        []builtCall
	lines        []builtLine
	err          error // the first misuse
}

// A FunctionID identifies a function of an InlineBuilder. The outer one is 0.
type FunctionID int

// A CallID identifies an inlined call of an InlineBuilder. Code outside of all calls has Outer.
type CallID int

// Outer is the outer function itself, outside of all inlined calls.
const Outer CallID = -1

// String returns the name of the call in errors.
func (c CallID) String() string {
	if c == Outer {
		return "the outer function"
	}
	return fmt.Sprintf("call %d", int(c))
}

// A builtCall is an inlined call with its place in the tree.
type builtCall struct {
	caller       CallID
	function     FunctionID
	line, column uint32
	depth        uint32
	ranges       []CodeRange
	child, next  CallID // the first inner call, the next sibling; Outer for none
	last         CallID // the last inner call
}

// A builtLine has the arguments of At.
type builtLine struct {
	offset       uint32
	call         CallID
	file         uint32
	line, column uint32
}

// Reset empties b and keeps its memory.
func (b *InlineBuilder) Reset() {
	b.files.reset()
	b.names.reset()
	b.functions, b.calls, b.lines, b.err = b.functions[:0], b.calls[:0], b.lines[:0], nil
}

// Function describes a function by its name, its source file and its start there. line counts from
// 1, column from 0; NoColumn means unknown.
func (b *InlineBuilder) Function(name, file string, line, column uint32, flags FunctionFlags) FunctionID {
	b.functions = append(b.functions, SourceFunction{
		Name: b.names.index(name), File: b.files.index(file), Line: line, Column: column, Flags: flags,
	})
	return FunctionID(len(b.functions) - 1)
}

// Inline describes an inlined call to callee at a place in caller. caller is another inlined call
// or Outer.
func (b *InlineBuilder) Inline(caller CallID, callee FunctionID, line, column uint32) CallID {
	if callee < 0 || int(callee) >= len(b.functions) || caller < Outer || int(caller) >= len(b.calls) {
		b.fail("a call of function %d inside %s, which are not both described", callee, caller)
		return Outer
	}
	id := CallID(len(b.calls))
	c := builtCall{caller: caller, function: callee, line: line, column: column, child: Outer, next: Outer, last: Outer}
	if caller != Outer {
		p := &b.calls[caller]
		if c.depth = p.depth + 1; c.depth > MaxDepth {
			b.fail("a call %d deep; readers accept %d", c.depth, MaxDepth)
			return caller
		}
		if p.child == Outer {
			p.child = id
		} else {
			b.calls[p.last].next = id
		}
		p.last = id
	}
	b.calls = append(b.calls, c)
	return id
}

// At sets the source position of code from offset on. The position is in the function that call
// inlined, or in the outer function. It is valid up to the next offset passed to At. Offsets must
// not decrease. Line 0 is for code without a line.
func (b *InlineBuilder) At(offset uint32, call CallID, line, column uint32) {
	f := FunctionID(0)
	if call >= 0 && int(call) < len(b.calls) {
		f = b.calls[call].function
	}
	if call < Outer || int(call) >= len(b.calls) || int(f) >= len(b.functions) {
		b.fail("code at offset %#x is of %s, which is not described", offset, call)
		return
	}
	b.lines = append(b.lines, builtLine{offset, call, b.functions[f].File, line, column})
}

func (b *InlineBuilder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("%s: %s: %s", FormatName, IDDebugInfo2, fmt.Sprintf(format, args...))
	}
}

// Record returns the record for a function of size bytes. It belongs to the caller. Record fails
// after a misuse: offsets that decrease or leave the function, no outer function, calls that were
// not described, or more depth or ranges than readers accept.
func (b *InlineBuilder) Record(size uint32) (*DebugInfo2, error) {
	if len(b.functions) == 0 {
		b.fail("the outer function is missing")
	}
	if b.err != nil {
		return nil, b.err
	}
	d := &DebugInfo2{Files: b.files.texts(), Names: b.names.texts()}
	d.Functions = append(d.Functions, b.functions...)
	for i := range b.calls {
		b.calls[i].ranges = b.calls[i].ranges[:0]
	}
	ranges := 0
	for i, l := range b.lines {
		end := size
		if i+1 < len(b.lines) {
			end = b.lines[i+1].offset
		}
		if l.offset > end || end > size {
			return nil, fmt.Errorf("%s: %s: offset %#x is followed by %#x in a function of %#x bytes", FormatName, IDDebugInfo2, l.offset, end, size)
		}
		if l.offset == end {
			continue
		}
		d.Lines = append(d.Lines, SourceLine{Offset: l.offset, File: l.file, Line: l.line, Column: l.column})
		for c := l.call; c != Outer; c = b.calls[c].caller {
			if b.calls[c].cover(l.offset, end) {
				ranges++
			}
		}
		if ranges > MaxRanges {
			return nil, fmt.Errorf("%s: %s: more than %d ranges; readers accept no more", FormatName, IDDebugInfo2, MaxRanges)
		}
	}
	for i := range b.calls {
		if b.calls[i].caller == Outer {
			b.addCalls(d, CallID(i))
		}
	}
	if err := d.CheckTree(uint64(size)); err != nil {
		return nil, err
	}
	return d, nil
}

// cover adds code to the ranges of a call, and reports whether it added a range.
func (c *builtCall) cover(start, end uint32) bool {
	if n := len(c.ranges); n > 0 && c.ranges[n-1].End() == uint64(start) {
		c.ranges[n-1].Size += end - start
		return false
	}
	c.ranges = append(c.ranges, CodeRange{start, end - start})
	return true
}

// addCalls adds a call by the outer function and its inner calls, depth first. It omits calls
// without code.
func (b *InlineBuilder) addCalls(d *DebugInfo2, top CallID) {
	for id := top; ; {
		c := &b.calls[id]
		if len(c.ranges) > 0 {
			d.Calls = append(d.Calls, InlineCall{Depth: c.depth, RangeCount: uint32(len(c.ranges)), Function: uint32(c.function), Line: c.line, Column: c.column})
			d.Ranges = append(d.Ranges, c.ranges...)
			if c.child != Outer {
				id = c.child
				continue
			}
		}
		for id != top && b.calls[id].next == Outer {
			id = b.calls[id].caller
		}
		if id == top {
			return
		}
		id = b.calls[id].next
	}
}

// A textTable is a list of strings, each stored once.
type textTable struct {
	list [][]byte
	at   map[string]uint32
}

func (t *textTable) reset() {
	t.list = t.list[:0]
	clear(t.at)
}

// index returns the index of s, and adds s if it is new.
func (t *textTable) index(s string) uint32 {
	if at, ok := t.at[s]; ok {
		return at
	}
	if t.at == nil {
		t.at = make(map[string]uint32)
	}
	t.at[s] = uint32(len(t.list))
	t.list = append(t.list, []byte(s))
	return t.at[s]
}

func (t *textTable) texts() [][]byte { return append([][]byte(nil), t.list...) }
