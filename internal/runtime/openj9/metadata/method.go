package metadata

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// Java methods: their names, lines, and the listings of those without lines.

// A method is a method with code in a body.
type method struct {
	id    jitdump.FunctionID
	name  string
	file  string
	lines []jitdump.JavaLine // sorted by index
	text  *listingText       // the listing, if there are no lines
}

// method returns the method at an address. Methods missing from the table are named by fallback, or
// else by their address.
func (t *tree) method(address uint64, unloaded bool, fallback []byte) *method {
	key := methodKey{address, unloaded}
	if unloaded {
		key.method = 0
	}
	if m, ok := t.made[key]; ok {
		return m
	}
	m := &method{}
	t.made[key] = m
	var flags jitdump.FunctionFlags
	table := t.methods[address]
	switch {
	case unloaded:
		m.name = unloadedName
	case table != nil:
		m.name, flags = methodName(table, t.nameLimit()), table.Flags&jitdump.UserFunction
		m.lines = InOrder(table.Lines)
	case len(fallback) > 0:
		m.name = shortened(fallback, jitcode.MaxOriginName)
	default:
		m.name = fmt.Sprintf("[method %#x]", address)
	}
	t.named += len(m.name)
	if len(m.lines) > 0 {
		m.file = t.sourceFile(table)
	} else {
		m.file = t.listingFile(m.name, key)
		m.text = &listingText{at: make(map[int]*listingEntry), unloaded: unloaded}
		t.texts[m.file] = m.text
		m.text.entry(0) // start of the method
	}
	m.id = t.builder.Function(m.name, m.file, m.line(-1), jitdump.NoColumn, flags)
	return m
}

// line returns the line of a bytecode, in the listing if there are no lines.
func (m *method) line(index int) uint32 {
	if m.text != nil {
		return uint32(max(index, 0)) + 1
	}
	return LineOf(m.lines, index)
}

// LineOf is the line of a bytecode by sorted lines: that of the last index which is not larger, or the
// first one. It is 0 without lines.
func LineOf(lines []jitdump.JavaLine, index int) uint32 {
	if len(lines) == 0 {
		return 0
	}
	behind := sort.Search(len(lines), func(i int) bool { return int64(lines[i].ByteCodeIndex) > int64(index) })
	return lines[max(behind-1, 0)].Line
}

// InOrder returns lines sorted by index.
func InOrder(lines []jitdump.JavaLine) []jitdump.JavaLine {
	byIndex := func(a, b jitdump.JavaLine) int { return cmp.Compare(a.ByteCodeIndex, b.ByteCodeIndex) }
	if slices.IsSortedFunc(lines, byIndex) {
		return lines
	}
	lines = slices.Clone(lines)
	sorting.Stable(lines, byIndex)
	return lines
}

// Utf8Of converts a string of a class file to UTF-8. There, characters beyond the first 65536 are
// two surrogates of three bytes each, and NUL is C0 80 (The Java Virtual Machine Specification,
// 4.4.7). A single surrogate and NUL become U+FFFD.
func Utf8Of(s []byte) string {
	if !slices.ContainsFunc(s, func(c byte) bool { return c == 0xed || c == 0xc0 }) {
		return string(s)
	}
	out := make([]byte, 0, len(s))
	for len(s) > 0 {
		high, low := surrogate(s, 0xd800), rune(0)
		if high != 0 {
			low = surrogate(s[3:], 0xdc00)
		}
		switch {
		case low != 0:
			out = append(out, string(0x10000+(high-0xd800)<<10+(low-0xdc00))...)
			s = s[6:]
		case high != 0 || surrogate(s, 0xdc00) != 0:
			out = append(out, "\ufffd"...)
			s = s[3:]
		case len(s) >= 2 && s[0] == 0xc0 && s[1] == 0x80:
			out = append(out, "\ufffd"...)
			s = s[2:]
		default:
			out = append(out, s[0])
			s = s[1:]
		}
	}
	return string(out)
}

// surrogate returns the surrogate in low to low+0x3ff at the start of s, or 0.
func surrogate(s []byte, low rune) rune {
	if len(s) < 3 || s[0] != 0xed || s[1]&0xc0 != 0x80 || s[2]&0xc0 != 0x80 {
		return 0
	}
	if c := 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f); c >= low && c <= low+0x3ff {
		return c
	}
	return 0
}

// printed returns a name for a text, without line breaks and control characters.
func printed(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return '?'
		}
		return r
	}, name)
}

// unloadedName is the name of methods with an unknown, unloaded class.
const unloadedName = "[unloaded]"

// listingFile returns the name of a method's listing. It is the same for all bodies of the method;
// PlaceSource handles differing texts. Several methods may have one name, if names lack signatures
// or if classes have several loaders. Then the body's own method, or else the first one, gets the
// plain name. Others get their address appended.
func (t *tree) listingFile(name string, key methodKey) string {
	name = shortened([]byte(strings.ReplaceAll(printed(name), "/", ".")), maxListingName)
	file := name + ".bytecode"
	for t.texts[file] != nil || name == unloadedName && !key.unloaded {
		name += fmt.Sprintf(" %#x", key.method)
		file = name + ".bytecode"
	}
	return file
}

// A listingText is a listing: the code of some bytecodes, by index.
type listingText struct {
	at       map[int]*listingEntry
	unloaded bool // of all unloaded methods, because nothing distinguishes them
}

// A listingEntry has the code of a bytecode.
type listingEntry struct {
	code    [][2]uint32 // offsets from startPC: start and end
	more    int         // number of further pieces of code
	inlined []*method
	calls   int // number of further calls
}

// maxNamed bounds the pieces of code, and the methods, in a line of a listing.
const maxNamed = 4

// code records code of a bytecode.
func (m *method) code(index int, start, end uint32) {
	if m.text == nil {
		return
	}
	e := m.text.entry(index)
	switch n := len(e.code); {
	case n > 0 && e.more == 0 && e.code[n-1][1] == start:
		e.code[n-1][1] = end
	case n < maxNamed:
		e.code = append(e.code, [2]uint32{start, end})
	default:
		e.more++
	}
}

// inlines records an inlined call.
func (m *method) inlines(index int, callee *method) {
	if m.text == nil {
		return
	}
	e := m.text.entry(index)
	switch {
	case slices.Contains(e.inlined, callee):
	case len(e.inlined) < maxNamed:
		e.inlined = append(e.inlined, callee)
	default:
		e.calls++
	}
}

// entry returns the entry of a bytecode, and creates it if needed.
func (t *listingText) entry(index int) *listingEntry {
	index = max(index, 0)
	e, ok := t.at[index]
	if !ok {
		e = new(listingEntry)
		t.at[index] = e
	}
	return e
}

// maxListings bounds the total text of a body's listings, in bytes. One listing has up to
// jitcode.MaxText, because longer texts are not shown.
const maxListings = 4 * jitcode.MaxText

// listings returns the listings of the methods without lines, sorted by name.
func (t *tree) listings() []source.MadeText {
	var list []source.MadeText
	for file := range t.texts {
		list = append(list, source.MadeText{File: file})
	}
	sorting.By(list, func(a, b source.MadeText) int { return cmp.Compare(a.File, b.File) })
	left := maxListings
	for i := range list {
		list[i].Text = t.texts[list[i].File].String(min(left, jitcode.MaxText))
		left -= len(list[i].Text)
	}
	return slices.DeleteFunc(list, func(l source.MadeText) bool { return l.Text == "" })
}

// String returns the listing. It drops lines at the end that exceed limit bytes.
func (t *listingText) String(limit int) string {
	indexes := make([]int, 0, len(t.at))
	for index := range t.at {
		indexes = append(indexes, index)
	}
	slices.Sort(indexes)
	var b strings.Builder
	line := 0
	for _, index := range indexes {
		text := t.at[index].describe(index)
		if index == 0 && t.unloaded {
			text = strings.TrimSuffix(text, "\n") + "  (of all methods that were unloaded)\n"
		}
		if b.Len()+index-line+len(text) > limit {
			break
		}
		for ; line < index; line++ {
			b.WriteByte('\n')
		}
		b.WriteString(text)
		line++
	}
	return b.String()
}

// describe returns the line of a bytecode.
func (e *listingEntry) describe(index int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%5d:", index)
	for i, code := range e.code {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " +%#x to +%#x", code[0], code[1])
	}
	if e.more > 0 {
		fmt.Fprintf(&b, " and %d more", e.more)
	}
	for i, m := range e.inlined {
		if i == 0 {
			b.WriteString("  inlines ")
		} else {
			b.WriteString(", ")
		}
		b.WriteString(shortened([]byte(printed(m.name)), maxNameShown))
	}
	if e.calls > 0 {
		fmt.Fprintf(&b, " and %d more", e.calls)
	}
	b.WriteByte('\n')
	return b.String()
}
