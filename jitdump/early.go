package jitdump

import (
	"bytes"

	"github.com/jitinject/jitinject/internal/wire"
)

// An EarlyDebugInfo is another form of debug information, with Tier's id. A development branch of
// samply reads it (support-inlines, March 2026). Readers convert it to a DebugInfo2. Its columns
// count from 1, and 0 is unknown. A DebugInfo2 counts from 0, and NoColumn is unknown.
type EarlyDebugInfo struct {
	CodeAddr  uint64 `show:"code_addr,addr"` // of the function
	Offsets   []EarlyOffset
	Positions []EarlyPosition
	Strings   [][]byte
	Extra     []byte

	at int64 // of Offsets in the file
}

// An EarlyOffset gives the position of code from Code on.
type EarlyOffset struct {
	Code     uint32 // from the start of the function, in bytes
	Position uint32 // index into Positions
}

// An EarlyPosition is a place in the source, with the call stack that led there.
type EarlyPosition struct {
	Caller                 int32  // index of a position, or -1
	Function               uint32 // index into Strings
	File                   int32  // index into Strings, or -1
	StartLine, StartColumn uint32 // start of the function; both from 1, 0 if unknown
	Line, Column           uint32 // of the position; both from 1, 0 if unknown
}

const (
	earlyHead         = 4 * 8
	earlyOffsetSize   = 2 * 4
	earlyPositionSize = 7 * 4
)

// IsEarlyDebugInfo reports whether the record is an EarlyDebugInfo and no Tier: all its sizes are
// consistent.
func (r *Raw) IsEarlyDebugInfo() bool {
	if r.ID != IDTier || len(r.Body) < earlyHead {
		return false
	}
	offsets, positions, strings := r.Order.Uint64(r.Body[8:]), r.Order.Uint64(r.Body[16:]), r.Order.Uint64(r.Body[24:])
	n := uint64(len(r.Body))
	if offsets > n || positions > n || strings > n {
		return false
	}
	at := earlyHead + offsets*earlyOffsetSize + positions*earlyPositionSize
	if at > n {
		return false
	}
	area := r.Body[at:]
	for range strings {
		end := bytes.IndexByte(area, 0)
		if end < 0 {
			return false
		}
		area = area[end+1:]
	}
	return len(area) <= 7 && allZero(area)
}

// EarlyDebugInfo decodes a record for which IsEarlyDebugInfo is true.
func (r *Raw) EarlyDebugInfo() (EarlyDebugInfo, error) {
	c := r.cursor()
	e := EarlyDebugInfo{CodeAddr: c.U64("code_addr")}
	offsets, positions, strings := c.U64("offset_count"), c.U64("position_count"), c.U64("string_count")
	e.at = c.Offset()
	if !r.IsEarlyDebugInfo() {
		c.Fail("", "its sizes do not add up")
		return e, c.Err()
	}
	for range offsets {
		e.Offsets = append(e.Offsets, EarlyOffset{Code: c.U32("code_offset"), Position: c.U32("position")})
	}
	for range positions {
		e.Positions = append(e.Positions, EarlyPosition{
			Caller: int32(c.U32("caller")), Function: c.U32("function"), File: int32(c.U32("file")),
			StartLine: c.U32("start_line"), StartColumn: c.U32("start_column"), Line: c.U32("line"), Column: c.U32("column"),
		})
	}
	for range strings {
		e.Strings = append(e.Strings, c.CString("string"))
	}
	e.Extra = c.Rest()
	return e, c.Err()
}

func (e *EarlyDebugInfo) id() RecordID { return IDTier }
func (e *EarlyDebugInfo) size() int {
	n := earlyHead + earlyOffsetSize*len(e.Offsets) + earlyPositionSize*len(e.Positions) + len(e.Extra)
	for _, s := range e.Strings {
		n += len(s) + 1
	}
	return n
}

func (e *EarlyDebugInfo) append(b *wire.Buffer) {
	b.U64(e.CodeAddr)
	b.U64(uint64(len(e.Offsets)))
	b.U64(uint64(len(e.Positions)))
	b.U64(uint64(len(e.Strings)))
	for _, o := range e.Offsets {
		b.U32(o.Code)
		b.U32(o.Position)
	}
	for _, p := range e.Positions {
		b.U32(uint32(p.Caller))
		b.U32(p.Function)
		b.U32(uint32(p.File))
		b.U32(p.StartLine)
		b.U32(p.StartColumn)
		b.U32(p.Line)
		b.U32(p.Column)
	}
	for _, s := range e.Strings {
		b.Bytes(s)
		b.U8(0)
	}
	b.Bytes(e.Extra)
}

// DebugInfo2 returns e in the current form, for a function of size bytes. The error is an *Error
// about a missing position or string, about a cycle of calls, or about code out of order. With an
// error, the record has no calls, and only the valid lines.
func (e *EarlyDebugInfo) DebugInfo2(size uint64) (*DebugInfo2, error) {
	t := earlyTree{EarlyDebugInfo: e, state: make([]earlyState, len(e.Positions)), calls: make(map[earlyCall]CallID)}
	err := t.build(size)
	if err == nil {
		var d *DebugInfo2
		if d, err = t.builder.Record(uint32(size)); err == nil {
			return d, nil
		}
	}
	return e.lines(), err
}

// lines returns a record with lines only.
func (e *EarlyDebugInfo) lines() *DebugInfo2 {
	d := &DebugInfo2{Files: append([][]byte{nil}, e.Strings...)}
	for _, o := range e.Offsets {
		l := SourceLine{Offset: o.Code} // of the file without a name, unless a better one is known
		if uint64(o.Position) < uint64(len(e.Positions)) {
			if p := &e.Positions[o.Position]; p.File >= 0 && int(p.File) < len(e.Strings) {
				l.File, l.Line, l.Column = uint32(p.File)+1, p.Line, fromZero(p.Column)
			}
		}
		d.Lines = append(d.Lines, l)
	}
	return d
}
