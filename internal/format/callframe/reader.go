package callframe

import (
	"bytes"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// A Kind is a kind of entry.
type Kind uint8

const (
	KindCIE Kind = iota
	KindFDE
	KindEnd // a terminator, of length 0
)

// An Entry is an entry of an .eh_frame. The fields after CIE are those of an FDE.
type Entry struct {
	Kind   Kind
	At     int    // offset of the entry in the table, in bytes
	Length uint64 // as the entry has it: without the length itself
	CIE    int    // the CIE's index in the reader's CIEs; -1 if it is unreadable
	Err    error  // what is wrong with the entry, which then may lack fields; a *[wire.Error]

	Low, Size    uint64 // of the code that the FDE is about
	Instructions []byte // aliases the table
	InstrAt      int64  // offset of Instructions in the table
}

// A CIE is what several FDEs have in common.
type CIE struct {
	At           int // offset in the table, in bytes
	Version      uint8
	Augmentation []byte // without the "eh" of GCC 2; aliases the table
	CodeAlign    uint64 // unit of advances, in bytes
	DataAlign    int64  // unit of offsets, in bytes
	ReturnReg    uint64 // DWARF number of the column of the return address
	Encoding     uint8  // of pointers to code
	Signal       bool   // the code is a signal's frame
	Instructions []byte // aliases the table

	augmented bool // FDEs have augmentation data
	first     Row  // after its instructions
	saved     []Row
}

// A Reader reads an .eh_frame. It reads a CIE before the FDEs of that CIE.
type Reader struct {
	Place
	CIEs []CIE // those read so far

	at   map[int]int // index of a CIE by its offset
	fdes int         // how many were read
	c    wire.Cursor
}

// maxUnused bounds how many more CIEs than FDEs are kept: a CIE of 13 bytes takes hundreds.
const maxUnused = 1 << 10

// NewReader returns a reader of a table, which it aliases.
func NewReader(place Place, table []byte) *Reader {
	r := &Reader{Place: place, at: make(map[int]int)}
	r.Seek(table, 0)
	return r
}

// Seek continues at an offset of the table, and keeps the CIEs.
func (r *Reader) Seek(table []byte, at int) {
	r.c = wire.NewCursor(".eh_frame", "", table, r.Order, r.File)
	r.c.Bytes("entry", uint64(at))
}

// Rest returns the bytes after the last entry, and ends the reading.
func (r *Reader) Rest() []byte { return r.c.Rest() }

// Err returns why there are no more entries: nil at the end of the table.
func (r *Reader) Err() error { return r.c.Err() }

// Find returns the index of the CIE at an offset. ok is false if none was read there.
func (r *Reader) Find(at int) (index int, ok bool) {
	index, ok = r.at[at]
	return index, ok
}

// Next reads an entry, up to the table's end. An error in an entry is that entry's; an error in the
// lengths is the reader's.
func (r *Reader) Next() (e Entry, ok bool) {
	e.At, e.CIE = r.c.Pos(), -1
	body, length, ok := envelope(&r.c)
	if !ok {
		return e, false
	}
	if e.Length = length; length == 0 {
		e.Kind = KindEnd
		return e, true
	}
	idAt := r.c.Pos() - len(body)
	c := wire.NewCursor(".eh_frame", "CIE", body, r.Order, r.File+int64(idAt))
	if id := c.U32("CIE id"); c.Err() != nil {
		e.Err = c.Err()
	} else if id == 0 {
		r.cie(&c, &e)
	} else {
		e.Kind = KindFDE
		r.fdes++
		c = wire.NewCursor(".eh_frame", "FDE", body, r.Order, r.File+int64(idAt))
		if e.CIE, ok = r.at[idAt-int(id)]; !ok {
			e.CIE = -1
			c.Fail("CIE pointer", "no CIE begins at offset %#x", idAt-int(id))
		} else {
			c.U32("CIE pointer")
			r.fde(&c, &e, r.Addr+uint64(idAt))
		}
		e.Err = c.Err()
	}
	return e, true
}

// envelope reads the length and the body of an entry. The length may be extended: 0xffffffff and 8
// bytes [LSB Core 10.6.1]. CIE ids and pointers have 4 bytes after both. Length 0 is a terminator.
// ok is false at the end. Fewer than 4 bytes there are padding, of zeros.
func envelope(c *wire.Cursor) (body []byte, length uint64, ok bool) {
	if c.Err() == nil && c.Len() < 4 {
		if padding := c.Rest(); !Blank(padding) {
			c.Bad("length", "fewer than 4 bytes")
		}
		return nil, 0, false
	}
	if length = uint64(c.U32("length")); length == math.MaxUint32 {
		if length = c.U64("extended length"); length == 0 {
			c.Bad("extended length", "0")
		}
	}
	body = c.Bytes("entry", length)
	return body, length, c.Err() == nil
}

// Blank reports whether b has only zeros: terminators and padding.
func Blank(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// cie reads a CIE after its id.
func (r *Reader) cie(c *wire.Cursor, e *Entry) {
	cie := CIE{At: e.At, Version: c.U8("version")}
	if len(r.CIEs) > r.fdes+maxUnused {
		c.Bad("CIE id", "more than %d CIEs without an FDE each", maxUnused)
	}
	if cie.Version != 1 && cie.Version != 3 {
		c.Bad("version", "%d, want 1 or 3", cie.Version)
	}
	cie.Augmentation = c.CString("augmentation")
	if rest, ok := bytes.CutPrefix(cie.Augmentation, []byte("eh")); ok { // GCC 2: with a pointer to data
		cie.Augmentation = rest
		c.Bytes("EH data", uint64(r.AddrSize))
	}
	cie.CodeAlign, cie.DataAlign = c.Uleb("code alignment factor"), c.Sleb("data alignment factor")
	if cie.Version == 1 {
		cie.ReturnReg = uint64(c.U8("return address register"))
	} else {
		cie.ReturnReg = c.Uleb("return address register")
	}
	r.augment(c, &cie)
	if cie.CodeAlign == 0 || cie.CodeAlign > math.MaxUint8 {
		c.Fail("code alignment factor", "%d", cie.CodeAlign)
	}
	if cie.DataAlign == 0 || cie.DataAlign > math.MaxInt8 || cie.DataAlign < math.MinInt8 {
		c.Fail("data alignment factor", "%d", cie.DataAlign)
	}
	if cie.ReturnReg > math.MaxUint8 {
		c.Fail("return address register", "%d", cie.ReturnReg)
	}
	at := c.Offset()
	cie.Instructions = c.Rest()
	if e.Err = c.Err(); e.Err != nil {
		return
	}
	n := 0
	n, e.Err = r.begin(&cie, at)
	cie.Instructions = cie.Instructions[:n:n]
	e.CIE = len(r.CIEs)
	r.at[e.At] = e.CIE
	r.CIEs = append(r.CIEs, cie)
}

// augment reads the data for the letters of an augmentation. Two letters of AArch64 have no data: B,
// return addresses are signed with the second key, and G, memory of frames is tagged [DWARF for the
// Arm 64-bit Architecture]. They are for unwinders inside the process, because others have neither
// keys nor tags.
func (r *Reader) augment(c *wire.Cursor, cie *CIE) {
	if len(cie.Augmentation) == 0 || c.Err() != nil {
		return
	}
	if cie.Augmentation[0] != 'z' {
		c.Fail("augmentation", "%q, want one that begins with z", cie.Augmentation)
		return
	}
	cie.augmented = true
	data := c.Bytes("augmentation data", c.Uleb("augmentation length"))
	if c.Err() != nil {
		return
	}
	a := wire.NewCursor(".eh_frame", "CIE", data, r.Order, c.Offset()-int64(len(data)))
	for _, letter := range cie.Augmentation[1:] {
		switch letter {
		case 'R':
			cie.Encoding = a.U8("pointer encoding")
		case 'L':
			a.U8("LSDA encoding")
		case 'P':
			if encoding := a.U8("personality encoding"); encoding != Omitted {
				r.plain(&a, "personality routine", encoding)
			}
		case 'S':
			cie.Signal = true
		case 'B', 'G':
		default:
			a.Fail("augmentation", "%q; %c is unknown", cie.Augmentation, letter)
		}
	}
	if a.Err() != nil {
		*c = a
		return
	}
	switch cie.Encoding &^ FormMask {
	case Absolute, PCRelative:
	case textRelative:
		if r.Text == 0 {
			c.Fail("pointer encoding", "%#x, relative to a .text at an unknown address", cie.Encoding)
		}
	default:
		c.Fail("pointer encoding", "%#x, which is neither absolute nor relative to its own place", cie.Encoding)
	}
}

// fde reads an FDE after its CIE pointer. addr is the address of that.
func (r *Reader) fde(c *wire.Cursor, e *Entry, addr uint64) {
	cie := &r.CIEs[e.CIE]
	e.Low = r.pointer(c, "pc begin", cie.Encoding, addr, 0)
	e.Size = r.size(c, "pc range", cie.Encoding)
	if e.Size > ^e.Low {
		c.Bad("pc range", "%d bytes at %#x", e.Size, e.Low)
	}
	if cie.augmented {
		c.Bytes("augmentation data", c.Uleb("augmentation length"))
	}
	e.InstrAt = c.Offset() - r.File
	e.Instructions = c.Rest()
}
