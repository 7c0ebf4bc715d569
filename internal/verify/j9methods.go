package verify

import (
	"slices"
	"strings"
	"unicode/utf16"
)

// Tables of methods, which records and captures bring along, against what the metadata refers to.

// A j9Method is an entry of a table of methods.
type j9Method struct {
	at                           int64 // in the file, or -1
	method                       uint64
	class, name, signature, file string
	lines                        []j9Line
}

// A j9Line is the line of code from a byte code index on.
type j9Line struct{ index, line uint32 }

// methods checks a table of methods, by itself and against the metadata.
func (c *j9Check) methods(methods []j9Method) {
	used := c.handlers()
	used[c.body.Header.RAMMethod] = true
	for i := range c.body.Sites {
		used[c.body.Sites[i].Method] = true
	}
	known := make(map[uint64]bool, len(methods))
	for i := range methods {
		m := &methods[i]
		switch {
		case known[m.method]:
			c.broken("j9/method-twice", m.at, "method %#x is in the table again, as number %d", m.method, i)
		case m.method != 0 && !used[m.method]:
			c.broken("j9/method-unused", m.at, "nothing is of method %#x, %s", m.method, m)
		}
		known[m.method] = true
		c.method(i, m)
	}
	if own := c.body.Header.RAMMethod; !known[own] {
		c.broken("j9/method-missing", c.field(4), "the compiled method, %#x, is not in the table", own)
		known[own] = true
	}
	for i := range c.body.Sites {
		s := &c.body.Sites[i]
		if s.Method != 0 && !known[s.Method] && !c.body.Layout.Unloaded(s.Method) {
			c.broken("j9/method-missing", c.place(s.Offset), "the method of call site %d, %#x, is not in the table", i, s.Method)
			known[s.Method] = true
		}
	}
}

// handlers returns the methods of wide exception ranges.
func (c *j9Check) handlers() map[uint64]bool {
	methods := make(map[uint64]bool)
	if c.body.Header.WideExceptions() {
		for i := range c.body.Exceptions {
			methods[c.body.Exceptions[i].Method] = true
		}
	}
	return methods
}

// String returns the method's name as Java programs have it, quoted.
func (m *j9Method) String() string { return quoted(m.class + "." + m.name + m.signature) }

// method checks one entry.
func (c *j9Check) method(i int, m *j9Method) {
	if m.method == 0 || m.class == "" || m.name == "" {
		c.broken("j9/method-name", m.at, "method %d of the table has the address %#x and the name %s", i, m.method, m)
	}
	for _, text := range []string{m.class, m.name, m.signature, m.file} {
		if !c.isText(text) {
			c.broken("j9/method-text", m.at, "%s of method %#x", quoted(text), m.method)
			break
		}
	}
	if m.signature != "" && !isDescriptor(m.signature) {
		c.broken("j9/method-signature", m.at, "the signature of method %#x, %s, is %s", m.method, m, quoted(m.signature))
	}
	if len(m.lines) > 0 && m.file == "" {
		c.broken("j9/method-file", m.at, "%s has %s and no file", m, counted(len(m.lines), "line"))
	}
	c.lines(m)
}

// isText reports whether a string of a class file is text. Each is looked at once.
func (c *j9Check) isText(s string) bool {
	is, ok := c.texts[s]
	if !ok {
		if c.texts == nil {
			c.texts = make(map[string]bool)
		}
		is = isText([]byte(fromModified(s)))
		c.texts[s] = is
	}
	return is
}

// lines checks the lines of a method. Each rule is broken once.
func (c *j9Check) lines(m *j9Method) {
	if i := slices.IndexFunc(m.lines, func(l j9Line) bool { return l.index > j9MaxIndex }); i >= 0 {
		c.broken("j9/lines-index", m.at, "line %d of %s is of byte code index %d", m.lines[i].line, m, m.lines[i].index)
	}
	if i := slices.IndexFunc(m.lines, func(l j9Line) bool { return l.line == 0 || l.line > j9MaxLine }); i >= 0 {
		c.broken("j9/lines-number", m.at, "byte code index %d of %s is of line %d", m.lines[i].index, m, m.lines[i].line)
	}
	for i := 1; i < len(m.lines); i++ {
		if before := m.lines[i-1].index; m.lines[i].index <= before {
			c.broken("j9/lines-order", m.at, "byte code index %d of %s is behind %d", m.lines[i].index, m, before)
			return
		}
	}
}

// loadName returns the name that a load of the method has.
func (m *j9Method) loadName() string {
	return fromModified(strings.ReplaceAll(m.class, "/", ".") + "." + m.name + m.signature)
}

// fromModified returns a name of a class file, whose UTF-8 is modified (JVMS 4.4.7), as UTF-8:
// there, characters beyond the first 65536 are two surrogates of three bytes each, and NUL is
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
