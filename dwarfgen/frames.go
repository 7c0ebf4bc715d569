package dwarfgen

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// Frames writes .eh_frame: the rules for unwinding ranges of code [6.4; LSB Core 10.6.1]. It has to
// be Reset before first use. Reset empties it and keeps its memory.
//
// A Common Information Entry (CIE) is the common part of several functions. A Frame Description
// Entry (FDE) describes one range of code. Their addresses are relative to their own place, so the
// address of the section matters.
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
	initial rules // rules after Initial
}

// A CIEID identifies a CIE of its Frames.
type CIEID int

// A CIE is the common part of several FDEs.
type CIE struct {
	CodeAlign uint64 // bytes: distances between instructions are multiples of it; not 0
	DataAlign int64  // bytes: offsets of saved registers are multiples of it; mostly negative, not 0
	ReturnReg uint64 // the column of the return address: a DWARF register number, or one beyond them; up to 255
	Signal    bool   // it describes frames of signal handlers, augmentation "S"

	Initial      FrameRow // row at the start of a function; its Offset is not used
	Instructions []byte   // Initial as call frame instructions; if not nil, Initial is not used
}

// An FDE describes the code in [Low, High).
type FDE struct {
	Low, High    uint64     // addresses in the memory image
	Rows         []FrameRow // sorted by offset; the first counts as 0
	Instructions []byte     // Rows as call frame instructions; if not nil, Rows are not used
}

// A FrameRow has the rules from one instruction on, up to the next row or the end. They give the
// Canonical Frame Address (CFA), which is the caller's stack pointer before its call, and the
// places of the caller's registers.
type FrameRow struct {
	Offset uint64 // from the start of the FDE's code, in bytes
	CFA    CFA
	Saved  []SavedReg // each register once; all others have the caller's values
}

// A CFA is a register plus an offset. If Stored is not 0, the word at Reg plus Stored has the CFA.
// The word is valid if it is at least Reg plus Offset and at most Max bytes above. Otherwise the
// CFA is Reg plus Offset. Such a CFA is an expression with breg operations: Reg is below 32 then.
type CFA struct {
	Reg    uint64 // DWARF register number
	Offset int64  // bytes; a negative one is a multiple of the CIE's DataAlign
	Stored int64  // bytes; 0 if the CFA is always Reg plus Offset
	Max    uint32 // bytes; without Stored, not used
	Marked Marked
}

// A Marked CFA is Reg plus Offset if the word at Reg plus Zero is 0, and that at Reg plus One is 1.
// Otherwise it is the rest of its CFA, without Stored. Registers are below 32. The zero Marked says
// nothing.
type Marked struct {
	Reg               uint64 // DWARF register number
	Offset, Zero, One int64  // bytes; Offset is 0 in the zero Marked only
}

// A SavedReg is the place of a caller's register: in memory at the CFA plus Offset, or lost. If
// Direct is set, it is in memory at the register Base plus Offset, independent of the CFA. Base is
// below 32 then.
type SavedReg struct {
	Reg    uint64 // DWARF register number
	Offset int64  // bytes; a multiple of the CIE's DataAlign unless Direct is set
	Lost   bool   // its value is lost; Offset and the fields below are not used
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

// AddCIE adds a CIE and returns its id.
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
		w.U32(uint32(w.Len() - cie.at)) // distance back from here
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

// entry writes an entry with the output of body. Entries are padded with DW_CFA_nop, which is zero,
// so that addresses in them are aligned [7.24].
func (f *Frames) entry(body func()) {
	at := f.w.Len()
	f.w.Prefixed32(func() {
		body()
		for (f.w.Len()-at)%f.addrSize != 0 {
			f.w.U8(0)
		}
	})
}

// Section returns the section, ended by a terminator. It aliases memory of f until Reset. Nothing
// can be added before Reset.
func (f *Frames) Section() (Section, error) {
	f.w.U32(0)
	f.fail(f.w.Err())
	return Section{".eh_frame", f.w.Data}, f.err
}

// Entries returns the addresses of the FDEs, for AppendFrameHeader, in the order of their addition.
// They are valid until Reset.
func (f *Frames) Entries() []FrameEntry { return f.fdes }

func (f *Frames) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// displacement appends the distance from one address to another in four bytes.
func displacement(w *wire.Buffer, to, from uint64) error {
	d := int64(to - from)
	w.U32(uint32(d))
	if d != int64(int32(d)) {
		return fmt.Errorf("dwarf: from %#x to %#x is more than 32 bits can say", from, to)
	}
	return nil
}
