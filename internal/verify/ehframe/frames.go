package ehframe

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/wire"
)

// Encodings of pointers in .eh_frame and .eh_frame_hdr [LSB Core 10.5.1].
const (
	peAbsptr  = 0x00
	peULEB    = 0x01
	peUdata2  = 0x02
	peUdata4  = 0x03
	peUdata8  = 0x04
	peSLEB    = 0x09
	peSdata2  = 0x0a
	peSdata4  = 0x0b
	peSdata8  = 0x0c
	pePCRel   = 0x10
	peDataRel = 0x30
	peOmit    = 0xff
)

// An Entry is an FDE.
type Entry struct {
	at        uint64 // its address
	Low, High uint64 // of the code it is about
	program   program
}

// A commonEntry is what FDEs need to know of their CIE.
type commonEntry struct {
	encoding byte
	augments bool // FDEs have augmentation data
	program  program
}

// A reader reads an .eh_frame [LSB Core 10.6.1].
type reader struct {
	c        wire.Cursor
	order    binary.ByteOrder
	addrSize int
	at       uint64 // address of the section
	cies     map[uint64]commonEntry
}

// Read returns the FDEs of an .eh_frame at an address, in their order.
func Read(order binary.ByteOrder, addrSize int, data []byte, at uint64) (table []Entry, err error) {
	r := reader{c: wire.NewCursor(".eh_frame", "", data, order, 0), order: order, addrSize: addrSize, at: at, cies: make(map[uint64]commonEntry)}
	for r.c.Len() >= 4 {
		start := uint64(r.c.Pos())
		length := r.c.U32("length")
		if length == 0 {
			if !verify.IsZero(r.c.Rest()) {
				return nil, fmt.Errorf("something follows the end of the table, at %#x", start)
			}
			return table, nil
		}
		if length == 0xffffffff {
			return nil, errors.New("an entry of more than 4 GiB")
		}
		idAt := uint64(r.c.Pos())
		body := r.c.Bytes("length", uint64(length))
		if r.c.Err() != nil || len(body) < 4 {
			return nil, fmt.Errorf("the entry at %#x has %d bytes, more than are left", start, length)
		}
		id := order.Uint32(body)
		e := entryReader{c: wire.NewCursor(".eh_frame", "", body[4:], order, int64(idAt+4)), base: at + idAt + 4, addrSize: addrSize}
		if id == 0 {
			cie, err := e.cie()
			if err != nil {
				return nil, fmt.Errorf("the CIE at %#x: %w", start, err)
			}
			cie.program.order = order
			r.cies[start] = cie
			continue
		}
		cie, ok := r.cies[idAt-uint64(id)]
		if !ok {
			return nil, fmt.Errorf("the FDE at %#x is of a CIE at %#x, where there is none", start, idAt-uint64(id))
		}
		f, err := e.fde(cie)
		if err != nil {
			return nil, fmt.Errorf("the FDE at %#x: %w", start, err)
		}
		f.at = at + start
		table = append(table, f)
	}
	if !verify.IsZero(r.c.Rest()) {
		return nil, errors.New("bytes behind the last entry")
	}
	return table, nil
}

// An entryReader is in the middle of a CIE or FDE.
type entryReader struct {
	c        wire.Cursor
	base     uint64 // address of the cursor's first byte
	addrSize int
}

func (e *entryReader) cie() (cie commonEntry, err error) {
	version := e.c.U8("version")
	augmentation := e.c.CString("augmentation")
	if e.c.Err() == nil && version != 1 && version != 3 {
		return cie, fmt.Errorf("version %d", version)
	}
	cie.program.codeAlign, cie.program.dataAlign = int64(e.uleb()), e.signed()
	if version == 1 {
		e.c.U8("return_register")
	} else {
		e.uleb()
	}
	data := []byte(nil)
	if rest, ok := bytes.CutPrefix(augmentation, []byte("z")); ok {
		cie.augments = true
		n := e.uleb()
		inner := entryReader{base: e.base + uint64(e.c.Pos()), addrSize: e.addrSize}
		data = e.c.Bytes("augmentation data", n)
		inner.c = wire.NewCursor(".eh_frame", "", data, binary.LittleEndian, 0)
		for _, a := range rest {
			switch a {
			case 'R':
				cie.encoding = inner.c.U8("encoding")
			case 'L':
				inner.c.U8("lsda encoding")
			case 'P':
				inner.skipPointer(inner.c.U8("personality encoding"))
			case 'S', 'B', 'G':
			default:
				return cie, fmt.Errorf("augmentation %s", verify.Quoted(augmentation))
			}
		}
		if err := inner.c.Err(); err != nil {
			return cie, errors.New("augmentation data that do not hold what the augmentation says")
		}
	} else if len(augmentation) > 0 {
		return cie, fmt.Errorf("augmentation %s", verify.Quoted(augmentation))
	}
	if e.c.Err() != nil {
		return cie, errors.New("it ends before its fields do")
	}
	instructions := e.c
	cie.program.initial = instructions.Rest()
	return cie, e.instructions()
}

func (e *entryReader) fde(cie commonEntry) (f Entry, err error) {
	f.Low, err = e.pointer(cie.encoding)
	if err != nil {
		return f, err
	}
	size, err := e.pointer(cie.encoding & 0x0f &^ 0x08) // a size has no base and no sign
	if err != nil {
		return f, err
	}
	if f.High = f.Low + size; f.High < f.Low {
		return f, fmt.Errorf("%d bytes of code at %#x", size, f.Low)
	}
	if cie.augments {
		e.c.Bytes("augmentation data", e.uleb())
	}
	if e.c.Err() != nil {
		return f, errors.New("it ends before its fields do")
	}
	instructions := e.c
	f.program = cie.program
	f.program.instructions = instructions.Rest()
	return f, e.instructions()
}

func (e *entryReader) uleb() (v uint64) {
	for shift := 0; ; shift += 7 {
		b := e.c.U8("uleb128")
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b < 0x80 || e.c.Err() != nil {
			return v
		}
	}
}

// skipPointer steps over a pointer.
func (e *entryReader) skipPointer(encoding byte) {
	if encoding != peOmit {
		e.pointer(encoding & 0x0f)
	}
}

// pointer reads an encoded pointer.
func (e *entryReader) pointer(encoding byte) (v uint64, err error) {
	pos := e.base + uint64(e.c.Pos())
	switch encoding & 0x0f {
	case peAbsptr:
		if v = 0; e.addrSize == 8 {
			v = e.c.U64("pointer")
		} else {
			v = uint64(e.c.U32("pointer"))
		}
	case peUdata2:
		v = uint64(e.c.U16("pointer"))
	case peUdata4:
		v = uint64(e.c.U32("pointer"))
	case peUdata8, peSdata8:
		v = e.c.U64("pointer")
	case peSdata2:
		v = uint64(int64(int16(e.c.U16("pointer"))))
	case peSdata4:
		v = uint64(int64(int32(e.c.U32("pointer"))))
	case peULEB, peSLEB:
		v = e.uleb()
	default:
		return 0, fmt.Errorf("pointers in encoding %#x", encoding)
	}
	if e.c.Err() != nil {
		return 0, errors.New("it ends before its fields do")
	}
	switch encoding & 0xf0 {
	case 0:
	case pePCRel:
		v += pos
	default:
		return 0, fmt.Errorf("pointers in encoding %#x", encoding)
	}
	if e.addrSize == 4 {
		v &= 0xffffffff
	}
	return v, nil
}

// instructions walks the rest of an entry: call frame instructions [DWARF5 6.4.2].
func (e *entryReader) instructions() error {
	remembered := 0
	for e.c.Err() == nil && e.c.Len() > 0 {
		op := e.c.U8("instruction")
		switch op >> 6 {
		case 1, 3: // advance_loc, restore
			continue
		case 2: // offset
			e.uleb()
			continue
		}
		switch op {
		case 0x00, 0x2d: // nop; window_save, AARCH64_negate_ra_state
		case 0x0a: // remember_state
			remembered++
		case 0x0b: // restore_state
			if remembered--; remembered < 0 {
				return errors.New("DW_CFA_restore_state without a state that was remembered")
			}
		case 0x01: // set_loc
			e.c.Bytes("address", uint64(e.addrSize))
		case 0x02:
			e.c.U8("delta")
		case 0x03:
			e.c.U16("delta")
		case 0x04:
			e.c.U32("delta")
		case 0x1d: // MIPS_advance_loc8
			e.c.U64("delta")
		case 0x06, 0x07, 0x08, 0x0d, 0x0e, 0x13, 0x2e: // one operand
			e.uleb()
		case 0x05, 0x09, 0x0c, 0x11, 0x12, 0x14, 0x15, 0x2f: // two
			e.uleb()
			e.uleb()
		case 0x0f: // def_cfa_expression
			e.c.Bytes("expression", e.uleb())
		case 0x10, 0x16: // expression, val_expression
			e.uleb()
			e.c.Bytes("expression", e.uleb())
		default:
			return fmt.Errorf("no call frame instruction has number %#x", op)
		}
	}
	if e.c.Err() != nil {
		return errors.New("its call frame instructions end inside one")
	}
	return nil
}
