package checkv8

import (
	"bytes"
	"fmt"
	"math"

	"github.com/jitinject/jitinject/internal/verify"
)

// scriptSource checks a script-source: number, URL and text. The text is read in parts.
func (c *checker) scriptSource() error {
	l := c.lines
	for range 3 {
		if ok, err := l.field(); err != nil {
			return err
		} else if !ok {
			switch {
			case l.cut:
				c.cut()
			case l.long:
				c.Violation("v8log/fields", 0, "the URL of script-source has more than %d bytes", maxLine)
			default:
				c.Violation("v8log/fields", 0, "script-source has less than 3 fields")
			}
			return nil
		}
	}
	fields := bytes.Split(l.line, []byte{','})
	at := len(l.line)
	var t textReader
	if err := l.each(t.add); err != nil {
		return err
	}
	if c.counts.lines == 0 {
		c.Reporter.Violation("v8log/version", 0, "the first line begins with %q instead of v8-version", head(l.line))
	}
	if l.cut {
		c.cut()
		return nil
	}
	id, ok := number(fields[1])
	if !ok {
		c.notNumber(len("script-source,"), "script", fields[1])
		return nil
	}
	s := t.finish()
	s.url, s.at = string(fields[2]), l.at
	if _, ok := decoded(fields[2]); !ok {
		c.Violation("v8log/escape", len(fields[0])+len(fields[1])+2, "the URL of script %d has an escape that V8 does not write", id)
	}
	if t.unknown > 0 {
		c.Violation("v8log/escape", at, "the text of script %d has %s that V8 does not write", id, verify.Counted(t.unknown, "escape"))
	}
	if t.comma {
		c.Violation("v8log/fields", at, "the text of script %d has a comma that is not escaped", id)
	}
	c.counts.scripts++
	if before, again := c.byID[id]; again {
		c.Violation("v8log/script-twice", 0, "script %d, %s, is at offset %#x, too", id, verify.Quoted(s.url), c.scripts[before].at)
	}
	c.byID[id] = int32(len(c.scripts))
	c.scripts = append(c.scripts, s)
	return nil
}

// A sourceInfo is a code-source-info that is checked.
type sourceInfo struct {
	*object
	extent
	fields [7][]byte
	starts [7]int // of the fields, in the line
	script *script
}

// Fields of a code-source-info.
const (
	fieldAddress = iota
	fieldScript
	fieldStart
	fieldEnd
	fieldPositions
	fieldInlining
	fieldFunctions
)

// source checks a code-source-info: address, script, start, end, positions, inlining, functions.
func (c *checker) source() {
	l := c.lines
	fields := bytes.Split(l.line, []byte{','})[1:]
	s := &sourceInfo{}
	if len(fields) != len(s.fields) {
		c.Violation("v8log/fields", 0, "code-source-info has %s, not %d", verify.Counted(len(fields), "field"), len(s.fields))
		return
	}
	at := len("code-source-info,")
	for i, f := range fields {
		s.fields[i], s.starts[i] = f, at
		at += len(f) + 1
	}
	addr, ok := address(s.fields[fieldAddress])
	if !ok {
		c.notNumber(s.starts[fieldAddress], "address", s.fields[fieldAddress])
		return
	}
	var numbers [fieldEnd + 1]int64
	for i, name := range []string{fieldScript: "script", fieldStart: "start", fieldEnd: "end"} {
		if i == fieldAddress {
			continue
		}
		if numbers[i], ok = number(s.fields[i]); !ok {
			c.notNumber(s.starts[i], name, s.fields[i])
			return
		}
	}
	c.counts.sources++
	s.extent = extent{noScript, int32(numbers[fieldStart]), int32(numbers[fieldEnd])}
	if s.object = c.take(addr); s.object == nil {
		c.Violation("v8log/source-unpaired", 0, "no code-creation of a function at %#x precedes", addr)
		return
	}
	if i, ok := c.byID[numbers[fieldScript]]; ok {
		s.extent.script, s.script = i, &c.scripts[i]
		c.checkFunction(s)
	} else {
		c.Violation("v8log/script-missing", s.starts[fieldScript], "no script-source of script %d precedes", numbers[fieldScript])
	}
	c.functions[s.sfi] = s.extent
	c.checkLists(s)
	if c.keep && s.isMachineCode() {
		c.codes = append(c.codes, s.code(c.isolates))
	}
}

// checkFunction checks name and extent of a function against its script.
func (c *checker) checkFunction(s *sourceInfo) {
	if !s.isNamed() {
		c.Violation("v8log/name", 0, "the name %s of the code at %#x does not end with a space, the script %s, line and column", verify.Quoted(s.name), s.addr, verify.Quoted(s.script.url))
	}
	if s.start < 0 || s.start > s.end || int64(s.end) > s.script.units {
		c.Violation("v8log/extent", s.starts[fieldStart], "the function is from %d to %d of a text of %d units", s.start, s.end, s.script.units)
		return
	}
	if s.line > 0 && !s.script.isAt(int64(s.start), s.line, s.column) {
		line, column := s.script.position(int64(s.start))
		where := ""
		if s.script.line > 0 {
			where = fmt.Sprintf("; the script begins at line %d, by the functions before", s.script.line+1)
		}
		c.Violation("v8log/start", s.starts[fieldStart], "unit %d is at %d:%d of the text, and the function's name says %d:%d%s", s.start, line, column, s.line, s.column, where)
	}
}

// unknownURL is the URL of scripts without a name. Names of their functions leave it out.
const unknownURL = "<unknown>"

// isNamed reports whether the name ends with the script, line and column. V8 leaves out line and
// column of some scripts' own code.
func (s *sourceInfo) isNamed() bool {
	url := s.script.url
	if url == unknownURL {
		url = ""
	}
	if s.line == 0 {
		return string(s.name) == url
	}
	return bytes.HasSuffix(s.name, fmt.Appendf(nil, " %s:%d:%d", url, s.line, s.column))
}

// lists are the lists of a code-source-info. They are used again.
type lists struct {
	inlining  []inlined
	functions []uint64
	visited   []int32 // for cycles
}

// An inlined is an inlined call.
type inlined struct {
	at       int   // in the line
	function int64 // index, or none
	offset   int64 // of the call, in the script of the caller
	parent   int64 // index, or none
}

// checkLists checks positions, inlined calls and functions.
func (c *checker) checkLists(s *sourceInfo) {
	c.lists.inlining, c.lists.functions = c.lists.inlining[:0], c.lists.functions[:0]
	fault := addresses(s.fields[fieldFunctions], s.starts[fieldFunctions], func(addr uint64) {
		c.lists.functions = append(c.lists.functions, addr)
		if _, ok := c.functions[addr]; !ok {
			c.Violation("v8log/function-unknown", s.starts[fieldFunctions], "no line before names the function at %#x", addr)
		}
	})
	if fault == nil {
		fault = entries(s.fields[fieldInlining], s.starts[fieldInlining], "FOI", func(at int, n [3]int64) {
			c.lists.inlining = append(c.lists.inlining, inlined{at, n[0], n[1], n[2]})
		})
	}
	if fault == nil {
		c.checkInlining(s)
		latest := int64(0)
		fault = entries(s.fields[fieldPositions], s.starts[fieldPositions], "COI", func(at int, n [3]int64) {
			c.checkPosition(s, at, n, &latest)
		})
	}
	if fault != nil {
		c.Violation("v8log/list", fault.at, "%s", fault.text)
	}
	if len(c.lists.inlining) > 0 {
		c.counts.inlining++
	}
}

// checkPosition checks code offset, script offset and index of an entry.
func (c *checker) checkPosition(s *sourceInfo, at int, n [3]int64, latest *int64) {
	switch code := n[0]; {
	case code < 0 || uint64(code) >= s.size:
		c.Violation("v8log/code-offset", at, "code offset %d, and the code has %d bytes", code, s.size)
	case code < *latest:
		c.Violation("v8log/code-order", at, "code offset %d comes after %d", code, *latest)
	default:
		*latest = code
	}
	if i := n[2]; i != none && (i < 0 || i >= int64(len(c.lists.inlining))) {
		c.Violation("v8log/inlining-index", at, "index %d of %s", i, verify.Counted(len(c.lists.inlining), "inlined call"))
		return
	}
	c.checkOffset(s, at, n[1], n[2])
}

// checkOffset checks a script offset in the function of the inlined call i, or of the code itself.
func (c *checker) checkOffset(s *sourceInfo, at int, offset, i int64) {
	f := c.callee(s, i)
	switch {
	case offset == -1 || f.script == noScript: // V8 knows no position
		return
	case offset < 0 || offset > math.MaxInt32 || offset > c.scripts[f.script].units:
		c.Violation("v8log/script-offset", at, "script offset %d of a text of %d units", offset, c.scripts[f.script].units)
	case offset >= int64(f.start) && offset <= int64(f.end) || !s.isOptimized():
		// Bytecode of static initializers begins before these.
	case offset == 0:
		c.Violation("v8log/offset-zero", at, "script offset 0 of a function that is from %d to %d", f.start, f.end)
	default:
		c.Violation("v8log/outside-function", at, "script offset %d of a function that is from %d to %d", offset, f.start, f.end)
	}
}

// callee returns the function of the inlined call i, or of the code itself.
func (c *checker) callee(s *sourceInfo, i int64) extent {
	if i == none {
		return s.extent
	}
	switch f := c.lists.inlining[i].function; {
	case f == none: // recursion
		return s.extent
	case f < 0 || f >= int64(len(c.lists.functions)):
		return extent{script: noScript}
	default:
		if e, ok := c.functions[c.lists.functions[f]]; ok {
			return e
		}
	}
	return extent{script: noScript}
}

// checkInlining checks indexes and parents of the inlined calls.
func (c *checker) checkInlining(s *sourceInfo) {
	list := c.lists.inlining
	ordered := true
	for i := range list {
		call := &list[i]
		if f := call.function; f != none && (f < 0 || f >= int64(len(c.lists.functions))) {
			c.Violation("v8log/function-index", call.at, "index %d of %s", f, verify.Counted(len(c.lists.functions), "function"))
		}
		switch p := call.parent; {
		case p == none:
		case p < 0 || p >= int64(len(list)):
			c.Violation("v8log/parent-index", call.at, "caller %d of %s", p, verify.Counted(len(list), "inlined call"))
			call.parent, call.offset = none, -1
		case p >= int64(i):
			ordered = false
		}
	}
	if !ordered {
		c.checkOrder()
	}
	for i := range list {
		c.checkOffset(s, list[i].at, list[i].offset, list[i].parent)
	}
}

// checkOrder says whether parents come after their children, or are in a cycle with them.
func (c *checker) checkOrder() {
	list := c.lists.inlining
	visited := append(c.lists.visited[:0], make([]int32, len(list))...)
	for i := range list {
		// Each walk has a number. It ends where an earlier one was; where it was itself is a cycle.
		at := int64(i)
		for at != none && visited[at] == 0 {
			visited[at] = int32(i + 1)
			at = list[at].parent
		}
		if at != none && visited[at] == int32(i+1) {
			c.Violation("v8log/parent-cycle", list[at].at, "inlined call %d is its own caller", at)
			c.lists.visited = visited
			return
		}
	}
	for i := range list {
		if p := list[i].parent; p != none && p >= int64(i) {
			c.Violation("v8log/parent-order", list[i].at, "inlined call %d comes before its caller %d", i, p)
		}
	}
	c.lists.visited = visited
}
