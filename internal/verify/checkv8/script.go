package checkv8

import (
	"bytes"
	"math"
	"slices"
)

// A script is a source text of the isolate.
type script struct {
	url    string // escaped, as in the file
	at     int64  // offset of its line
	units  int64  // length of the text, in UTF-16 code units
	starts []uint32

	// Scripts inside pages begin at another line and column of these. The first functions say where.
	placed, indented bool
	line, column     int64 // added to lines, and to columns of the first line
}

// A textReader reads the text of a script in parts.
type textReader struct {
	script
	decoder
	afterCR bool
	unknown int  // number of escapes that V8 does not write
	comma   bool // there is one that is not escaped
}

// Line ends of JavaScript beside \n and \r [String::CalculateLineEnds of src/objects/string.cc].
const (
	lineSeparator      = 0x2028
	paragraphSeparator = 0x2029
)

func (t *textReader) add(part []byte) {
	t.comma = t.comma || bytes.IndexByte(part, ',') >= 0
	t.decode(part, t.run, t.one)
}

// run adds n characters that end no line.
func (t *textReader) run(n int) {
	t.endCR()
	t.units += int64(n)
}

// one adds the character of an escape.
func (t *textReader) one(unit uint16, ok bool) {
	if !ok {
		t.unknown++
	}
	if unit != '\n' {
		t.endCR()
	}
	t.afterCR = unit == '\r'
	t.units++
	switch unit {
	case '\n', lineSeparator, paragraphSeparator:
		t.begin()
	}
}

// endCR ends the line of a \r without \n.
func (t *textReader) endCR() {
	if t.afterCR {
		t.afterCR = false
		t.begin()
	}
}

// begin begins a line at the current unit. Offsets in logs have 31 bits.
func (t *textReader) begin() {
	if t.units <= math.MaxInt32 {
		t.starts = append(t.starts, uint32(t.units))
	}
}

// finish returns the script.
func (t *textReader) finish() script {
	t.endCR()
	if len(t.escape) > 0 {
		t.unknown++
	}
	t.starts = slices.Clip(t.starts)
	return t.script
}

// position returns line and column, both from 1, of a unit in the text.
func (s *script) position(unit int64) (line, column int64) {
	i, found := slices.BinarySearch(s.starts, uint32(unit))
	if found { // the start of line i+2
		return int64(i) + 2, 1
	}
	start := int64(0)
	if i > 0 {
		start = int64(s.starts[i-1])
	}
	return int64(i) + 1, unit - start + 1
}

// isAt reports whether a unit is at line and column of the script's file.
func (s *script) isAt(unit, line, column int64) bool {
	l, c := s.position(unit)
	if !s.placed && line >= l {
		s.placed, s.line = true, line-l
	}
	if l == 1 && !s.indented && column >= c {
		s.indented, s.column = true, column-c
	}
	if l == 1 {
		c += s.column
	}
	return line == l+s.line && column == c
}
