package v8log

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math"
	"sort"
)

// Lines are the starts of the lines of a text. They need about a byte and a half for each line.
type Lines struct {
	Units  int64  // length of the text in UTF-16 code units
	Digest uint64 // hash of the escaped text, the same for equal texts while the process runs

	marks  []lineMark // of every markEvery-th line
	deltas []byte     // length of each line, with its end, as uvarints
}

// A lineMark is the start of a line.
type lineMark struct {
	unit uint32 // of the script
	at   uint32 // index of the line's length in deltas
}

// markEvery is the number of lines from one mark to the next.
const markEvery = 32

// Bytes returns how much memory the lines need, in bytes.
func (l *Lines) Bytes() int { return cap(l.deltas) + 8*cap(l.marks) }

// Count returns the number of lines, 1 or more.
func (l *Lines) Count() int {
	n := (len(l.marks) - 1) * markEvery
	for rest := l.deltas[l.marks[len(l.marks)-1].at:]; len(rest) > 0; n++ {
		_, size := binary.Uvarint(rest)
		rest = rest[size:]
	}
	return n
}

// Position returns the line and the column, both from 1, of a code unit. ok is false for units
// after the end of the text.
func (l *Lines) Position(unit int32) (line, column uint32, ok bool) {
	if unit < 0 || int64(unit) > l.Units {
		return 0, 0, false
	}
	u := uint32(unit)
	i := sort.Search(len(l.marks), func(i int) bool { return l.marks[i].unit > u }) - 1
	start, at := l.marks[i].unit, int(l.marks[i].at)
	line = uint32(i)*markEvery + 1
	for at < len(l.deltas) {
		n, size := binary.Uvarint(l.deltas[at:])
		if uint64(u-start) < n {
			break
		}
		start, at = start+uint32(n), at+size
		line++
	}
	return line, u - start + 1, true
}

// A linesOf counts the code units of an escaped text, and finds its lines. Lines end as V8 counts
// them: with LF, CR, CR LF, U+2028 or U+2029 [String::CalculateLineEnds of src/objects/string.cc].
type linesOf struct {
	bad int // number of unknown escapes

	lines   Lines
	unit    int64 // of the script
	start   int64 // unit where the line starts
	count   int   // number of lines
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
	t := new(linesOf)
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

// endLine ends the line with the last unit.
func (t *linesOf) endLine() {
	t.afterCR = false
	t.line()
}

// maxLines bounds the lines of a text. Their starts need some 10 MB.
const maxLines = 8 << 20

// line records a line up to the current unit. Offsets in V8's logs have 31 bits, so later lines are
// not needed.
func (t *linesOf) line() {
	if t.unit > math.MaxInt32 || t.count > maxLines {
		return
	}
	if t.count%markEvery == 0 {
		t.lines.marks = append(t.lines.marks, lineMark{uint32(t.start), uint32(len(t.lines.deltas))})
	}
	t.lines.deltas = binary.AppendUvarint(t.lines.deltas, uint64(t.unit-t.start))
	t.count++
	t.start = t.unit
}

// finish returns the lines of the whole text.
func (t *linesOf) finish() *Lines {
	if t.afterCR {
		t.endLine()
	}
	if len(t.escape) > 0 {
		t.bad++
	}
	t.unit++ // the last line holds the end of the text
	t.line()
	t.lines.Units, t.lines.Digest = t.unit-1, t.digest.Sum64()
	if len(t.lines.marks) == 0 { // the first line is too long
		t.lines.marks = append(t.lines.marks, lineMark{})
	}
	l := t.lines
	return &l
}
