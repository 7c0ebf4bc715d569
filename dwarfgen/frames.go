package dwarfgen

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// Frames writes .eh_frame: for ranges of code, how an unwinder gets from the
// registers there to those of the caller [6.4; LSB Core 10.6.1]. Reset comes before
// first use, and empties it without giving up its memory.
//
// Common Information Entries (CIE) hold what several functions have in common,
// Frame Description Entries (FDE) are about one range of code each. Addresses in
// them are relative to where they stand, so the place of the section counts.
type Frames struct {
	w        wire.Buffer
	addr     uint64 // of the section
	addrSize int
	cies     []placedCIE
	fdes     []FrameEntry
	state    rules
	err      error
}

type placedCIE struct {
	CIE
	at      int   // offset in the section
	initial rules // that Initial leads to
}

// A CIEID names a CIE of the Frames it was added to.
type CIEID int

// A CIE holds what several FDEs have in common.
type CIE struct {
	CodeAlign uint64 // bytes: distances between instructions are multiples of it; not 0
	DataAlign int64  // bytes: offsets of saved registers are multiples of it; mostly negative, not 0
	ReturnReg uint64 // the column of the return address: a DWARF register number, or one beyond them; up to 255
	Signal    bool   // it is about frames of signal handlers, augmentation "S"

	Initial      FrameRow // what holds where a function starts; its Offset means nothing
	Instructions []byte   // the same as call frame instructions; if not nil, Initial is not used
}

// An FDE is about the code in [Low, High).
type FDE struct {
	Low, High    uint64     // addresses in the memory image
	Rows         []FrameRow // in the order of their offsets, the first at 0 or taken for it
	Instructions []byte     // the same as call frame instructions; if not nil, Rows are not used
}

// A FrameRow says what holds from one instruction on, up to the next row or the
// end: where the Canonical Frame Address (CFA) is, which is the stack pointer of the
// caller before its call, and which registers of the caller are kept where.
type FrameRow struct {
	Offset uint64 // from the start of the FDE's code, in bytes
	CFA    CFA
	Saved  []SavedReg // each register once; all others still hold what they held in the caller
}

// A CFA is a register and a number to be added to it. If Stored is not 0, the CFA is the
// word in memory at Reg plus Stored, where that is at least Reg plus Offset and at most Max
// bytes above; elsewhere it is Reg plus Offset. Such a CFA is an expression, of breg
// operations: Reg is below 32 then.
type CFA struct {
	Reg    uint64 // DWARF register number
	Offset int64  // bytes; a negative one is a multiple of the CIE's DataAlign
	Stored int64  // bytes; 0 for a CFA that is Reg plus Offset everywhere
	Max    uint32 // bytes; without Stored, not used
}

// A SavedReg says that a register of the caller is in memory at the CFA plus
// Offset, or that it is gone. If Direct is set, it is in memory at the register Base plus
// Offset, wherever the CFA is; Base is below 32 then.
type SavedReg struct {
	Reg    uint64 // DWARF register number
	Offset int64  // bytes; a multiple of the CIE's DataAlign unless Direct is set
	Lost   bool   // its value is gone; the fields below are not used, nor is Offset
	Direct bool
	Base   uint64 // DWARF register number; without Direct, not used
}

// Pointer encodings [LSB Core 10.5.1].
const (
	peUdata4  = 0x03
	peSdata4  = 0x0b
	pePCRel   = 0x10
	peDataRel = 0x30
)

// Reset empties f. The section will be at addr.
func (f *Frames) Reset(order binary.ByteOrder, addrSize int, addr uint64) {
	f.w.Reset(order)
	f.addr, f.addrSize = addr, addrSize
	f.cies, f.fdes, f.err = f.cies[:0], f.fdes[:0], nil
}

// AddCIE adds a CIE.
func (f *Frames) AddCIE(c CIE) CIEID {
	placed := placedCIE{CIE: c, at: f.w.Len()}
	f.entry(func() {
		w := &f.w
		w.U32(0) // CIE id
		w.U8(1)  // version
		if c.Signal {
			w.CString("zRS")
		} else {
			w.CString("zR")
		}
		w.Uleb(c.CodeAlign)
		w.Sleb(c.DataAlign)
		if c.ReturnReg > math.MaxUint8 {
			f.fail(fmt.Errorf("dwarf: return address in column %d; version 1 of .eh_frame has one byte for it", c.ReturnReg))
		}
		w.U8(uint8(c.ReturnReg))
		w.Uleb(1) // bytes of augmentation data
		w.U8(pePCRel | peSdata4)
		if c.Instructions != nil {
			w.Bytes(c.Instructions)
			return
		}
		placed.initial.reset(nil)
		f.row(&placed.CIE, &placed.initial, nil, &c.Initial)
	})
	f.cies = append(f.cies, placed)
	return CIEID(len(f.cies) - 1)
}

// AddFDE adds an FDE.
func (f *Frames) AddFDE(id CIEID, d FDE) {
	cie := &f.cies[id]
	f.fdes = append(f.fdes, FrameEntry{PC: d.Low, FDE: f.addr + uint64(f.w.Len())})
	f.entry(func() {
		w := &f.w
		w.U32(uint32(w.Len() - cie.at)) // back from here
		f.fail(displacement(w, d.Low, f.addr+uint64(w.Len())))
		if d.High < d.Low || d.High-d.Low > math.MaxInt32 {
			f.fail(fmt.Errorf("dwarf: an FDE from %#x to %#x", d.Low, d.High))
		}
		w.U32(uint32(d.High - d.Low))
		w.Uleb(0) // no augmentation data
		if d.Instructions != nil {
			w.Bytes(d.Instructions)
			return
		}
		f.state.reset(&cie.initial)
		at := uint64(0)
		for i := range d.Rows {
			row := &d.Rows[i]
			if i > 0 {
				f.advance(cie, row.Offset-at)
				at = row.Offset
			}
			f.row(&cie.CIE, &f.state, &cie.initial, row)
		}
	})
}

// entry writes an entry whose body is what body writes. Entries are padded with
// DW_CFA_nop, which is zero, so that addresses in them are aligned [7.24].
func (f *Frames) entry(body func()) {
	at := f.w.Len()
	f.w.Prefixed32(func() {
		body()
		for (f.w.Len()-at)%f.addrSize != 0 {
			f.w.U8(0)
		}
	})
}

// Section returns the section, ended by a terminator. It aliases memory of f until
// Reset, which has to come before more is added.
func (f *Frames) Section() (Section, error) {
	f.w.U32(0)
	f.fail(f.w.Err())
	return Section{".eh_frame", f.w.Data}, f.err
}

// Entries returns where the FDEs are, for AppendFrameHeader, in the order in which
// they were added. They are valid until Reset.
func (f *Frames) Entries() []FrameEntry { return f.fdes }

func (f *Frames) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// displacement appends the way from one address to another in four bytes.
func displacement(w *wire.Buffer, to, from uint64) error {
	d := int64(to - from)
	w.U32(uint32(d))
	if d != int64(int32(d)) {
		return fmt.Errorf("dwarf: from %#x to %#x is more than 32 bits can say", from, to)
	}
	return nil
}
