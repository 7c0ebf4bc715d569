package v8truth

import (
	"sort"
	"strings"
)

// A Log is the log of one isolate.
type Log struct {
	Codes   []*Code // in the order of the log
	Scripts map[int]*Script
}

// A Code is a code object: machine code, or the bytecode of a function.
type Code struct {
	Line     int    // number of its line in the log, from 1
	Tag      string // JS, Eval, Script, Builtin, BytecodeHandler, RegExp …
	Tier     string // ~ bytecode, ^ baseline, + Maglev, * TurboFan; o before it, ' after it
	Time     uint64 // µs since the log began
	Address  uint64 // where it was when it was created
	Size     uint64 // bytes
	Name     string // of code that is no function's
	Function *Function

	positions []position
	inlined   []inlined
	functions []*Function
}

// A Function is a SharedFunctionInfo of V8.
type Function struct {
	Name         string // empty for anonymous functions and top-level code
	Script       *Script
	Line, Column int // of its beginning, as V8 says
	Start, End   int // extent in the script, in UTF-16 units

	// Addresses has all addresses that it had until the end of the log, the first one first.
	Addresses []uint64

	rawName string // NAME SCRIPT:LINE:COLUMN, as in the log
}

// A position says that the code from an offset on comes from an offset in the script of the
// function that is inlined there, or of the code's own function.
type position struct {
	code, script int
	inlined      int // index, or none
}

// An inlined is a call that was inlined.
type inlined struct {
	function int // index in the code's functions, or none for the code's own function
	script   int // offset of the call, in the script of the caller
	parent   int // index of the caller, or none for the code's own function
}

// A Frame is a function at a place of its script.
type Frame struct {
	*Function
	URL          string
	Line, Column int // from 1, columns in UTF-16 units; 0 if unknown

	// Outside says that the place is not in the function. Maglev of V8 14 (node 25) gives the
	// first character of the script for some code of functions that begin elsewhere.
	Outside bool
}

// IsOptimized reports whether Maglev or TurboFan made the code.
func (c *Code) IsOptimized() bool { return strings.ContainsAny(c.Tier, "+*") }

// IsMachineCode reports whether the code is not bytecode.
func (c *Code) IsMachineCode() bool {
	return c.Function == nil || !strings.Contains(c.Tier, "~") && c.Tier != ""
}

// HasInlined reports whether the code has inlined calls.
func (c *Code) HasInlined() bool { return len(c.inlined) > 0 }

// HasPositions reports whether the log has places of the code.
func (c *Code) HasPositions() bool { return len(c.positions) > 0 }

// DumpName returns the name that V8's jitdump has for the code of a function.
func (c *Code) DumpName() string {
	if c.Function == nil {
		return c.Tag + ":" + c.Name
	}
	return c.Tag + ":" + c.Tier + c.Function.place()
}

// Inlined returns the functions that were inlined, also those without code.
func (c *Code) Inlined() (all []*Function) {
	for i := range c.inlined {
		all = append(all, c.callee(i))
	}
	return all
}

// Chain returns the functions of the byte at an offset of the code, the innermost one first. The
// last position that does not lie after the byte counts, as in V8's AbstractCode::SourcePosition.
// Before the first position, there is none.
func (c *Code) Chain(offset uint64) (chain []Frame) {
	at := sort.Search(len(c.positions), func(i int) bool { return uint64(c.positions[i].code) > offset }) - 1
	if at < 0 {
		return nil
	}
	p := c.positions[at]
	for i, script := p.inlined, p.script; ; i, script = c.inlined[i].parent, c.inlined[i].script {
		f := c.callee(i)
		frame := Frame{Function: f, URL: f.url()}
		frame.Line, frame.Column = f.Script.Place(script)
		frame.Outside = script < f.Start || script > f.End
		chain = append(chain, frame)
		if i == none {
			return chain
		}
	}
}

// callee returns the function of an inlined call, or the code's own one.
func (c *Code) callee(i int) *Function {
	if i == none || c.inlined[i].function == none {
		return c.Function
	}
	return c.functions[c.inlined[i].function]
}

// url returns the name of the function's script.
func (f *Function) url() string {
	if f.Script == nil {
		return ""
	}
	return f.Script.URL
}
