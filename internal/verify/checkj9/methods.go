package checkj9

import (
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/jitinject/jitinject/internal/verify"
)

// Tables of methods, which records and captures bring along, against what the metadata refers to.

// A Method is an entry of a table of methods.
type Method struct {
	At                           int64 // in the file, or -1
	Address                      uint64
	Class, Name, Signature, File string
	Lines                        []Line
}

// A Line is the line of code from a byte code index on.
type Line struct{ Index, Line uint32 }

// CheckMethods checks a table of methods, by itself and against the metadata.
func (c *Metadata) CheckMethods(methods []Method) {
	used := c.handlers()
	used[c.Body.Header.RAMMethod] = true
	for i := range c.Body.Sites {
		used[c.Body.Sites[i].Method] = true
	}
	known := make(map[uint64]bool, len(methods))
	for i := range methods {
		m := &methods[i]
		switch {
		case known[m.Address]:
			c.Violation("j9/method-twice", m.At, "method %#x is in the table again, as number %d", m.Address, i)
		case m.Address != 0 && !used[m.Address]:
			c.Violation("j9/method-unused", m.At, "method %#x, %s, is not used", m.Address, m)
		}
		known[m.Address] = true
		c.method(i, m)
	}
	if own := c.Body.Header.RAMMethod; !known[own] {
		c.Violation("j9/method-missing", c.field(4), "the compiled method, %#x, is not in the table", own)
		known[own] = true
	}
	for i := range c.Body.Sites {
		s := &c.Body.Sites[i]
		if s.Method != 0 && !known[s.Method] && !c.Body.Layout.Unloaded(s.Method) {
			c.Violation("j9/method-missing", c.place(s.Offset), "the method of call site %d, %#x, is not in the table", i, s.Method)
			known[s.Method] = true
		}
	}
}

// handlers returns the methods of wide exception ranges.
func (c *Metadata) handlers() map[uint64]bool {
	methods := make(map[uint64]bool)
	if c.Body.Header.WideExceptions() {
		for i := range c.Body.Exceptions {
			methods[c.Body.Exceptions[i].Method] = true
		}
	}
	return methods
}

// String returns the method's name as Java programs have it, quoted.
func (m *Method) String() string { return verify.Quoted(m.Class + "." + m.Name + m.Signature) }

// method checks one entry.
func (c *Metadata) method(i int, m *Method) {
	if m.Address == 0 || m.Class == "" || m.Name == "" {
		c.Violation("j9/method-name", m.At, "method %d of the table has the address %#x and the name %s", i, m.Address, m)
	}
	for _, text := range []string{m.Class, m.Name, m.Signature, m.File} {
		if !c.isText(text) {
			c.Violation("j9/method-text", m.At, "%s of method %#x", verify.Quoted(text), m.Address)
			break
		}
	}
	if m.Signature != "" && !isDescriptor(m.Signature) {
		c.Violation("j9/method-signature", m.At, "the signature of method %#x, %s, is %s", m.Address, m, verify.Quoted(m.Signature))
	}
	if len(m.Lines) > 0 && m.File == "" {
		c.Violation("j9/method-file", m.At, "%s has %s and no file", m, verify.Counted(len(m.Lines), "line"))
	}
	c.lines(m)
}

// isText reports whether a string of a class file is text. Each is looked at once.
func (c *Metadata) isText(s string) bool {
	is, ok := c.texts[s]
	if !ok {
		if c.texts == nil {
			c.texts = make(map[string]bool)
		}
		is = verify.IsText([]byte(fromModified(s)))
		c.texts[s] = is
	}
	return is
}

// lines checks the lines of a method. Each rule is broken once.
func (c *Metadata) lines(m *Method) {
	if i := slices.IndexFunc(m.Lines, func(l Line) bool { return l.Index > maxIndex }); i >= 0 {
		c.Violation("j9/lines-index", m.At, "line %d of %s is of byte code index %d", m.Lines[i].Line, m, m.Lines[i].Index)
	}
	if i := slices.IndexFunc(m.Lines, func(l Line) bool { return l.Line == 0 || l.Line > maxLine }); i >= 0 {
		c.Violation("j9/lines-number", m.At, "byte code index %d of %s is of line %d", m.Lines[i].Index, m, m.Lines[i].Line)
	}
	for i := 1; i < len(m.Lines); i++ {
		if before := m.Lines[i-1].Index; m.Lines[i].Index <= before {
			c.Violation("j9/lines-order", m.At, "byte code index %d of %s comes after %d", m.Lines[i].Index, m, before)
			return
		}
	}
}

// LoadName returns the name that a load of the method has.
func (m *Method) LoadName() string {
	return fromModified(strings.ReplaceAll(m.Class, "/", ".") + "." + m.Name + m.Signature)
}

// fromModified returns a name of a class file as UTF-8. Class files have modified UTF-8 (JVMS
// 4.4.7): there, characters beyond the first 65536 are two surrogates of three bytes each, and NUL is
// C0 80. NUL and half a pair become U+FFFD. UTF-8 stays as it is.
func fromModified(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		switch r := surrogate(s[i:]); {
		case r != 0:
			i += 3
			r = utf16.DecodeRune(r, surrogate(s[i:]))
			if b.WriteRune(r); r != '\ufffd' {
				i += 3
			}
		case strings.HasPrefix(s[i:], "\xc0\x80"):
			b.WriteRune('\ufffd')
			i += 2
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return b.String()
}

// surrogate returns the surrogate that a name begins with, or 0.
func surrogate(s string) rune {
	if len(s) < 3 || s[0] != 0xed || s[1]&0xe0 != 0xa0 || s[2]&0xc0 != 0x80 {
		return 0
	}
	return 0xd800 | rune(s[1]&0x1f)<<6 | rune(s[2]&0x3f)
}

// isDescriptor reports whether a string is a method's descriptor (JVMS 4.3.3).
func isDescriptor(s string) bool {
	if s == "" || s[0] != '(' {
		return false
	}
	s = s[1:]
	for s != "" && s[0] != ')' {
		n := typeLength(s)
		if n == 0 {
			return false
		}
		s = s[n:]
	}
	return s == ")V" || s != "" && typeLength(s[1:]) == len(s)-1 && len(s) > 1
}

// typeLength returns the length of the type that a descriptor begins with, or 0.
func typeLength(s string) int {
	for i, c := range s {
		switch {
		case c == '[':
		case c == 'L':
			for j, d := range s[i:] {
				if d == ';' && j > 1 {
					return i + j + 1
				}
			}
			return 0
		case slices.Contains([]rune("BCDFIJSZ"), c):
			return i + 1
		default:
			return 0
		}
	}
	return 0
}
