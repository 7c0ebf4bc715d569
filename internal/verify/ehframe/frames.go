package ehframe

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

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
	peSigned  = 0x08
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
	rows      []cfaRow
}

// A commonEntry is what FDEs need to know of their CIE.
type commonEntry struct {
	encoding  byte
	augments  bool // FDEs have augmentation data
	codeAlign uint64
	dataAlign int64
	returns   uint64  // the register of the return address
	first     state   // after its instructions
	saved     []state // the states that these remembered
}

// A reader reads an .eh_frame [LSB Core 10.6.1].
type reader struct {
	c    wire.Cursor
	cies map[uint64]commonEntry
}

// A Format has what entries depend on.
type Format struct {
	Order    binary.ByteOrder
	AddrSize int         // in bytes
	Machine  elf.Machine // EM_NONE if unknown
}

// Read returns the FDEs of an .eh_frame at an address, sorted by the code they are about.
func Read(format Format, data []byte, at uint64) (table []Entry, err error) {
	if table, err = entries(format, data, at); err != nil {
		return nil, err
	}
	slices.SortStableFunc(table, func(a, b Entry) int { return cmp.Compare(a.Low, b.Low) })
	for i := 1; i < len(table); i++ {
		if table[i-1].High > table[i].Low {
			return nil, fmt.Errorf("FDEs about %#x and %#x overlap", table[i-1].Low, table[i].Low)
		}
	}
	return table, nil
}

// entries returns the FDEs in the order of the section.
func entries(format Format, data []byte, at uint64) (table []Entry, err error) {
	order := format.Order
	r := reader{c: wire.NewCursor(".eh_frame", "", data, order, 0), cies: make(map[uint64]commonEntry)}
	for r.c.Len() >= 4 {
		start := uint64(r.c.Pos())
		length := uint64(r.c.U32("length"))
		if length == 0 {
			if !verify.IsZero(r.c.Rest()) {
				return nil, fmt.Errorf("something follows the end of the table, at %#x", start)
			}
			return table, nil
		}
		if length == math.MaxUint32 {
			length = r.c.U64("extended length") // CIE ids and pointers after it still have 4 bytes
		}
		idAt := uint64(r.c.Pos())
		body := r.c.Bytes("length", length)
		if r.c.Err() != nil {
			return nil, fmt.Errorf("the entry at %#x has %d bytes, more than are left", start, length)
		}
		if len(body) < 4 {
			return nil, fmt.Errorf("the entry at %#x has %d bytes, too few for a CIE id", start, length)
		}
		id := order.Uint32(body)
		e := entryReader{c: wire.NewCursor(".eh_frame", "", body[4:], order, int64(idAt+4)), base: at + idAt + 4, Format: format}
		if id == 0 {
			cie, err := e.cie()
			if err != nil {
				return nil, fmt.Errorf("the CIE at %#x: %w", start, err)
			}
			r.cies[start] = cie
			continue
		}
		cie, ok := r.cies[idAt-uint64(id)]
		if !ok {
			return nil, fmt.Errorf("the FDE at %#x is of a CIE at %#x, where there is none", start, idAt-uint64(id))
		}
		f, err := e.fde(&cie)
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
	Format
	c    wire.Cursor
	base uint64 // address of the cursor's first byte
}

func (e *entryReader) cie() (cie commonEntry, err error) {
	version := e.c.U8("version")
	augmentation := e.c.CString("augmentation")
	if e.c.Err() == nil && version != 1 && version != 3 {
		return cie, fmt.Errorf("version %d", version)
	}
	if rest, ok := bytes.CutPrefix(augmentation, []byte("eh")); ok {
		augmentation = rest
		e.c.Bytes("eh_ptr", uint64(e.AddrSize))
	}
	cie.codeAlign, cie.dataAlign = e.c.Uleb("code_alignment_factor"), e.c.Sleb("data_alignment_factor")
	if version == 1 {
		cie.returns = uint64(e.c.U8("return_register"))
	} else {
		cie.returns = e.c.Uleb("return_register")
	}
	if rest, ok := bytes.CutPrefix(augmentation, []byte("z")); ok {
		cie.augments = true
		data := e.c.Bytes("augmentation data", e.c.Uleb("augmentation length"))
		inner := entryReader{Format: e.Format, c: wire.NewCursor(".eh_frame", "", data, e.Order, 0)}
		for _, a := range rest {
			switch a {
			case 'R':
				cie.encoding = inner.c.U8("encoding")
			case 'L':
				inner.c.U8("lsda encoding")
			case 'P':
				if p := inner.c.U8("personality encoding"); p != peOmit {
					if _, err := inner.pointer(p & 0x0f); err != nil {
						return cie, fmt.Errorf("personality routine: %w", err)
					}
				}
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
	switch {
	case e.c.Err() != nil:
		return cie, errFields
	case cie.codeAlign == 0 || cie.codeAlign > math.MaxUint8:
		return cie, fmt.Errorf("code alignment factor %d", cie.codeAlign)
	case cie.dataAlign == 0 || cie.dataAlign != int64(int8(cie.dataAlign)):
		return cie, fmt.Errorf("data alignment factor %d", cie.dataAlign)
	case cie.returns > math.MaxUint8:
		return cie, fmt.Errorf("return address register %d", cie.returns)
	case cie.encoding&0xf0 != 0 && cie.encoding&0xf0 != pePCRel:
		return cie, fmt.Errorf("pointers in encoding %#x", cie.encoding)
	}
	p, err := e.instructions(&cie, 0)
	cie.first, cie.saved = p.now, p.saved
	return cie, err
}

var errFields = errors.New("it ends before its fields do, or has a number of more than 64 bits")

func (e *entryReader) fde(cie *commonEntry) (f Entry, err error) {
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
		e.c.Bytes("augmentation data", e.c.Uleb("augmentation length"))
	}
	if e.c.Err() != nil {
		return f, errFields
	}
	if size == 0 {
		return f, fmt.Errorf("it is about 0 bytes of code at %#x", f.Low)
	}
	p, err := e.instructions(cie, size)
	f.rows = p.rows
	return f, err
}

// pointer reads an encoded pointer.
func (e *entryReader) pointer(encoding byte) (v uint64, err error) {
	pos := e.base + uint64(e.c.Pos())
	switch encoding & 0x0f {
	case peAbsptr, peSigned:
		if v = 0; e.AddrSize == 8 {
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
	case peULEB:
		v = e.c.Uleb("pointer")
	case peSLEB:
		v = uint64(e.c.Sleb("pointer"))
	default:
		return 0, fmt.Errorf("pointers in encoding %#x", encoding)
	}
	if e.c.Err() != nil {
		return 0, errFields
	}
	switch encoding & 0xf0 {
	case 0:
	case pePCRel:
		v += pos
	default:
		return 0, fmt.Errorf("pointers in encoding %#x", encoding)
	}
	if e.AddrSize == 4 {
		v &= 0xffffffff
	}
	return v, nil
}
