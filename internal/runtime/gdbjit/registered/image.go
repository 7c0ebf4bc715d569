package registered

import (
	"debug/elf"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/format/elffile"
)

// An image is an ELF file that a process has mapped. Its addresses are its own: those in memory are
// higher by bias.
type image struct {
	p        *Process
	name     string
	start    uint64 // address of its ELF header in memory
	end      uint64 // of its segments in memory
	bias     uint64
	progs    []elffile.Prog
	file     File // nil if it cannot be opened, or is another build
	opened   bool // file was tried
	inMemory bool // the headers come from memory
}

// images yields the ELF files that a process has mapped with their headers: one at each address, and until
// their program headers are too many for the memory of the process. In a core, many addresses may have one header.
func (p *Process) images() iter.Seq[*image] {
	return func(yield func(*image) bool) {
		const few = 1 << 16
		left := few + int(p.room()/32)
		last := elfcore.File{Offset: 1}
		for _, f := range p.Files() {
			if f.Offset != 0 || last.Offset == 0 && f.Start == last.Start {
				continue
			}
			last = f
			im := &image{p: p, name: f.Name, start: f.Start}
			im.inMemory = im.headers(memoryAt{p.Memory, f.Start})
			isELF := im.inMemory || im.mayBeELF(&f) && im.open() && im.headers(im.file)
			left -= 1 + len(im.progs)
			more := left >= 0 && (!isELF || yield(im))
			if im.close(); !more {
				return
			}
		}
	}
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

// headers reads the program headers. It returns false if src is not an ELF file of the process's class.
func (im *image) headers(src io.ReaderAt) bool {
	f, err := elffile.OpenSegments(src)
	if err != nil || f.Class != im.p.Class || f.ByteOrder != im.p.Order || f.Type != elf.ET_DYN && f.Type != elf.ET_EXEC {
		return false
	}
	im.progs = f.Progs
	found := false
	for i := range f.Progs {
		if x := &f.Progs[i]; x.Type == elf.PT_LOAD && x.Off>>12 == 0 && !found {
			im.bias, found = im.start-(x.Vaddr-x.Off), true
		}
	}
	for i := range f.Progs {
		if x := &f.Progs[i]; x.Type == elf.PT_LOAD {
			im.end = max(im.end, im.bias+x.Vaddr+x.Memsz)
		}
	}
	return found
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
		f, err := elffile.Open(im.file)
		if err != nil || f.BuildID() != want {
			im.close()
		}
	}
	return im.file != nil
}

// buildID returns the build id in memory, or "".
func (im *image) buildID() string {
	for _, x := range im.progs {
		if x.Type != elf.PT_NOTE || x.Filesz > 1<<16 {
			continue
		}
		b := make([]byte, x.Filesz)
		if im.p.ReadCode(im.bias+x.Vaddr, b) != nil {
			continue
		}
		if id := elffile.BuildIDIn(b, im.p.Order); id != "" {
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
		if x.Type == elf.PT_LOAD && addr >= x.Vaddr && addr-x.Vaddr <= x.Filesz && uint64(len(b)) <= x.Filesz-(addr-x.Vaddr) {
			_, err = im.file.ReadAt(b, int64(x.Off+(addr-x.Vaddr)))
			return err
		}
	}
	return err
}
