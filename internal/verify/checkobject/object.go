package checkobject

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"io"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/jitinject/jitinject/internal/format/callframe"
	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/ehframe"
	"github.com/jitinject/jitinject/internal/verify/jitted"
	"github.com/jitinject/jitinject/internal/words"
)

// An Object is an ELF file that is being checked.
type Object struct {
	*verify.Reporter
	path    string
	ELF     *elffile.File
	src     io.ReaderAt
	Size    int64
	jit     bool // it is of jitted functions: more rules hold
	Text    *elffile.Section
	symbols []elffile.Symbol // of functions in .text, by address
	BuildID []byte
	// skeleton: it takes the place of a file in which the functions lie. Its addresses and
	// tables are that file's.
	skeleton bool
	phdrs    []elf.ProgHeader
	Tables   elf.SectionHeader // from .eh_frame to the end of .eh_frame_hdr; Size 0 if there are none
}

// checkFile checks an ELF file. If its name says that it is of jitted functions,
// the rules for those hold, too.
func checkFile(ctx context.Context, r *verify.Reporter, path string, _ *verify.Options) error {
	f, size, err := verify.OpenSized(path)
	if err != nil {
		return err
	}
	defer f.Close()
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	if jitted.HasMadeNumber(abs) {
		abs = filepath.Base(abs) // in /tmp, it is mapped by another spelling of its path
	}
	o := Check(ctx, r, f, size, abs, jitted.IsObject(path))
	r.Result.Holds = words.Count(int64(len(o.symbols)), "function")
	return nil
}

// Check checks an ELF file. What is known of it is in the result, of which file
// is nil if it is none.
func Check(ctx context.Context, r *verify.Reporter, src io.ReaderAt, size int64, path string, jit bool) (o *Object) {
	o = &Object{Reporter: r, path: path, src: src, Size: size, jit: jit}
	// debug/dwarf promises nothing about hostile files.
	defer func() {
		if e := recover(); e != nil {
			o.Violation("object/elf", 0, "it makes a reader fail: %v", e)
		}
	}()
	f, err := elffile.Open(src)
	if err != nil {
		o.Violation("object/elf", 0, "%v", err)
		return o
	}
	o.ELF = f
	for _, p := range f.Progs {
		o.phdrs = append(o.phdrs, p.ProgHeader)
	}
	o.Text = f.Section(".text")
	o.symbolTable()
	if !jit {
		return o
	}
	o.skeleton = o.isSkeleton()
	o.jitLayout()
	o.note()
	o.frames()
	o.debug(ctx)
	return o
}

func offset(s *elffile.Section) int64 { return int64(s.Offset) }

// symbolTable checks the symbols, and keeps those of functions.
func (o *Object) symbolTable() {
	table := o.ELF.SectionByType(elf.SHT_SYMTAB)
	if table == nil {
		return
	}
	n, locals, first := uint32(0), uint32(0), uint32(0)
	for s := range o.ELF.Symbols(elf.SHT_SYMTAB) {
		if s.Bind == elf.STB_LOCAL {
			locals++
		} else if first == 0 {
			first = n
		}
		n++
	}
	if n == locals {
		first = n
	}
	if table.Info != first || locals != first {
		o.Violation("object/sh-info", offset(table), "sh_info is %d; the first symbol that is not local is number %d, and %d are local", table.Info, first, locals)
	}
	for s := range o.ELF.Symbols(elf.SHT_SYMTAB) {
		if s.Kind != elf.STT_FUNC || s.Section == elf.SHN_UNDEF || s.Section >= elf.SHN_LORESERVE {
			continue
		}
		if int(s.Section) >= len(o.ELF.Sections) {
			o.Violation("object/symbols", offset(table), "%s is in section %d, of %d", verify.Quoted(s.Name()), s.Section, len(o.ELF.Sections))
			continue
		}
		in := &o.ELF.Sections[s.Section]
		if o.ELF.Machine == elf.EM_ARM {
			s.Value &^= 1 // the code is in the T32 set
		}
		if o.ELF.Type != elf.ET_REL && (s.Value < in.Addr || s.Value > in.Addr+in.Size || s.Size > in.Addr+in.Size-s.Value) && o.isOwn(in) {
			o.Violation("object/symbols", offset(table), "%s, %d bytes at %#x, is outside of its section %s, %#x to %#x", verify.Quoted(s.Name()), s.Size, s.Value, verify.Quoted(in.Name), in.Addr, in.Addr+in.Size)
		}
		if in == o.Text && o.jit && (s.Name() == "" || s.Size == 0) {
			o.Violation("object/symbols", offset(table), "the function %s at %#x has %d bytes", verify.Quoted(s.Name()), s.Value, s.Size)
		}
		if in == o.Text {
			o.symbols = append(o.symbols, s)
		}
	}
	sorting.By(o.symbols, func(a, b elffile.Symbol) int { return cmp.Compare(a.Value, b.Value) })
}

// isOwn reports whether symbols are addresses in a section: linkers of other files put
// some outside on purpose.
func (o *Object) isOwn(s *elffile.Section) bool { return o.jit && s.Flags&elf.SHF_ALLOC != 0 }

// isSkeleton reports whether the object stands for another file: a segment has none of its
// sections.
func (o *Object) isSkeleton() bool {
	return slices.ContainsFunc(o.phdrs, func(p elf.ProgHeader) bool {
		return p.Type == elf.PT_LOAD && !slices.ContainsFunc(o.ELF.Sections, func(s elffile.Section) bool {
			return s.Flags&elf.SHF_ALLOC != 0 && s.Addr < p.Vaddr+p.Memsz && p.Vaddr < s.Addr+s.Size
		})
	})
}

// isCode reports whether a segment has [lo, hi) as code.
func (o *Object) isCode(lo, hi uint64) bool {
	return slices.ContainsFunc(o.phdrs, func(p elf.ProgHeader) bool {
		return p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && lo >= p.Vaddr && hi-p.Vaddr <= p.Memsz
	})
}

// jitLayout checks what perf needs in order to find a symbol.
func (o *Object) jitLayout() {
	if o.Text == nil {
		o.Violation("object/text", 0, "there is no .text")
		return
	}
	if o.Text.Addr != o.Text.Offset && !o.skeleton || o.Text.Flags&(elf.SHF_ALLOC|elf.SHF_EXECINSTR) != elf.SHF_ALLOC|elf.SHF_EXECINSTR {
		o.Violation("object/text", offset(o.Text), ".text is at address %#x and offset %#x, with flags %s", o.Text.Addr, o.Text.Offset, o.Text.Flags)
	}
	if len(o.symbols) == 0 {
		o.Violation("object/no-symbol", offset(o.Text), "no symbol of a function is in .text")
	}
	var first *elf.ProgHeader
	covered := false
	for i := range o.phdrs {
		p := &o.phdrs[i]
		if p.Type != elf.PT_LOAD {
			continue
		}
		if first == nil {
			first = p
		}
		inFile := p.Filesz
		if o.Text.Type == elf.SHT_NOBITS { // its bytes are not known
			inFile = p.Memsz
		}
		covered = covered || p.Flags&elf.PF_X != 0 && p.Off <= o.Text.Offset && p.Off+inFile >= o.Text.Offset+o.Text.Size && o.Text.Addr-p.Vaddr == o.Text.Offset-p.Off
	}
	if !covered {
		o.Violation("object/load", 0, "no PT_LOAD has .text, %d bytes at %#x", o.Text.FileSize, o.Text.Offset)
	}
	if first == nil || o.skeleton {
		return
	}
	base, want := first.Vaddr, uint64(0)
	if first.Align > 1 {
		base &^= first.Align - 1
	}
	if strings.HasPrefix(o.path, "/tmp/jitted-") {
		want = o.Text.Addr
	}
	if base != want {
		o.Violation("object/base", 0, "the first PT_LOAD is at address %#x, aligned to %#x: %#x instead of %#x", first.Vaddr, first.Align, base, want)
	}
}

// note checks that there is a build id, and that it can be found both ways.
func (o *Object) note() {
	s := o.ELF.Section(".note.gnu.build-id")
	if s == nil {
		o.Violation("object/build-id", 0, "there is no .note.gnu.build-id")
		return
	}
	b, err := s.Data()
	if err != nil || len(b) < 16 {
		o.Violation("object/build-id", offset(s), ".note.gnu.build-id cannot be read")
		return
	}
	order := o.ELF.ByteOrder
	nameSize, idSize, typ := order.Uint32(b), order.Uint32(b[4:]), order.Uint32(b[8:])
	if nameSize != 4 || typ != 3 || string(b[12:16]) != "GNU\x00" || idSize == 0 || idSize > 64 || uint64(idSize) > uint64(len(b)-16) {
		o.Violation("object/build-id", offset(s), ".note.gnu.build-id holds no build id")
		return
	}
	o.BuildID = b[16 : 16+idSize]
	if len(bytes.Trim(o.BuildID, "\x00")) == 0 {
		o.Violation("object/build-id", offset(s), "the build id is nothing but zeros")
		return
	}
	for _, p := range o.phdrs {
		if p.Type == elf.PT_NOTE && p.Off <= s.Offset && p.Off+p.Filesz >= s.Offset+s.FileSize {
			return
		}
	}
	o.Violation("object/note-segment", offset(s), "no PT_NOTE has .note.gnu.build-id")
}

func (o *Object) frames() {
	frames, header := o.ELF.Section(".eh_frame"), o.ELF.Section(".eh_frame_hdr")
	if frames == nil && header == nil || o.Text == nil {
		return
	}
	if frames == nil || header == nil {
		o.Violation("object/frame-header", 0, ".eh_frame and .eh_frame_hdr are not both there")
		return
	}
	if !o.skeleton { // its tables are found where the file has them
		o.Tables = frames.SectionHeader
		o.Tables.Size = header.Offset + header.FileSize - frames.Offset
	}
	data, err := frames.Data()
	if err != nil {
		o.Violation("object/frames", offset(frames), "%v", err)
		return
	}
	place := callframe.Place{Order: o.ELF.ByteOrder, AddrSize: 8, Machine: o.ELF.Machine, Addr: frames.Addr}
	if o.ELF.Class == elf.ELFCLASS32 {
		place.AddrSize = 4
	}
	table, err := ehframe.Read(place, data)
	if err != nil {
		o.Violation("object/frames", offset(frames), "%v", err)
		return
	}
	for _, f := range table {
		inText := f.Low >= o.Text.Addr && f.High <= o.Text.Addr+o.Text.Size
		if f.Low >= f.High || !inText && !(o.skeleton && o.isCode(f.Low, f.High)) {
			o.Violation("object/frames", offset(frames), "an FDE is about %#x to %#x, .text is at %#x to %#x", f.Low, f.High, o.Text.Addr, o.Text.Addr+o.Text.Size)
			return
		}
	}
	data, err = header.Data()
	if err == nil {
		err = ehframe.CheckHeader(place, data, header.Addr, table)
	}
	if err != nil {
		o.Violation("object/frame-header", offset(header), "%v", err)
		return
	}
	if header.Flags&elf.SHF_ALLOC == 0 {
		return // the tables have a place of their own, in no segment
	}
	for _, p := range o.phdrs {
		if p.Type == elf.PT_GNU_EH_FRAME {
			if p.Off != header.Offset || p.Vaddr != header.Addr || p.Filesz != header.FileSize {
				o.Violation("object/frame-segment", offset(header), "PT_GNU_EH_FRAME has %d bytes at %#x, .eh_frame_hdr %d at %#x", p.Filesz, p.Off, header.FileSize, header.Offset)
			}
			return
		}
	}
	o.Violation("object/frame-segment", offset(header), "there is no PT_GNU_EH_FRAME")
}

// HasSymbol reports whether a function's symbol is in size bytes at an address. The
// symbols do not overlap in what jitinject and perf inject make.
func (o *Object) HasSymbol(addr, size uint64) bool {
	i := sort.Search(len(o.symbols), func(i int) bool { return o.symbols[i].Value+max(o.symbols[i].Size, 1) > addr })
	return i < len(o.symbols) && o.symbols[i].Value < addr+size
}
