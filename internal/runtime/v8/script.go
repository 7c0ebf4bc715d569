package v8

import "github.com/jitinject/jitinject/internal/format/v8log"

// A script is a source text.
type script struct {
	url    string
	logged string     // the URL as in the log, with escapes
	text   v8log.Span // in the log
	lines  *v8log.Lines
	number int32 // of the text in the dump's description, or unknown

	// Scripts inside other files, such as pages, begin at another line of these.
	placed, indented bool   // line and column are known
	line, column     uint32 // added to lines, and to columns of the first line
}

// begins reports whether a function that begins at a code unit may be at line and column of the
// file, or 0 if its place is unknown. The first functions prove where the script begins in the file.
func (s *script) begins(start int32, line, column uint32) bool {
	if line == 0 || column == 0 {
		return true
	}
	l, c, ok := s.lines.Position(start)
	if !ok || line < l || l == 1 && column < c {
		return false
	}
	if !s.placed {
		s.placed, s.line = true, line-l
	}
	if l == 1 && !s.indented {
		s.indented, s.column = true, column-c
	}
	if l == 1 {
		c += s.column
	}
	return line == l+s.line && column == c
}

// position returns the line and the column of a code unit in the script's file, from 1, or 0.
func (s *script) position(unit int32) (line, column uint32) {
	line, column, ok := s.lines.Position(unit)
	if !ok {
		return 0, 0
	}
	if line == 1 {
		column += s.column
	}
	return line + s.line, column
}

// A function is a function of a script.
type function struct {
	name   nameRef
	script int32 // index, or unknown
	start  int32 // in code units of the script
}

// A nameRef is the place of a name in the log: its offset, and in the lowest bits its length in
// bytes. Logs have less than 128 TiB.
type nameRef int64

// sizeBits are the bits of the length of a name; no name is longer.
const sizeBits = 16

func newNameRef(off int64, size int) nameRef { return nameRef(off<<sizeBits | int64(size)) }

func (n nameRef) span() v8log.Span {
	return v8log.Span{Off: int64(n >> sizeBits), Size: int64(n & (1<<sizeBits - 1))}
}

// identities are the functions at the addresses of SharedFunctionInfos, at the line that was read
// last. Functions without code were never logged.
type identities map[uint64]int32

// move moves a function. Another one that was there is gone: the collector freed it.
func (m identities) move(from, to uint64) {
	if from == to {
		return
	}
	fn, ok := m[from]
	delete(m, from)
	delete(m, to)
	if ok {
		m[to] = fn
	}
}
