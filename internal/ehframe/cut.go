package ehframe

import (
	"encoding/binary"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/wire"
)

// A Span is the code from offset From up to To in a function, in bytes.
type Span struct{ From, To uint64 }

// Cut returns a table, as [Check] returns it, without rows in spans. Spans must be sorted
// and disjoint. It splits FDEs there. If an FDE cannot be split because its advances cannot
// express a span's bounds, ok is false, and Cut returns the table itself.
//
// V8's TurboFan describes the end of a function as if ret followed pop rbp. With more
// arguments than parameters, it pops the return address first, drops the arguments, and
// pushes it again: the rows there are false. (AssembleReturn in V8's
// src/compiler/backend/x64/code-generator-x64.cc; node 20 to 25 do it.)
func Cut(place Place, table jitcode.FrameTable, spans []Span) (cut jitcode.FrameTable, ok bool) {
	if len(spans) == 0 {
		return table, true
	}
	cut = jitcode.FrameTable{CIEs: table.CIEs, Moved: table.Moved}
	for i := range table.FDEs {
		f := &table.FDEs[i]
		from, end := f.Offset, f.Offset+f.Size
		for _, s := range append(spans[:len(spans):len(spans)], Span{end, end}) {
			if to := min(s.From, end); from < to {
				part, ok := partOf(&place, &table.CIEs[f.CIE], f, from-f.Offset, to-f.Offset)
				if !ok {
					return table, false
				}
				cut.FDEs = append(cut.FDEs, part)
			}
			from = max(from, s.To)
		}
	}
	return cut, true
}

// partOf returns the part of an FDE between two offsets in it.
func partOf(place *Place, cie *jitcode.FrameCIE, f *jitcode.FrameFDE, from, to uint64) (part jitcode.FrameFDE, ok bool) {
	part = jitcode.FrameFDE{CIE: f.CIE, Offset: f.Offset + from, Size: to - from}
	format, common := place.format(), commonPart(cie)
	c := wire.NewCursor(".eh_frame", "FDE", f.Instructions, place.Order, 0)
	begin, pos := 0, uint64(0) // of an instruction, and of the row it is about
	at := from                 // offset of part's instructions
	for i := range format.Instructions(&common, &c) {
		if pos += i.Delta; pos >= to {
			break
		}
		if i.Delta == 0 {
			part.Instructions = append(part.Instructions, f.Instructions[begin:c.Pos()]...)
		} else if pos > at {
			if (pos-at)%cie.CodeAlign != 0 {
				return part, false
			}
			part.Instructions = appendAdvance(part.Instructions, place.Order, (pos-at)/cie.CodeAlign)
			at = pos
		}
		begin = c.Pos()
	}
	return part, c.Err() == nil
}

// appendAdvance appends the shortest instruction that advances by delta [DWARF5 6.4.2.1].
func appendAdvance(b []byte, order binary.ByteOrder, delta uint64) []byte {
	wide := make([]byte, 4)
	switch {
	case delta < 1<<6:
		return append(b, 0x40|byte(delta))
	case delta < 1<<8:
		return append(b, 0x02, byte(delta))
	case delta < 1<<16:
		order.PutUint16(wide, uint16(delta))
		return append(append(b, 0x03), wide[:2]...)
	}
	order.PutUint32(wide, uint32(delta))
	return append(append(b, 0x04), wide...)
}
