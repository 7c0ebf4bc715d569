package show

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// A frameTable shows an .eh_frame: its CIEs, its FDEs, and what an unwinder finds at
// each address [LSB Core 10.6; DWARF5 6.4].
type frameTable struct {
	out      form
	order    binary.ByteOrder
	machine  uint32 // for names of registers
	addrSize int

	// Where the table is in the program, if that is known; else the code that it is
	// about is somewhere before or behind label, the table's start.
	address uint64
	label   string

	fileOffset int64
	cies       map[int64]*cieEntry
	choose     func(first, size uint64) bool // which FDEs are shown; nil for all
}

// A cieEntry is what FDEs need of their CIE.
type cieEntry struct {
	code         uint64
	data         int64
	encoding     byte
	augmented    bool
	instructions []byte
	rules        frameRules // after them
}

// How pointers in the table are written [LSB Core 10.5].
const (
	pointerOmit     = 0xff
	pointerAbsolute = 0x00
	pointerRelative = 0x10
)

// header shows an .eh_frame_hdr.
func (t *frameTable) header(b []byte) {
	o := t.out
	o.row()
	o.label("entry", []byte("eh_frame_hdr"))
	o.num("length", uint64(len(b)))
	if len(b) < 4 {
		return
	}
	o.num("version", uint64(b[0]))
	o.hex("eh_frame_ptr_enc", uint64(b[1]))
	o.hex("fde_count_enc", uint64(b[2]))
	o.hex("table_enc", uint64(b[3]))
	c := wire.NewCursor(".eh_frame_hdr", "", b, t.order, 0)
	c.Bytes("", 4)
	if b[1] != pointerOmit {
		if ptr := t.pointer(&c, b[1]); c.Err() == nil && b[1]&0x70 == pointerAbsolute {
			o.hex("eh_frame_ptr", uint64(ptr))
		}
	}
	if n := uint64(t.pointer(&c, b[2]&0x0f)); b[2] != pointerOmit && c.Err() == nil {
		o.num("fde_count", n)
	}
}

// show shows all entries up to the first that makes no sense.
func (t *frameTable) show(b []byte) {
	t.cies = make(map[int64]*cieEntry)
	c := wire.NewCursor(".eh_frame", "", b, t.order, t.fileOffset)
	for c.Len() >= 4 && c.Err() == nil && t.out.lost() == nil {
		at := int64(c.Pos())
		length := c.U32("length")
		if length == 0 { // a terminator, or padding
			continue
		}
		idAt := int64(c.Pos())
		body := c.Bytes("entry", uint64(length))
		if length == math.MaxUint32 {
			c.Bad("length", "in the 64-bit format, which is not decoded here")
		}
		if c.Err() != nil {
			break
		}
		e := wire.NewCursor(".eh_frame", "", body, t.order, t.fileOffset+idAt)
		if id := e.U32("id"); id == 0 {
			t.cie(&e, at, length)
		} else {
			t.fde(&e, at, idAt-int64(id), length)
		}
		if err := e.Err(); err != nil {
			t.failed(err)
		}
	}
	if err := c.Err(); err != nil {
		t.failed(err)
	}
}

func (t *frameTable) failed(err error) {
	t.out.row()
	t.out.label("entry", []byte("error"))
	t.out.str("text", []byte(err.Error()))
}

func (t *frameTable) cie(c *wire.Cursor, at int64, length uint32) {
	e := &cieEntry{encoding: pointerAbsolute}
	version := c.U8("version")
	augmentation := c.CString("augmentation")
	e.code = c.Uleb("LEB128")
	e.data = c.Sleb("LEB128")
	var ret uint64
	if version == 1 {
		ret = uint64(c.U8("return register"))
	} else {
		ret = c.Uleb("LEB128")
	}
	if len(augmentation) > 0 && augmentation[0] == 'z' {
		e.augmented = true
		size := c.Uleb("LEB128")
		data := wire.NewCursor(".eh_frame", "CIE", c.Bytes("augmentation data", size), t.order, 0)
		for _, letter := range augmentation[1:] {
			switch letter {
			case 'R':
				e.encoding = data.U8("pointer encoding")
			case 'L':
				data.U8("LSDA encoding")
			case 'P':
				t.pointer(&data, data.U8("personality encoding"))
			}
		}
	}
	e.instructions = c.Rest()
	if c.Err() != nil {
		return
	}
	o := t.out
	o.row()
	o.label("entry", []byte("CIE"))
	o.hex("at", uint64(at))
	o.num("length", uint64(length))
	o.num("version", uint64(version))
	o.str("augmentation", augmentation)
	o.num("code_align", e.code)
	o.signed("data_align", e.data)
	o.word("return", t.register(ret))
	if len(t.cies) < maxCIEs {
		t.cies[at] = e
	}
	p := frameProgram{table: t, cie: e}
	p.run(e.instructions, &e.rules, nil)
}

// maxCIEs bounds how many CIEs are remembered. Tables have few.
const maxCIEs = 1 << 16

func (t *frameTable) fde(c *wire.Cursor, at, cieAt int64, length uint32) {
	e := t.cies[cieAt]
	if e == nil {
		c.Fail("CIE pointer", "no CIE begins at %#x of the table", cieAt)
		return
	}
	begin := t.address + uint64(c.Offset()-t.fileOffset)
	first := uint64(t.pointer(c, e.encoding))
	if e.encoding&0x70 == pointerRelative {
		first += begin
	}
	size := uint64(t.pointer(c, e.encoding&0x0f))
	if e.augmented {
		c.Bytes("augmentation data", c.Uleb("LEB128"))
	}
	instructions := c.Rest()
	if c.Err() != nil || t.choose != nil && !t.choose(first, size) {
		return
	}
	o := t.out
	o.row()
	o.label("entry", []byte("FDE"))
	o.hex("at", uint64(at))
	o.num("length", uint64(length))
	o.hex("cie", uint64(cieAt))
	relative := t.label != "" && e.encoding&0x70 == pointerRelative
	if relative { // to the table
		o.word("pc_begin", fmt.Sprintf("%s%+#x", t.label, int64(first)))
	} else {
		o.hex("pc_begin", first)
	}
	o.num("pc_range", size)
	rules := e.rules.clone()
	p := frameProgram{table: t, cie: e}
	if relative {
		first = 0 // rows count from the start of the code
	}
	o.list("rows")
	p.run(instructions, &rules, &first)
	o.endList()
}

// pointer reads a pointer, whatever it is relative to.
func (t *frameTable) pointer(c *wire.Cursor, encoding byte) int64 {
	switch encoding & 0x0f {
	case 0x00:
		if t.addrSize == 4 {
			return int64(c.U32("pointer"))
		}
		return int64(c.U64("pointer"))
	case 0x01:
		return int64(c.Uleb("LEB128"))
	case 0x02:
		return int64(c.U16("pointer"))
	case 0x03:
		return int64(c.U32("pointer"))
	case 0x04, 0x0c:
		return int64(c.U64("pointer"))
	case 0x09:
		return c.Sleb("LEB128")
	case 0x0a:
		return int64(int16(c.U16("pointer")))
	case 0x0b:
		return int64(int32(c.U32("pointer")))
	case 0x0f:
		return 0
	}
	c.Fail("pointer", "in the encoding %#x, which nobody knows", encoding)
	return 0
}

// addrSize is the size of a machine's addresses in bytes, as far as its number tells.
func addrSize(machine uint32) int {
	switch elf.Machine(machine) {
	case elf.EM_386, elf.EM_ARM, elf.EM_PPC, elf.EM_SPARC, elf.EM_68K, elf.EM_SH:
		return 4
	}
	return 8
}
