package checkv8

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode"

	"github.com/jitinject/jitinject/internal/verify"
)

// An object is code of a function. Its source may follow.
type object struct {
	at           int64 // of the line
	nameAt       int   // of the name, in the line
	addr, size   uint64
	time         uint64 // microseconds since the isolate's log began
	sfi          uint64 // address of the SharedFunctionInfo
	tag, tier    string
	name         []byte // FUNCTION SCRIPT:LINE:COLUMN
	line, column int64  // of the name, or 0
}

// isOptimized reports whether Maglev or TurboFan made the code.
func (o *object) isOptimized() bool { return bytes.ContainsAny([]byte(o.tier), "+*") }

// isMachineCode reports whether the code is not bytecode.
func (o *object) isMachineCode() bool { return o.tier != "" && o.tier != "~" }

// ofFunctions are the tags of functions' code. Lines with others have no function.
var ofFunctions = map[string]bool{"JS": true, "Eval": true, "Script": true, "Function": true, "LazyCompile": true}

// tierMarks are the characters of markers: bytecode, Sparkplug, Maglev, TurboFan; o before the mark is
// on-stack replacement, ' after it code that is not of one context.
const tierMarks = "~^+*o'"

// maxNameLines bounds the newlines in the name of a function.
const maxNameLines = 32

// creation checks a code-creation: tag, kind, time, address, size, name and, of functions, the address
// of the SharedFunctionInfo and the tier. The name may have commas and newlines.
func (c *checker) creation() error {
	l := c.lines
	var fields [5][]byte
	at := len("code-creation,")
	if len(l.line) < at {
		c.Violation("v8log/fields", 0, "code-creation has no fields, not 6, or 8 of functions")
		return nil
	}
	var starts [5]int
	for i := range fields {
		end := bytes.IndexByte(l.line[at:], ',')
		if end < 0 {
			c.Violation("v8log/fields", 0, "code-creation has %d fields, not 6, or 8 of functions", i+1)
			return nil
		}
		fields[i], starts[i] = l.line[at:at+end], at
		at += end + 1
	}
	o := &object{at: l.at, nameAt: at, tag: string(fields[0])}
	var ok bool
	for i, f := range []struct {
		name string
		read func(field []byte) bool
	}{
		{"kind", func(b []byte) bool { _, ok := number(b); return ok }},
		{"time", func(b []byte) (ok bool) { o.time, ok = decimal(b); return ok }},
		{"address", func(b []byte) (ok bool) { o.addr, ok = address(b); return ok }},
		{"size", func(b []byte) bool { n, ok := number(b); o.size = uint64(n); return ok && n >= 0 }},
	} {
		if ok = f.read(fields[i+1]); !ok {
			c.notNumber(starts[i+1], f.name, fields[i+1])
			return nil
		}
	}
	isFunction := ofFunctions[o.tag]
	if isFunction {
		if ok, err := c.function(o); !ok || err != nil {
			return err
		}
	} else if o.tag != "RegExp" && o.tag != "Callback" && bytes.IndexByte(l.line[at:], ',') >= 0 {
		c.Violation("v8log/fields", 0, "code-creation of %s has a comma in its name %s", o.tag, verify.Quoted(l.line[at:]))
		return nil
	}
	c.place(o)
	if isFunction {
		c.add(o)
	} else {
		c.once(o.tag+" "+string(l.line[at:]), o.addr)
	}
	return nil
}

// decimal parses a number of at most 64 bits.
func decimal(field []byte) (uint64, bool) {
	n, err := strconv.ParseUint(string(field), 10, 64)
	return n, err == nil
}

// function reads name, SFI and tier at the end of the line. ok is false if they are not there. Names
// with newlines go on in the next lines.
func (c *checker) function(o *object) (ok bool, err error) {
	l := c.lines
	for range maxNameLines {
		if ok = o.split(l.line[o.nameAt:]); ok || l.beginsRecord() && !o.continues(l) {
			break
		}
		if err := l.another(); err == io.EOF || l.cut {
			c.cut()
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	if !ok {
		c.Violation("v8log/fields", 0, "code-creation of %s does not end with the function's address and tier", o.tag)
		return false, nil
	}
	for i, mark := range []byte(o.tier) {
		if bytes.IndexByte([]byte(tierMarks), mark) < 0 {
			c.Violation("v8log/tier", len(l.line)-len(o.tier)+i, "the tier is %q", o.tier)
		}
	}
	return true, nil
}

// continues reports whether unread lines that look like records are the rest of the name: the source
// of the code follows, maybe after the script.
func (o *object) continues(l *lineReader) bool {
	b, _ := l.src.Peek(readSize)
	source := fmt.Appendf(nil, "code-source-info,%#x,", o.addr)
	for n, at := 0, 0; n < maxNameLines; n++ {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return false
		}
		at += i + 1
		if !(&object{}).split(b[:at-1]) {
			continue
		}
		next := b[at:]
		if bytes.HasPrefix(next, []byte("script-source,")) {
			next = next[bytes.IndexByte(next, '\n')+1:]
		}
		if bytes.HasPrefix(next, source) {
			return true
		}
	}
	return false
}

// split splits the name from SFI and tier after it.
func (o *object) split(rest []byte) bool {
	tier := bytes.LastIndexByte(rest, ',')
	if tier < 0 {
		return false
	}
	sfi := bytes.LastIndexByte(rest[:tier], ',')
	if sfi < 0 || !isTier(rest[tier+1:]) {
		return false
	}
	var ok bool
	if o.sfi, ok = address(rest[sfi+1 : tier]); !ok {
		return false
	}
	o.name, o.tier = rest[:sfi], string(rest[tier+1:])
	return true
}

// isTier reports whether a field may be a tier, of this V8 or of a later one: some signs, and o.
func isTier(field []byte) bool {
	return len(field) <= 4 && !bytes.ContainsFunc(field, func(c rune) bool {
		return c <= ' ' || c > '~' || '0' <= c && c <= '9' || unicode.IsLetter(c) && c != 'o'
	})
}

// lowestCode is the end of the page that no process has, so that null pointers fault.
const lowestCode = 0x1000

// place checks time and address of a code object.
func (c *checker) place(o *object) {
	if o.time < c.latest {
		c.back++
		c.Violation("v8log/time-goes-back", 0, "the code is %s older than the code before it", verify.Span((c.latest-o.time)*1000))
	}
	c.latest = o.time
	if o.addr < lowestCode || o.addr >= 1<<63 || o.addr+o.size < o.addr {
		c.Violation("v8log/address", 0, "%d bytes of code at %#x", o.size, o.addr)
	}
}

// once checks code that an isolate logs once, because it is part of V8.
func (c *checker) once(name string, addr uint64) {
	if !bytes.HasPrefix([]byte(name), []byte("Builtin ")) && !bytes.HasPrefix([]byte(name), []byte("BytecodeHandler ")) {
		return
	}
	if at, ok := c.builtins[name]; ok && at == addr {
		c.Violation("v8log/isolates", 0, "%s at %#x is there again: isolates have written into one file", verify.Quoted(name), addr)
	}
	c.builtins[name] = addr
}

// add adds code of a function.
func (c *checker) add(o *object) {
	o.line, o.column = placeOf(o.name)
	o.name = bytes.Clone(o.name)
	c.counts.objects++
	if o.isOptimized() {
		c.counts.optimized++
	}
	if _, ok := c.functions[o.sfi]; !ok {
		c.functions[o.sfi] = extent{script: noScript}
	}
	p := &c.pending[c.created%maxPending]
	c.forget(*p)
	*p = o
	c.created++
}

// forget says that no source follows for an object that should have one. nil has none.
func (c *checker) forget(o *object) {
	// Functions without a script have no source: those of WebAssembly.
	if o != nil && o.isOptimized() && o.line > 0 && c.counts.sources > 0 {
		c.Reporter.Violation("v8log/source-missing", o.at, "no code-source-info follows for %s at %#x", verify.Quoted(o.name), o.addr)
	}
}

// take returns the latest object at an address that has no source yet, or nil.
func (c *checker) take(addr uint64) *object {
	for i := 1; i <= maxPending && i <= c.created; i++ {
		p := &c.pending[(c.created-i)%maxPending]
		if *p != nil && (*p).addr == addr {
			o := *p
			*p = nil
			return o
		}
	}
	return nil
}

// placeOf returns line and column at the end of a name, or 0.
func placeOf(name []byte) (line, column int64) {
	var numbers [2]int64
	for i := range slices.Backward(numbers[:]) {
		colon := bytes.LastIndexByte(name, ':')
		if colon < 0 {
			return 0, 0
		}
		n, ok := number(name[colon+1:])
		if !ok || n < 1 {
			return 0, 0
		}
		name, numbers[i] = name[:colon], n
	}
	return numbers[0], numbers[1]
}
