package xraymap

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/format/elffile"
)

// sleds are the entries of xray_instr_map; only their functions matter.
type sleds struct {
	addr, end uint64   // of the section, in the program's address space
	size      uint64   // of an entry
	functions []uint64 // of each entry
	arguments bool     // there are sleds that log an argument
	events    bool     // there are sleds of events
}

// maxSleds bounds how many entries a table has, and with it the memory for them. Browsers
// and databases have a million.
const maxSleds = 32 << 20

// readTable calls each for the entries of a section, of size bytes, with their addresses. It returns
// the section's address, or ErrNoMap if there is none.
func readTable(f *elffile.File, name string, size uint64, each func(at uint64, entry []byte)) (addr uint64, err error) {
	s := f.Section(name)
	if s == nil || s.Size == 0 {
		return 0, ErrNoMap
	}
	if err := inFile(s); err != nil {
		return 0, err
	}
	if s.Size%size != 0 || s.Addr+s.Size < s.Addr {
		return 0, fmt.Errorf("section %s has %d bytes, which is no multiple of %d", name, s.Size, size)
	}
	if s.Size/size > maxSleds {
		return 0, fmt.Errorf("section %s has %d entries; more than %d are not believed", name, s.Size/size, maxSleds)
	}
	r := bufio.NewReaderSize(s.Raw(), 64<<10)
	entry := make([]byte, size)
	for at := uint64(0); at < s.Size; at += size {
		// Read before anything is allocated for it: the file may end sooner than it says.
		if _, err := io.ReadFull(r, entry); err != nil {
			return 0, fmt.Errorf("section %s: entry at offset %#x: %w", name, at, err)
		}
		each(s.Addr+at, entry)
	}
	return s.Addr, nil
}

// readSleds reads xray_instr_map.
func readSleds(f *elffile.File) (*sleds, error) {
	word := wordSize(f)
	m := &sleds{size: 4 * word}
	addr, err := readTable(f, "xray_instr_map", m.size, func(at uint64, entry []byte) {
		function := getWord(f, entry[word:])
		kind, version := entry[2*word], entry[2*word+2]
		m.arguments = m.arguments || kind == kindEnterArgs
		m.events = m.events || kind == kindCustomEvent || kind == kindTypedEvent
		switch {
		case version >= 2:
			function += at + word
		case function == 0 || f.Type == elf.ET_DYN:
			function |= unrelocated
		}
		if word == 4 {
			function = function&unrelocated | uint64(uint32(function))
		}
		m.functions = append(m.functions, function)
	})
	if err != nil {
		return nil, err
	}
	m.addr, m.end = addr, addr+uint64(len(m.functions))*m.size
	if err := m.relocate(f, m.addr, m.size, word, m.functions); err != nil {
		return nil, err
	}
	for i, function := range m.functions {
		function &^= unrelocated
		if f.Machine == elf.EM_ARM {
			function &^= 1 // Thumb code
		}
		m.functions[i] = function
	}
	return m, nil
}

// Kinds of sleds: at an entry that logs an argument, and where events are logged.
const (
	kindEnterArgs   = 3
	kindCustomEvent = 4
	kindTypedEvent  = 5
)

// unrelocated marks an address that a relocation may have to say more about. No program
// has addresses that use this bit: user space of 64-bit machines is the lower half.
const unrelocated = 1 << 63

// relocate puts the addends of relocations into words of a table at addr, those at offset at
// of each entry of size bytes. Relocations without an addend (REL, RELR) have it in the
// word itself already.
func (m *sleds) relocate(f *elffile.File, addr, size, at uint64, words []uint64) error {
	relative, ok := relativeTypes[f.Machine]
	if !ok {
		return nil
	}
	word := wordSize(f)
	left := f.Size() // bytes of relocations: sections may overlap
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Type != elf.SHT_RELA || s.Size == 0 {
			continue
		}
		if s.Size > left {
			return fmt.Errorf("section %q: the sections with relocations have more bytes than the file", s.Name)
		}
		left -= s.Size
		if err := inFile(s); err != nil {
			return err
		}
		r := bufio.NewReaderSize(s.Raw(), 64<<10)
		rela := make([]byte, 3*word)
		for range s.Size / (3 * word) {
			if _, err := io.ReadFull(r, rela); err != nil {
				return fmt.Errorf("section %q: %w", s.Name, err)
			}
			offset, info, addend := getWord(f, rela), getWord(f, rela[word:]), getWord(f, rela[2*word:])
			if word == 4 && info&0xff != relative || word == 8 && info&0xffffffff != relative {
				continue
			}
			if i := (offset - addr) / size; offset >= addr && i < uint64(len(words)) && (offset-addr)%size == at && words[i]&unrelocated != 0 {
				words[i] = addend &^ unrelocated
			}
		}
	}
	return nil
}

// relativeTypes are the relocations that stand for an address in the program itself. MIPS
// has none with an addend.
var relativeTypes = map[elf.Machine]uint64{
	elf.EM_X86_64:    uint64(elf.R_X86_64_RELATIVE),
	elf.EM_386:       uint64(elf.R_386_RELATIVE),
	elf.EM_AARCH64:   uint64(elf.R_AARCH64_RELATIVE),
	elf.EM_ARM:       uint64(elf.R_ARM_RELATIVE),
	elf.EM_PPC64:     22, // R_PPC64_RELATIVE
	elf.EM_PPC:       uint64(elf.R_PPC_RELATIVE),
	elf.EM_RISCV:     uint64(elf.R_RISCV_RELATIVE),
	elf.EM_S390:      uint64(elf.R_390_RELATIVE),
	elf.EM_LOONGARCH: uint64(elf.R_LARCH_RELATIVE),
	164:              35, // EM_HEXAGON, R_HEX_RELATIVE
}

// count returns the functions as the runtime counts them.
func (m *sleds) count() (functions []uint64) {
	for i, function := range m.functions {
		if i == 0 || function != m.functions[i-1] {
			functions = append(functions, function)
		}
	}
	return functions
}

// index returns the entry at an address, which must be one, or the end of the table.
func (m *sleds) index(addr uint64) (i uint64, ok bool) {
	return (addr - m.addr) / m.size, addr >= m.addr && addr <= m.end && (addr-m.addr)%m.size == 0
}

func wordSize(f *elffile.File) uint64 {
	if f.Class == elf.ELFCLASS32 {
		return 4
	}
	return 8
}

func getWord(f *elffile.File, p []byte) uint64 {
	if f.Class == elf.ELFCLASS32 {
		return uint64(f.ByteOrder.Uint32(p))
	}
	return f.ByteOrder.Uint64(p)
}

// inFile checks that a section can be read as it lies there.
func inFile(s *elffile.Section) error {
	switch {
	case s.Type == elf.SHT_NOBITS:
		return fmt.Errorf("section %q is empty: this is a file with debugging information only; the program itself is needed", s.Name)
	case s.Flags&elf.SHF_COMPRESSED != 0:
		return errors.New("a section that belongs to the program in memory is compressed")
	}
	return nil
}
