package ehframe

import (
	"encoding/binary"

	"github.com/jitinject/jitinject/internal/wire"
)

// A CFA is the Canonical Frame Address of a row: a register plus an offset in bytes.
type CFA struct {
	Reg    uint64 // DWARF number
	Offset int64
}

// A program is the call frame instructions of a CIE or an FDE, with what they need from the CIE.
type program struct {
	order                binary.ByteOrder
	codeAlign, dataAlign int64
	initial              []byte // of the CIE
	instructions         []byte
}

// CFA returns the CFA at an address of the code. ok is false if it is an expression, or if the table
// has an instruction that depends on the place of the code.
func (f *Entry) CFA(addr uint64) (cfa CFA, ok bool) {
	var remembered []CFA
	var known []bool
	at := f.Low
	for _, part := range [][]byte{f.program.initial, f.program.instructions} {
		e := entryReader{c: wire.NewCursor(".eh_frame", "", part, f.program.order, 0)}
		for e.c.Err() == nil && e.c.Len() > 0 {
			op := e.c.U8("instruction")
			delta := uint64(0)
			switch {
			case op>>6 == 1:
				delta = uint64(op & 0x3f)
			case op>>6 == 2: // offset
				e.uleb()
			case op>>6 == 3, op == 0x00, op == 0x2d: // restore, nop, window_save
			case op == 0x02:
				delta = uint64(e.c.U8("delta"))
			case op == 0x03:
				delta = uint64(e.c.U16("delta"))
			case op == 0x04:
				delta = uint64(e.c.U32("delta"))
			case op == 0x0a:
				remembered, known = append(remembered, cfa), append(known, ok)
			case op == 0x0b:
				last := len(remembered) - 1
				if last < 0 {
					return CFA{}, false
				}
				cfa, ok = remembered[last], known[last]
				remembered, known = remembered[:last], known[:last]
			case op == 0x0c: // def_cfa
				cfa, ok = CFA{e.uleb(), int64(e.uleb())}, true
			case op == 0x0d: // def_cfa_register
				cfa.Reg = e.uleb()
			case op == 0x0e: // def_cfa_offset
				cfa.Offset = int64(e.uleb())
			case op == 0x12: // def_cfa_sf
				cfa, ok = CFA{e.uleb(), e.signed() * f.program.dataAlign}, true
			case op == 0x13: // def_cfa_offset_sf
				cfa.Offset = e.signed() * f.program.dataAlign
			case op == 0x0f: // def_cfa_expression
				e.c.Bytes("expression", e.uleb())
				ok = false
			case op == 0x10, op == 0x16: // expression, val_expression
				e.uleb()
				e.c.Bytes("expression", e.uleb())
			case op == 0x06, op == 0x07, op == 0x08, op == 0x2e: // one operand
				e.uleb()
			case op == 0x05, op == 0x09, op == 0x11, op == 0x14, op == 0x15, op == 0x2f: // two
				e.uleb()
				e.uleb()
			default:
				return CFA{}, false
			}
			if at += delta * uint64(f.program.codeAlign); at > addr {
				return cfa, ok && e.c.Err() == nil
			}
		}
		if e.c.Err() != nil {
			return CFA{}, false
		}
	}
	return cfa, ok
}

// signed reads a signed LEB128 number.
func (e *entryReader) signed() (v int64) {
	for shift := 0; ; shift += 7 {
		b := e.c.U8("sleb128")
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		if b < 0x80 || e.c.Err() != nil {
			if b&0x40 != 0 && shift+7 < 64 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
}
