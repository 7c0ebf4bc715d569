package dwarfgen

import "fmt"

// Operations of expressions [7.7.1] that rows need. None jumps: readers of tables from other
// sources may reject expressions that might not end.
const (
	opDeref   = 0x06
	opConst4u = 0x0c
	opDup     = 0x12
	opOver    = 0x14
	opAnd     = 0x1a
	opMinus   = 0x1c
	opMul     = 0x1e
	opPlus    = 0x22
	opEQ      = 0x29
	opGE      = 0x2a
	opLE      = 0x2c
	opLit0    = 0x30
	opLit1    = 0x31
	opBreg0   = 0x70
)

// storedCFA writes the expression of a stored CFA: base + d*(d >= 0 & d <= Max). base is Reg plus
// Offset, and d the distance from base up to the stored word. Comparisons are signed.
func (f *Frames) storedCFA(cfa CFA) {
	w := &f.w
	f.expression(func() {
		f.breg(cfa.Reg, cfa.Stored)
		w.U8(opDeref)
		f.breg(cfa.Reg, cfa.Offset)
		w.Bytes([]byte{opMinus, opDup, opLit0, opGE, opOver, opConst4u})
		w.U32(cfa.Max)
		w.Bytes([]byte{opLE, opAnd, opMul})
		f.breg(cfa.Reg, cfa.Offset)
		w.U8(opPlus)
	})
}

// markedCFA writes the expression of a CFA with a mark.
func (f *Frames) markedCFA(cfa CFA) {
	w, m := &f.w, cfa.Marked
	f.expression(func() {
		f.breg(m.Reg, m.Zero)
		w.Bytes([]byte{opDeref, opLit0, opEQ})
		f.breg(m.Reg, m.One)
		w.Bytes([]byte{opDeref, opLit1, opEQ, opAnd})
		f.breg(m.Reg, m.Offset)
		f.breg(cfa.Reg, cfa.Offset)
		w.Bytes([]byte{opMinus, opMul})
		f.breg(cfa.Reg, cfa.Offset)
		w.U8(opPlus)
	})
}

// breg writes an operation that pushes a register plus an offset.
func (f *Frames) breg(reg uint64, offset int64) {
	if reg > 31 {
		f.fail(fmt.Errorf("dwarf: an expression of register %d; there are short operations for 0 to 31", reg))
		return
	}
	f.w.U8(opBreg0 + uint8(reg))
	f.w.Sleb(offset)
}

// expression writes the output of body, preceded by its length, which is below 128 bytes.
func (f *Frames) expression(body func()) {
	at := f.w.Len()
	f.w.U8(0)
	body()
	n := f.w.Len() - at - 1
	if n > 0x7f {
		f.fail(fmt.Errorf("dwarf: an expression of %d bytes", n))
		return
	}
	f.w.Data[at] = uint8(n)
}
