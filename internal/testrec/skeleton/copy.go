package main

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"slices"
)

// A skeleton is a file in memory, nearly all of it zero.
type skeleton struct {
	in, out []byte
	elf     *elf.File
	wanted  []uint64 // virtual addresses of the file, in order
}

// kept are the sections with a header in the copy. Sections of code have one because
// symbols refer to them.
var kept = []string{".note.gnu.build-id", ".eh_frame", ".eh_frame_hdr", ".symtab", ".strtab", ".dynsym", ".dynstr", ".shstrtab"}

// always are symbols that are looked up by name.
var always = []string{"execute_ex"}

func copySkeleton(in, out string, offsets []uint64) error {
	data, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	f, err := elf.Open(in)
	if err != nil {
		return err
	}
	defer f.Close()
	s := &skeleton{in: data, out: make([]byte, len(data)), elf: f}
	s.want(offsets)
	s.headers()
	s.code(offsets)
	s.unwindTables()
	for _, pair := range [][2]string{{".symtab", ".strtab"}, {".dynsym", ".dynstr"}} {
		s.symbols(pair[0], pair[1])
	}
	return writeSparse(out, s.out)
}

// want adds the addresses for offsets in the file, and those of the symbols in always.
func (s *skeleton) want(offsets []uint64) {
	for _, off := range offsets {
		for _, p := range s.elf.Progs {
			if p.Type == elf.PT_LOAD && off-p.Off < p.Filesz {
				s.wanted = append(s.wanted, off-p.Off+p.Vaddr)
			}
		}
	}
	for _, read := range []func() ([]elf.Symbol, error){s.elf.Symbols, s.elf.DynamicSymbols} {
		symbols, _ := read() // empty for a file without symbols
		for _, y := range symbols {
			if slices.Contains(always, y.Name) {
				s.wanted = append(s.wanted, y.Value)
			}
		}
	}
	slices.Sort(s.wanted)
}

// wants reports whether an address in [lo, hi] is wanted. hi is included: a return address
// may follow the function's last instruction.
func (s *skeleton) wants(lo, hi uint64) bool {
	i, _ := slices.BinarySearch(s.wanted, lo)
	return i < len(s.wanted) && s.wanted[i] <= hi
}

// keep copies a part of the file.
func (s *skeleton) keep(off, size uint64) {
	off = min(off, uint64(len(s.in)))
	copy(s.out[off:], s.in[off:min(off+size, uint64(len(s.in)))])
}

// headers copies the ELF header, the segments' headers and those of kept sections.
func (s *skeleton) headers() {
	s.keep(0, 64)
	le := binary.LittleEndian
	phoff, shoff := le.Uint64(s.in[32:]), le.Uint64(s.in[40:])
	s.keep(phoff, uint64(le.Uint16(s.in[54:]))*uint64(le.Uint16(s.in[56:])))
	for i, sec := range s.elf.Sections {
		if slices.Contains(kept, sec.Name) || sec.Flags&elf.SHF_EXECINSTR != 0 {
			s.keep(shoff+64*uint64(i), 64)
		}
		if sec.Name == ".note.gnu.build-id" || sec.Name == ".shstrtab" {
			s.keep(sec.Offset, sec.Size)
		}
	}
}

func (s *skeleton) code(offsets []uint64) {
	const enough = 16
	for _, off := range offsets {
		s.keep(off, enough)
	}
}

// header returns the index of a section and the offset of its header.
func (s *skeleton) header(name string) (section *elf.Section, header uint64) {
	shoff := binary.LittleEndian.Uint64(s.in[40:])
	for i, sec := range s.elf.Sections {
		if sec.Name == name {
			return sec, shoff + 64*uint64(i)
		}
	}
	return nil, 0
}

// symbols copies the symbols that cover wanted addresses, and their names.
func (s *skeleton) symbols(table, names string) {
	const size = 24
	le := binary.LittleEndian
	tab, header := s.header(table)
	str, strHeader := s.header(names)
	if tab == nil || str == nil || tab.Type == elf.SHT_NOBITS {
		return
	}
	end := uint64(size) // the first symbol is empty
	text := []byte{0}
	for at := tab.Offset + size; at+size <= tab.Offset+tab.Size; at += size {
		y := s.in[at : at+size]
		value, length := le.Uint64(y[8:]), le.Uint64(y[16:])
		section := int(le.Uint16(y[6:]))
		if section == 0 || section >= len(s.elf.Sections) || s.elf.Sections[section].Flags&elf.SHF_EXECINSTR == 0 || !s.wants(value, value+max(length, 1)) {
			continue
		}
		to := s.out[tab.Offset+end : tab.Offset+end+size]
		copy(to, y)
		le.PutUint32(to, uint32(len(text)))
		name := s.in[str.Offset+uint64(le.Uint32(y)):]
		text = append(append(text, name[:slices.Index(name, 0)]...), 0)
		end += size
	}
	copy(s.out[str.Offset:str.Offset+str.Size], text)
	le.PutUint64(s.out[header+32:], end)
	le.PutUint32(s.out[header+44:], 1) // sh_info: all symbols count as global
	le.PutUint64(s.out[strHeader+32:], uint64(len(text)))
}

// writeSparse writes a file without its blocks of zeros.
func writeSparse(path string, data []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(int64(len(data))); err != nil {
		return err
	}
	const block = 4096
	for at := 0; at < len(data); at += block {
		b := data[at:min(at+block, len(data))]
		if slices.IndexFunc(b, func(c byte) bool { return c != 0 }) < 0 {
			continue
		}
		if _, err := f.WriteAt(b, int64(at)); err != nil {
			return err
		}
	}
	return f.Close()
}
