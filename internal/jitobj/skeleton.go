package jitobj

import (
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/elfgen"
	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// A skeleton is an object for functions that lie in an ELF file. It has the file's program headers,
// its unwind tables and the bytes from the first function to the last, all at the file's own offsets
// and addresses, and holes for the rest. So unwinders get from it what they get from the file. The
// functions' symbols and DWARF are added at its end.

// An Image is the file of a skeleton.
type Image struct {
	ELF  *elffile.File
	Data io.ReaderAt // the same file
	// Start is the address at which the file begins in memory, as a mapping of the functions says:
	// its start less its offset.
	Start uint64
}

// unwindSections are the sections that unwinders read.
var unwindSections = []string{".eh_frame_hdr", ".eh_frame"}

// load returns the segment that holds all code of a region, and the region's offset in the file.
func (g *Image) load(s Region) (p *elffile.Prog, offset uint64, err error) {
	offset = s.Low - g.Start
	for i := range g.ELF.Progs {
		p := &g.ELF.Progs[i]
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && offset >= p.Off && offset-p.Off < p.Filesz && s.High-s.Low <= p.Filesz-(offset-p.Off) {
			return p, offset, nil
		}
	}
	return nil, 0, fmt.Errorf("no segment of it has the code from %#x to %#x", s.Low, s.High)
}

// BeginSkeleton begins a skeleton for the functions of a region. Region.NoCode does not matter: the
// file has the code.
func (b *Builder) BeginSkeleton(s Region, g Image) error {
	p, offset, err := g.load(s)
	if err != nil {
		return err
	}
	b.skeleton = skeleton{region: s, image: g, offset: offset, vaddr: p.Vaddr + (offset - p.Off)}
	b.part.symbols, b.part.names = b.part.symbols[:0], b.part.names[:0]
	b.hashed = b.hashed[:0]
	return b.dwarf.Reset(b.enc)
}

// A skeleton is one in the making. Its region begins at offset in the file, and at vaddr among the
// file's own addresses.
type skeleton struct {
	region        Region
	image         Image
	offset, vaddr uint64
}

// AddToSkeleton adds a function with code at an address in the region.
func (b *Builder) AddToSkeleton(fn *jitcode.Function, addr uint64) error {
	s := &b.skeleton.region
	if addr < s.Low || addr+fn.Size > s.High || addr+fn.Size < addr {
		return fmt.Errorf("%d bytes of code at %#x are outside of the file's part from %#x to %#x", fn.Size, addr, s.Low, s.High)
	}
	b.at = b.skeleton.vaddr + (addr - s.Low)
	p := &b.part
	p.symbols = append(p.symbols, symbol{len(p.names), addr - s.Low, fn.Size, fn.Thumb})
	p.names = append(append(p.names, fn.Name...), 0)
	b.debugInfo(fn)
	return nil
}

// EndSkeleton writes the skeleton to w, which must be empty. The Object has no Bytes, and no Tables:
// those of the file are where the file has them.
func (b *Builder) EndSkeleton(w io.WriterAt) (obj Object, err error) {
	debug, err := b.dwarf.Sections()
	if err != nil {
		return obj, err
	}
	s := &b.skeleton
	f := &b.file
	f.Reset(b.target, s.image.ELF.Type)
	note := f.Add(elfgen.Section{}) // its content depends on the others
	text := f.Add(elfgen.Section{
		Name: ".text", Type: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Align: 1,
		Fixed: true, At: s.offset, Addr: s.vaddr, Room: s.region.High - s.region.Low,
	})
	copied := []io.SectionReader{*io.NewSectionReader(s.image.Data, int64(s.offset), int64(s.region.High-s.region.Low))}
	at := []uint64{s.offset}
	for _, name := range unwindSections {
		t := s.image.ELF.Section(name)
		if t == nil || t.Type == elf.SHT_NOBITS || t.Flags&elf.SHF_COMPRESSED != 0 || t.Offset+t.FileSize < t.Offset {
			continue // no unwinder reads it
		}
		f.Add(elfgen.Section{Name: name, Type: t.Type, Flags: t.Flags, Align: t.Addralign, Fixed: true, At: t.Offset, Addr: t.Addr, Room: t.FileSize})
		copied = append(copied, *io.NewSectionReader(s.image.Data, int64(t.Offset), int64(t.FileSize)))
		at = append(at, t.Offset)
	}
	for i := range copied {
		if err := b.copyTo(w, &copied[i], at[i]); err != nil {
			return obj, err
		}
	}
	for _, d := range debug {
		f.Add(debugSection(d.Name, d.Data))
		b.hashBytes([]byte(d.Name))
		b.hashBytes(d.Data)
	}
	b.attributes()
	for _, p := range s.image.ELF.Progs {
		if p.Type == elf.PT_LOAD || p.Type == elf.PT_GNU_EH_FRAME {
			header := p.ProgHeader
			header.Flags &^= elf.PF_W // no section of it is left that could be written
			f.AddSegment(elfgen.Segment{Fixed: &header})
			b.hashBytes(fmt.Append(nil, header))
		}
	}
	p := Part{symbols: b.part.symbols, names: b.part.names}
	for i := range p.symbols {
		b.hashNumber(p.symbols[i].addr)
		b.hashNumber(p.symbols[i].size)
	}
	b.hashBytes(p.names)
	sum := sha256.Sum256(b.hashed)
	copy(obj.BuildID[:], sum[:])
	id := elfgen.BuildIDNote(b.note[:0], b.target.Order, obj.BuildID[:])
	id.Flags &^= elf.SHF_ALLOC // its address would be another one
	f.Set(note, id)
	f.AddSegment(elfgen.Segment{Type: elf.PT_NOTE, Flags: elf.PF_R, First: note, Last: note, Align: 4})
	for _, local := range []bool{true, false} {
		b.addSymbols(&p, text, local, 0)
	}
	if err := f.WriteTo(w); err != nil {
		return obj, &WriteError{err}
	}
	return obj, nil
}

// copyTo copies a part of the file to an offset of w, and hashes it.
func (b *Builder) copyTo(w io.WriterAt, from *io.SectionReader, at uint64) error {
	b.hashNumber(at)
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(sum, errorWriter{io.NewOffsetWriter(w, int64(at))}), from)
	if err == nil && n < from.Size() {
		err = io.ErrUnexpectedEOF // the file has become shorter
	}
	b.hashBytes(sum.Sum(nil))
	return err
}

// An errorWriter marks its errors as those of writing.
type errorWriter struct{ io.Writer }

func (w errorWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err != nil {
		err = &WriteError{err}
	}
	return n, err
}
