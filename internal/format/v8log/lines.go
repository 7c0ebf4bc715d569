package v8log

import (
	"bytes"
	"hash/maphash"
	"math"
	"slices"
)

// Lines are the starts of the lines of a text.
type Lines struct {
	Units  int64  // length of the text in UTF-16 code units
	Digest uint64 // hash of the escaped text, the same for equal texts while the process runs

	starts []uint32 // in code units of the script; at least one
}

// Bytes returns how much memory the lines need, in bytes.
func (l *Lines) Bytes() int { return 4 * cap(l.starts) }

// Count returns the number of lines, 1 or more.
func (l *Lines) Count() int { return len(l.starts) }

// Position returns the line and the column, both from 1, of a code unit. ok is false for units
// after the end of the text.
func (l *Lines) Position(unit int32) (line, column uint32, ok bool) {
	if unit < 0 || int64(unit) > l.Units {
		return 0, 0, false
	}
	u := uint32(unit)
	n, found := slices.BinarySearch(l.starts, u)
	if found {
		n++
	}
	return uint32(n), u - l.starts[n-1] + 1, true
}

// A linesOf counts the code units of an escaped text, and finds its lines. Lines end as V8 counts
// them: with LF, CR, CR LF, U+2028 or U+2029 [String::CalculateLineEnds of src/objects/string.cc].
type linesOf struct {
	bad int // number of unknown escapes

	lines   Lines
	unit    int64 // of the script
	escape  []byte
	afterCR bool // the last unit was CR
	digest  maphash.Hash
	spare   [6]byte
}

// Line ends beside LF.
const (
	carriageReturn     = '\r'
	lineSeparator      = 0x2028
	paragraphSeparator = 0x2029
)

// textSeed is random, so that no author of a log can make two texts with one digest.
var textSeed = maphash.MakeSeed()

func newLinesOf() *linesOf {
	t := &linesOf{lines: Lines{starts: []uint32{0}}}
	t.digest.SetSeed(textSeed)
	return t
}

// add adds a part of the escaped text.
func (t *linesOf) add(part []byte) {
	t.digest.Write(part)
	for len(part) > 0 {
		if len(t.escape) == 0 {
			i := bytes.IndexByte(part, '\\')
			if i < 0 {
				i = len(part)
			}
			if i > 0 {
				t.plain(int64(i))
			}
			if part = part[i:]; len(part) == 0 {
				return
			}
			t.escape = t.spare[:0]
		}
		t.escape = append(t.escape, part[0])
		part = part[1:]
		if unit, size, known := unescape(t.escape); size > 0 {
			if !known {
				t.bad++
			}
			t.escape = t.escape[:0]
			t.one(unit)
		}
	}
}

// plain adds n units that end no line.
func (t *linesOf) plain(n int64) {
	if t.afterCR {
		t.endLine()
	}
	t.unit += n
}

// one adds a unit.
func (t *linesOf) one(unit uint16) {
	if t.afterCR && unit != '\n' {
		t.endLine()
	}
	t.unit++
	switch unit {
	case '\n', lineSeparator, paragraphSeparator:
		t.endLine()
	case carriageReturn:
		t.afterCR = true
	}
}

// maxLines bounds the lines of a text. Their starts need 32 MB.
const maxLines = 8 << 20

// endLine ends the line with the last unit. Offsets in V8's logs have 31 bits, so later lines are not
// needed.
func (t *linesOf) endLine() {
	t.afterCR = false
	if t.unit <= math.MaxInt32 && len(t.lines.starts) <= maxLines {
		t.lines.starts = append(t.lines.starts, uint32(t.unit))
	}
}

// finish returns the lines of the whole text.
func (t *linesOf) finish() *Lines {
	if t.afterCR {
		t.endLine()
	}
	if len(t.escape) > 0 {
		t.bad++
	}
	t.lines.Units, t.lines.Digest = t.unit, t.digest.Sum64()
	l := t.lines
	return &l
}
