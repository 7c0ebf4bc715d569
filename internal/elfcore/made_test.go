package elfcore

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"

	"github.com/jitinject/jitinject/internal/wire"
)

// Cores made by hand, from the layouts in core(5) and the kernel's headers.

type madeCore struct {
	class    elf.Class
	order    binary.ByteOrder
	machine  elf.Machine
	notes    []madeNote
	segments []madeSegment
	extended bool // the number of program headers is in a section header
}

type madeNote struct {
	owner string
	kind  uint32
	desc  []byte
}

type madeSegment struct {
	addr, size uint64
	data       []byte
}

func (m *madeCore) word() int {
	if m.class == elf.ELFCLASS32 {
		return 4
	}
	return 8
}

// words returns words of the machine's.
func (m *madeCore) words(values ...uint64) []byte {
	b := wire.NewBuffer(m.order)
	for _, v := range values {
		b.Word(v, m.word())
	}
	return b.Data
}

func (m *madeCore) status(signal uint32, tid uint32, registers []byte) []byte {
	b := wire.NewBuffer(m.order)
	b.U32(signal)
	b.Zeros(8)
	b.U16(uint16(signal))
	b.U16(0)
	b.Bytes(m.words(0, 0))
	b.U32(tid)
	b.U32(1)
	b.U32(tid)
	b.U32(tid)
	b.Zeros(8 * m.word())
	b.Bytes(registers)
	b.U32(0) // pr_fpvalid
	return b.Data
}

// psinfo is NT_PRPSINFO; short has user and group in 16 bits.
func (m *madeCore) psinfo(pid, parent uint32, command, args string, short bool) []byte {
	b := wire.NewBuffer(m.order)
	b.Zeros(4)
	if m.word() == 8 {
		b.Zeros(4)
	}
	b.Bytes(m.words(0))
	if short {
		b.Zeros(4)
	} else {
		b.Zeros(8)
	}
	b.U32(pid)
	b.U32(parent)
	b.Zeros(8)
	b.Bytes(append([]byte(command), make([]byte, 16-len(command))...))
	b.Bytes(append([]byte(args), make([]byte, 80-len(args))...))
	return b.Data
}

func (m *madeCore) files(unit uint64, files ...File) []byte {
	b := m.words(uint64(len(files)), unit)
	for _, f := range files {
		b = append(b, m.words(f.Start, f.End, f.Offset/unit)...)
	}
	for _, f := range files {
		b = append(append(b, f.Name...), 0)
	}
	return b
}

func (m *madeCore) bytes() []byte {
	notes := wire.NewBuffer(m.order)
	for _, n := range m.notes {
		notes.U32(uint32(len(n.owner) + 1))
		notes.U32(uint32(len(n.desc)))
		notes.U32(n.kind)
		for _, part := range [][]byte{append([]byte(n.owner), 0), n.desc} {
			notes.Bytes(part)
			notes.Zeros(-len(part) & 3)
		}
	}
	ehsize, phsize, shsize := 64, 56, 64
	if m.word() == 4 {
		ehsize, phsize, shsize = 52, 32, 40
	}
	count := 1 + len(m.segments)
	offset := uint64(ehsize + phsize*count)
	shoff := uint64(0)
	if m.extended {
		shoff, offset = offset, offset+uint64(shsize)
	}
	b := wire.NewBuffer(m.order)
	data := elf.ELFDATA2LSB
	if m.order == binary.BigEndian {
		data = elf.ELFDATA2MSB
	}
	b.Bytes([]byte{0x7f, 'E', 'L', 'F', byte(m.class), byte(data), 1})
	b.Zeros(9)
	b.U16(uint16(elf.ET_CORE))
	b.U16(uint16(m.machine))
	b.U32(1)
	b.Bytes(m.words(0, uint64(ehsize), shoff))
	b.U32(0)
	b.U16(uint16(ehsize))
	b.U16(uint16(phsize))
	if m.extended {
		b.U16(0xffff) // PN_XNUM
	} else {
		b.U16(uint16(count))
	}
	b.U16(uint16(shsize))
	b.U16(0)
	b.U16(0)
	header := func(kind elf.ProgType, flags elf.ProgFlag, addr, size, stored uint64) {
		b.U32(uint32(kind))
		if m.word() == 8 {
			b.U32(uint32(flags))
		}
		b.Bytes(m.words(offset, addr, 0, stored, size))
		if m.word() == 4 {
			b.U32(uint32(flags))
		}
		b.Bytes(m.words(1))
		offset += stored
	}
	header(elf.PT_NOTE, 0, 0, 0, uint64(notes.Len()))
	for _, s := range m.segments {
		header(elf.PT_LOAD, elf.PF_R|elf.PF_X, s.addr, s.size, uint64(len(s.data)))
	}
	if m.extended {
		b.Bytes(append(make([]byte, 8), m.words(0, 0, 0, 0)...))
		b.U32(0)
		b.U32(uint32(count)) // sh_info
		b.Bytes(m.words(0, 0))
	}
	b.Bytes(notes.Data)
	for _, s := range m.segments {
		b.Bytes(s.data)
	}
	return b.Data
}

// reader reads bytes as a file.
func reader(b []byte) io.ReaderAt { return bytes.NewReader(b) }
