package registered

import (
	"debug/elf"
	"errors"
	"io"
	"strings"

	"github.com/jitinject/jitinject/internal/buildid"
	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/wire"
)

// An image is an ELF file that a process has mapped. Its addresses are its own: those in memory are
// higher by bias.
type image struct {
	p        *Process
	name     string
	start    uint64 // address of its ELF header in memory
	end      uint64 // of its segments in memory
	bias     uint64
	progs    []prog
	file     File // nil if it cannot be opened, or is another build
	opened   bool // file was tried
	inMemory bool // the headers come from memory
}

// A prog is a program header.
type prog struct {
	kind                      elf.ProgType
	flags                     elf.ProgFlag
	off, vaddr, filesz, memsz uint64
}

// images returns the ELF files that a process has mapped with their headers.
func (p *Process) images() (list []*image) {
	for _, f := range p.Files() {
		if f.Offset != 0 {
			continue
		}
		im := &image{p: p, name: f.Name, start: f.Start}
		if im.headers(memoryAt{p.Memory, f.Start}) {
			im.inMemory = true
			list = append(list, im)
		} else if im.mayBeELF(&f) && im.open() && im.headers(im.file) {
			list = append(list, im)
		} else {
			im.close()
		}
	}
	return list
}

// mayBeELF reports whether memory does not show that a mapped file is none.
func (im *image) mayBeELF(f *elfcore.File) bool {
	var b [4]byte
	return im.p.ReadCode(f.Start, b[:]) != nil
}

// A memoryAt is memory from an address on, as a file.
type memoryAt struct {
	Memory
	start uint64
}

// ReadAt reads from an offset on. It reads all of b, or nothing.
func (m memoryAt) ReadAt(b []byte, off int64) (int, error) {
	if err := m.ReadCode(m.start+uint64(off), b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// maxProgs bounds the program headers that are read. Linkers write about ten.
const maxProgs = 256

// headers reads the program headers. It returns false if src is not an ELF file of the process's class.
func (im *image) headers(src io.ReaderAt) bool {
	word := im.p.word()
	ehdr, phdr := 52, 32
	if word == 8 {
		ehdr, phdr = 64, 56
	}
	b := make([]byte, ehdr)
	if _, err := src.ReadAt(b, 0); err != nil || string(b[:4]) != elf.ELFMAG || elf.Class(b[elf.EI_CLASS]) != im.p.Class {
		return false
	}
	r := wire.NewCursor("ELF", "header", b, im.p.Order, 0)
	r.Bytes("e_ident", elf.EI_NIDENT)
	kind := elf.Type(r.U16("e_type"))
	r.Bytes("e_machine", 6) // and e_version
	im.word(&r)             // e_entry
	phoff := im.word(&r)
	im.word(&r) // e_shoff
	r.Bytes("e_flags", 6)
	size, n := r.U16("e_phentsize"), r.U16("e_phnum")
	if r.Err() != nil || kind != elf.ET_DYN && kind != elf.ET_EXEC || int(size) != phdr || n > maxProgs || phoff > 1<<40 {
		return false
	}
	b = make([]byte, int(n)*phdr)
	if _, err := src.ReadAt(b, int64(phoff)); err != nil {
		return false
	}
	r = wire.NewCursor("ELF", "program header", b, im.p.Order, int64(phoff))
	found := false
	for range n {
		var x prog
		x.kind = elf.ProgType(r.U32("p_type"))
		if word == 8 {
			x.flags = elf.ProgFlag(r.U32("p_flags"))
		}
		x.off, x.vaddr = im.word(&r), im.word(&r)
		im.word(&r) // p_paddr
		x.filesz, x.memsz = im.word(&r), im.word(&r)
		if word == 4 {
			x.flags = elf.ProgFlag(r.U32("p_flags"))
		}
		im.word(&r) // p_align
		if x.kind == elf.PT_LOAD && x.off>>12 == 0 && !found {
			im.bias, found = im.start-(x.vaddr-x.off), true
		}
		im.progs = append(im.progs, x)
	}
	for _, x := range im.progs {
		if x.kind == elf.PT_LOAD {
			im.end = max(im.end, im.bias+x.vaddr+x.memsz)
		}
	}
	return found
}

// word reads a number of the size of an address.
func (im *image) word(r *wire.Cursor) uint64 {
	if im.p.word() == 4 {
		return uint64(r.U32("word"))
	}
	return r.U64("word")
}

// open opens the file, unless memory shows that it is another build. It reports whether it is open.
func (im *image) open() bool {
	if im.opened || im.p.Open == nil {
		return im.file != nil
	}
	im.opened = true
	// The kernel marks files that are gone. Another file may have the name now.
	if im.file = im.p.Open(strings.TrimSuffix(im.name, " (deleted)")); im.file == nil || !im.inMemory {
		return im.file != nil
	}
	if want := im.buildID(); want != "" {
		f, err := elf.NewFile(im.file)
		if err != nil || buildid.Of(f) != want {
			im.close()
		}
	}
	return im.file != nil
}

// buildID returns the build id in memory, or "".
func (im *image) buildID() string {
	for _, x := range im.progs {
		if x.kind != elf.PT_NOTE || x.filesz > 1<<16 {
			continue
		}
		b := make([]byte, x.filesz)
		if im.p.ReadCode(im.bias+x.vaddr, b) != nil {
			continue
		}
		if id := buildid.InNotes(b, im.p.Order); id != "" {
			return id
		}
	}
	return ""
}

// close closes the file.
func (im *image) close() {
	if im.file != nil {
		im.file.Close()
		im.file = nil
	}
}

// read fills b with the bytes at an address of the image: from memory, or else from the file.
func (im *image) read(addr uint64, b []byte) error {
	err := im.p.ReadCode(im.bias+addr, b)
	var missing *elfcore.MissingError
	if err == nil || !errors.As(err, &missing) || !im.open() {
		return err
	}
	for _, x := range im.progs {
		if x.kind == elf.PT_LOAD && addr >= x.vaddr && addr-x.vaddr <= x.filesz && uint64(len(b)) <= x.filesz-(addr-x.vaddr) {
			_, err = im.file.ReadAt(b, int64(x.off+(addr-x.vaddr)))
			return err
		}
	}
	return err
}
