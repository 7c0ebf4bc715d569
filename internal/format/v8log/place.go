package v8log

import (
	"bytes"
	"strconv"
)

// A Placement is where the text of a script lies in its file. Scripts inside other files, such as pages, begin at another
// line of these.
type Placement struct {
	Lines        *Lines
	Line, Column uint32 // added to lines, and to columns of the first line

	placed, indented bool // Line and Column are known
}

// Begins reports whether a function that begins at a code unit may be at line and column of the
// file, or 0 if its place is unknown. The first functions prove where the script begins in the file.
func (p *Placement) Begins(start int32, line, column uint32) bool {
	if line == 0 || column == 0 {
		return true
	}
	l, c, ok := p.Lines.Position(start)
	if !ok || line < l || l == 1 && column < c {
		return false
	}
	if !p.placed {
		p.placed, p.Line = true, line-l
	}
	if l == 1 && !p.indented {
		p.indented, p.Column = true, column-c
	}
	if l == 1 {
		c += p.Column
	}
	return line == l+p.Line && column == c
}

// Position returns the line and the column of a code unit in the script's file, from 1, or 0.
func (p *Placement) Position(unit int32) (line, column uint32) {
	line, column, ok := p.Lines.Position(unit)
	if !ok {
		return 0, 0
	}
	if line == 1 {
		column += p.Column
	}
	return line + p.Line, column
}

// CutPlace removes ":LINE:COLUMN" from the end of a name of code.
func CutPlace(name []byte) (before []byte, line, column uint32, ok bool) {
	var numbers [2]uint32
	for i := range numbers {
		colon := bytes.LastIndexByte(name, ':')
		if colon < 0 {
			return nil, 0, 0, false
		}
		n, err := strconv.ParseUint(string(name[colon+1:]), 10, 32)
		if err != nil {
			return nil, 0, 0, false
		}
		name, numbers[i] = name[:colon], uint32(n)
	}
	return name, numbers[1], numbers[0], true
}
