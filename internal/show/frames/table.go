package frames

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/wire"
)

// A Table shows an .eh_frame: its CIEs, its FDEs, and what an unwinder finds at
// each address [LSB Core 10.6; DWARF5 6.4].
type Table struct {
	Out      show.Form
	Order    binary.ByteOrder
	Machine  uint32 // for names of registers
	AddrSize int

	// Where the table is in the program, if that is known; else the code that it is
	// about is somewhere before or behind label, the table's start.
	Address uint64
	Label   string

	FileOffset int64
	cies       map[int64]*cieEntry
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

// Header shows an .eh_frame_hdr.
func (t *Table) Header(b []byte) {
	o := t.Out
	o.Row()
	o.Label("entry", []byte("eh_frame_hdr"))
	o.Num("length", uint64(len(b)))
	if len(b) < 4 {
		return
	}
	o.Num("version", uint64(b[0]))
	o.Hex("eh_frame_ptr_enc", uint64(b[1]))
	o.Hex("fde_count_enc", uint64(b[2]))
	o.Hex("table_enc", uint64(b[3]))
	c := wire.NewCursor(".eh_frame_hdr", "", b, t.Order, 0)
	c.Bytes("", 4)
	if b[1] != pointerOmit {
		if ptr := t.pointer(&c, b[1]); c.Err() == nil && b[1]&0x70 == pointerAbsolute {
			o.Hex("eh_frame_ptr", uint64(ptr))
		}
	}
	if n := uint64(t.pointer(&c, b[2]&0x0f)); b[2] != pointerOmit && c.Err() == nil {
		o.Num("fde_count", n)
	}
}

// Show shows all entries up to the first that makes no sense.
func (t *Table) Show(b []byte) {
	t.cies = make(map[int64]*cieEntry)
	c := wire.NewCursor(".eh_frame", "", b, t.Order, t.FileOffset)
	for c.Len() >= 4 && c.Err() == nil && t.Out.Lost() == nil {
		at := int64(c.Pos())
		length := uint64(c.U32("length"))
		if length == 0 { // a terminator, or padding
			continue
		}
		if length == math.MaxUint32 {
			length = c.U64("extended length")
		}
		idAt := int64(c.Pos())
		body := c.Bytes("entry", length)
		if c.Err() != nil {
			break
		}
		e := wire.NewCursor(".eh_frame", "", body, t.Order, t.FileOffset+idAt)
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

func (t *Table) failed(err error) {
	t.Out.Row()
	t.Out.Label("entry", []byte("error"))
	t.Out.Str("text", []byte(err.Error()))
}

func (t *Table) cie(c *wire.Cursor, at int64, length uint64) {
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
		data := wire.NewCursor(".eh_frame", "CIE", c.Bytes("augmentation data", size), t.Order, 0)
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
	o := t.Out
	o.Row()
	o.Label("entry", []byte("CIE"))
	o.Hex("at", uint64(at))
	o.Num("length", length)
	o.Num("version", uint64(version))
	o.Str("augmentation", augmentation)
	o.Num("code_align", e.code)
	o.Signed("data_align", e.data)
	o.Word("return", t.register(ret))
	if len(t.cies) < maxCIEs {
		t.cies[at] = e
	}
	p := frameProgram{table: t, cie: e}
	p.run(e.instructions, &e.rules, nil)
}

// maxCIEs bounds how many CIEs are remembered. Tables have few.
const maxCIEs = 1 << 16

func (t *Table) fde(c *wire.Cursor, at, cieAt int64, length uint64) {
	e := t.cies[cieAt]
	if e == nil {
		c.Fail("CIE pointer", "no CIE begins at %#x of the table", cieAt)
		return
	}
	begin := t.Address + uint64(c.Offset()-t.FileOffset)
	first := uint64(t.pointer(c, e.encoding))
	if e.encoding&0x70 == pointerRelative {
		first += begin
	}
	size := uint64(t.pointer(c, e.encoding&0x0f))
	if e.augmented {
		c.Bytes("augmentation data", c.Uleb("LEB128"))
	}
	instructions := c.Rest()
	if c.Err() != nil {
		return
	}
	o := t.Out
	o.Row()
	o.Label("entry", []byte("FDE"))
	o.Hex("at", uint64(at))
	o.Num("length", length)
	o.Hex("cie", uint64(cieAt))
	relative := t.Label != "" && e.encoding&0x70 == pointerRelative
	if relative { // to the table
		o.Word("pc_begin", fmt.Sprintf("%s%+#x", t.Label, int64(first)))
	} else {
		o.Hex("pc_begin", first)
	}
	o.Num("pc_range", size)
	rules := e.rules.clone()
	p := frameProgram{table: t, cie: e}
	if relative {
		first = 0 // rows count from the start of the code
	}
	o.List("rows")
	p.run(instructions, &rules, &first)
	o.EndList()
}

// pointer reads a pointer with any base.
func (t *Table) pointer(c *wire.Cursor, encoding byte) int64 {
	switch encoding & 0x0f {
	case 0x00:
		if t.AddrSize == 4 {
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
	c.Fail("pointer", "in the unknown encoding %#x", encoding)
	return 0
}

// AddrSize is the size of a machine's addresses in bytes, as far as its number tells.
func AddrSize(machine uint32) int {
	switch elf.Machine(machine) {
	case elf.EM_386, elf.EM_ARM, elf.EM_PPC, elf.EM_SPARC, elf.EM_68K, elf.EM_SH:
		return 4
	}
	return 8
}
