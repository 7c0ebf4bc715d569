package dwarfgen

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/wire"
)

// A FrameEntry is the address of the FDE for the code from PC on.
type FrameEntry struct {
	PC  uint64 // address of the code's first byte
	FDE uint64 // address of the FDE in the memory image
}

// FrameHeaderSize returns the length of an .eh_frame_hdr for n FDEs, in bytes. Callers need it to
// place the header before the .eh_frame, because it has the address of that.
func FrameHeaderSize(n int) int { return 12 + 8*n }

// AppendFrameHeader appends to dst the .eh_frame_hdr for the address addr, and for an .eh_frame at
// frames. It has a sorted table of FDEs [LSB Core 10.6.2]. AppendFrameHeader sorts entries.
func AppendFrameHeader(dst []byte, order binary.ByteOrder, addr, frames uint64, entries []FrameEntry) (Section, error) {
	sorting.By(entries, func(a, b FrameEntry) int { return cmp.Compare(a.PC, b.PC) })
	w, at := wire.AppendTo(dst, order), len(dst)
	w.U8(1)                  // version
	w.U8(pePCRel | peSdata4) // of the pointer to .eh_frame
	w.U8(peUdata4)           // of the count
	w.U8(peDataRel | peSdata4)
	if uint64(len(entries)) > math.MaxUint32 {
		return Section{}, fmt.Errorf("dwarf: %d FDEs", len(entries))
	}
	err := displacement(w, frames, addr+4)
	w.U32(uint32(len(entries)))
	for _, e := range entries {
		for _, to := range []uint64{e.PC, e.FDE} {
			if e := displacement(w, to, addr); err == nil {
				err = e
			}
		}
	}
	return Section{".eh_frame_hdr", w.Data[at:]}, err
}

// A FramesPart has the content of a Frames, to be joined with that of others.
type FramesPart struct {
	Data    []byte       // CIEs and FDEs, without a terminator
	Entries []FrameEntry // of the FDEs
	order   binary.ByteOrder
	addr    uint64
}

// Part returns the content of f, and empties f. They share no memory. The part takes over the
// memory of spare, which may be nil or a part that is no longer needed.
func (f *Frames) Part(spare *FramesPart) (*FramesPart, error) {
	f.fail(f.w.Err())
	if f.err != nil {
		return nil, f.err
	}
	p := cmp.Or(spare, new(FramesPart))
	p.Data, p.Entries = append(p.Data[:0], f.w.Data...), append(p.Entries[:0], f.fdes...)
	p.order, p.addr = f.w.Order(), f.addr
	f.Reset(p.order, f.addrSize, f.addr)
	return p, nil
}

// pcField is the offset of the code's address in an FDE: after length and CIE pointer.
const pcField = 8

// MoveTo moves the frames to another address. The code stays where it is.
func (p *FramesPart) MoveTo(addr uint64) error {
	var w wire.Buffer
	for i := range p.Entries {
		e := &p.Entries[i]
		at := e.FDE - p.addr + pcField
		w.Reset(p.order)
		if err := displacement(&w, e.PC, addr+at); err != nil {
			return err
		}
		copy(p.Data[at:], w.Data)
		e.FDE += addr - p.addr
	}
	p.addr = addr
	return nil
}

// FramesEnd ends an .eh_frame that consists of parts [LSB Core 10.6.1].
var FramesEnd = make([]byte, 4)

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
