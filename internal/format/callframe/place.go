package callframe

import (
	"debug/elf"
	"encoding/binary"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// A Place has what the meaning of tables depends on. Relative pointers count from the addresses
// that the tables had when they were written.
type Place struct {
	Order    binary.ByteOrder
	AddrSize int         // 4 or 8
	Machine  elf.Machine // EM_NONE if unknown
	Addr     uint64      // of .eh_frame
	Text     uint64      // base of pointers relative to .text; 0 if unknown
	File     int64       // offset of .eh_frame in its file, which errors count from

	// All makes [Place.Rows] follow the rules of all registers. Else it follows only those of the CFA
	// and of the return address, which an unwinder needs to go on.
	All bool
}

// Registers returns the number of registers that can be the base of a CFA.
func (p *Place) Registers() uint64 {
	switch p.Machine {
	case elf.EM_X86_64:
		return 16
	case elf.EM_386:
		return 8
	case elf.EM_AARCH64:
		return 32
	}
	return 128
}

// Pushes reports whether calls put the return address on the stack, on known machines.
func (p *Place) Pushes() bool { return p.Machine == elf.EM_X86_64 || p.Machine == elf.EM_386 }

// AddrSize returns the size of addresses in a machine's code, in bytes. Machines of one number for
// 32 and 64 bits are known by the highest address in the code.
func AddrSize(machine elf.Machine, highest uint64) int {
	switch machine {
	case elf.EM_386, elf.EM_ARM, elf.EM_PPC, elf.EM_SPARC, elf.EM_68K, elf.EM_SH, elf.EM_PARISC, elf.EM_XTENSA, elf.EM_MICROBLAZE, elf.EM_OPENRISC:
		return 4
	case elf.EM_MIPS:
		if highest < 1<<32 {
			return 4
		}
	}
	return 8
}

// Encodings of pointers [LSB Core 10.5.1]: the form in the low half of the byte, the base in the
// high half.
const (
	formAddress = 0x00
	formUleb    = 0x01
	formUdata2  = 0x02
	formUdata4  = 0x03
	formUdata8  = 0x04
	formSigned  = 0x08
	formSleb    = 0x09
	formSdata2  = 0x0a
	formSdata4  = 0x0b
	formSdata8  = 0x0c
	FormMask    = 0x0f

	Absolute     = 0x00
	PCRelative   = 0x10 // to the pointer's own address
	textRelative = 0x20
	dataRelative = 0x30 // in .eh_frame_hdr: to its start

	Omitted = 0xff // there is no pointer
)

// pointer reads a pointer. data is the base of pointers relative to data, at the address of the
// cursor's first byte.
func (p *Place) pointer(c *wire.Cursor, field string, encoding uint8, addr, data uint64) uint64 {
	at := addr + uint64(c.Pos())
	v := p.plain(c, field, encoding)
	switch encoding &^ FormMask {
	case Absolute:
	case PCRelative:
		v += at
	case textRelative:
		v += p.Text
	case dataRelative:
		v += data
	default:
		c.Bad(field, "the pointer encoding %#x is unknown", encoding)
	}
	return p.mask(v)
}

// plain reads a pointer without its base.
func (p *Place) plain(c *wire.Cursor, field string, encoding uint8) uint64 {
	switch encoding & FormMask {
	case formAddress, formSigned:
		if p.AddrSize == 4 {
			return uint64(c.U32(field))
		}
		return c.U64(field)
	case formUleb:
		return c.Uleb(field)
	case formUdata2:
		return uint64(c.U16(field))
	case formUdata4:
		return uint64(c.U32(field))
	case formUdata8, formSdata8:
		return c.U64(field)
	case formSleb:
		return uint64(c.Sleb(field))
	case formSdata2:
		return uint64(int64(int16(c.U16(field))))
	case formSdata4:
		return uint64(int64(int32(c.U32(field))))
	}
	c.Fail(field, "the pointer encoding %#x is unknown", encoding)
	return 0
}

// size reads the size of a range, which has the form of a pointer without sign and base.
func (p *Place) size(c *wire.Cursor, field string, encoding uint8) uint64 {
	return p.mask(p.plain(c, field, encoding&FormMask&^formSigned))
}

// mask cuts an address to the machine's size.
func (p *Place) mask(v uint64) uint64 {
	if p.AddrSize == 4 {
		return v & math.MaxUint32
	}
	return v
}
