package v8truth

import (
	"slices"
	"unicode/utf16"
)

// A Script is a source text of an isolate.
type Script struct {
	ID  int
	URL string // "<unknown>" of code of eval and of new Function

	rawURL string // as in the log, with escapes
	text   []uint16
	lines  []int // offset of the first unit of each line
}

// Text returns the source.
func (s *Script) Text() string { return string(utf16.Decode(s.text)) }

// setText keeps the text and finds its lines. A line ends after \n, \r, \r\n, U+2028 or U+2029,
// as in V8's String::CalculateLineEnds.
func (s *Script) setText(units []uint16) {
	s.text, s.lines = units, []int{0}
	for i, u := range units {
		switch {
		case u == '\r' && i+1 < len(units) && units[i+1] == '\n':
		case u == '\n', u == '\r', u == 0x2028, u == 0x2029:
			s.lines = append(s.lines, i+1)
		}
	}
}

// Place returns the line and the column, both from 1, of an offset in UTF-16 units. Both are 0
// if the text is unknown or the offset is not in it.
func (s *Script) Place(offset int) (line, column int) {
	if s == nil || s.lines == nil || offset < 0 || offset > len(s.text) {
		return 0, 0
	}
	i, ok := slices.BinarySearch(s.lines, offset)
	if !ok {
		i--
	}
	return i + 1, offset - s.lines[i] + 1
}
