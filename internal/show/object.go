package show

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/elfcore"
)

// An objectViewer shows an ELF file: in full, if it is an object of jitted code, or else
// what it is.
type objectViewer struct {
	*viewer
	file    *elf.File
	symbols []elf.Symbol // functions, by address
	debug   *objectDebug
	said    bool
}

// maxObject bounds the size of files that are shown in full: debug/elf and debug/dwarf
// hold all of it in memory.
const maxObject = 1 << 30

func showELF(v *viewer) error {
	if err := v.needsFile("ELF"); err != nil {
		return err
	}
	if c, err := elfcore.Open(v.file); !errors.Is(err, elfcore.ErrNotCore) {
		if err != nil {
			return err
		}
		return showCore(v, c)
	}
	var f *elf.File
	err := guard("ELF", func() (err error) { f, err = elf.NewFile(v.file); return err })
	if err != nil {
		return err
	}
	o := &objectViewer{viewer: v, file: f}
	ours := isObject(f) && v.size <= maxObject
	o.identity(ours)
	filter := &v.opts.Filter
	if !filter.picky() && filter.typed("section") {
		o.sections()
	}
	if !ours {
		return nil
	}
	if err := guard("ELF", o.readSymbols); err != nil {
		v.problem(-1, err)
	}
	if err := guard("DWARF", func() (err error) { o.debug, err = readDebug(f); return err }); err != nil {
		v.problem(-1, err)
	}
	if filter.typed("function") {
		for i := range o.symbols {
			if s := &o.symbols[i]; o.wanted(s) && !o.lost() {
				o.function(s)
			}
		}
	}
	if filter.typed("unwind") {
		o.unwind()
	}
	return nil
}

// guard keeps what is wrong with a file from ending the program: the standard library
// makes no promises about files that were made to hurt.
func guard(format string, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: the file makes no sense: %v", format, r)
		}
	}()
	return f()
}

// isObject reports whether a file looks like an object of jitted code, ours or perf
// inject's: a shared object that nothing could be linked with.
func isObject(f *elf.File) bool {
	if f.Type != elf.ET_DYN && f.Type != elf.ET_EXEC || f.Section(".text") == nil {
		return false
	}
	for _, s := range f.Sections {
		if s.Type == elf.SHT_DYNAMIC || s.Type == elf.SHT_DYNSYM || s.Flags&elf.SHF_COMPRESSED != 0 {
			return false
		}
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			return false
		}
	}
	return true
}

// identity shows what the file is.
func (v *objectViewer) identity(ours bool) {
	f, o := v.file, v.out
	v.begun("ELF")
	kind := "object of jitted code"
	if !ours {
		kind = "no object of jitted code; only its sections are shown"
	}
	o.word("kind", kind)
	o.word("class", strings.ToLower(strings.TrimPrefix(f.Class.String(), "ELFCLASS"))+"-bit")
	o.word("order", orderName(f.ByteOrder))
	o.word("elf_type", f.Type.String())
	o.named("machine", uint64(f.Machine), machineName(uint32(f.Machine)))
	if id := buildIDOf(f); id != nil {
		o.id("build_id", id)
	}
	o.end()
}

// maxNote bounds the notes that are read.
const maxNote = 1 << 20

// buildIDOf returns the build id of the notes of a file, or nil.
func buildIDOf(f *elf.File) []byte {
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOTE || s.Size > maxNote || s.Flags&elf.SHF_COMPRESSED != 0 {
			continue
		}
		b, err := s.Data()
		if err != nil {
			continue
		}
		for len(b) >= 12 {
			nameSize, size := uint64(f.ByteOrder.Uint32(b)), uint64(f.ByteOrder.Uint32(b[4:]))
			typ := f.ByteOrder.Uint32(b[8:])
			at := 12 + (nameSize+3)&^3
			if at+size > uint64(len(b)) {
				break
			}
			if typ == 3 && string(b[12:12+nameSize]) == "GNU\x00" { // NT_GNU_BUILD_ID
				return b[at : at+size]
			}
			b = b[min(at+(size+3)&^3, uint64(len(b))):]
		}
	}
	return nil
}

func (v *objectViewer) sections() {
	o := v.out
	for i, s := range v.file.Sections {
		if i == 0 || v.lost() {
			continue
		}
		size := int64(s.FileSize)
		if s.Type == elf.SHT_NOBITS {
			size = 0
		}
		o.begin(item{offset: int64(s.Offset), typ: "section", size: size})
		o.str("name", []byte(s.Name))
		o.word("kind", strings.TrimPrefix(s.Type.String(), "SHT_"))
		if s.Addr != 0 {
			o.hex("addr", s.Addr)
		}
		o.words("flags", sectionFlags(s.Flags))
		if v.opts.Hex && size > 0 {
			v.bytes(s)
		}
		o.end()
	}
}

// maxSection bounds how much of a section is shown as bytes.
const maxSection = 64 << 20

func (v *objectViewer) bytes(s *elf.Section) {
	if s.FileSize > maxSection || int64(s.Offset) > v.size {
		v.out.word("not_shown", "too large")
		return
	}
	b := make([]byte, min(int64(s.FileSize), max(0, v.size-int64(s.Offset))))
	n, _ := v.viewer.file.ReadAt(b, int64(s.Offset))
	v.out.data("hex", b[:n], int64(s.Offset))
}

func sectionFlags(f elf.SectionFlag) []string {
	return bitNames(uint64(f), []string{"WRITE", "ALLOC", "EXECINSTR", "", "MERGE", "STRINGS", "INFO_LINK", "LINK_ORDER", "", "GROUP", "TLS", "COMPRESSED"})
}

// readSymbols finds the functions.
func (v *objectViewer) readSymbols() error {
	all, err := v.file.Symbols()
	if err != nil {
		return fmt.Errorf("its symbols cannot be read: %w", err)
	}
	for _, s := range all {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF {
			v.symbols = append(v.symbols, s)
		}
	}
	slices.SortStableFunc(v.symbols, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	return nil
}

// wanted reports whether the filter lets a function through. An object is of no process
// and of no time.
func (v *objectViewer) wanted(s *elf.Symbol) bool {
	f := &v.opts.Filter
	return len(f.PIDs) == 0 && !f.Time.Set && f.name([]byte(s.Name)) && f.Address.touches(s.Value, s.Size)
}

// function shows a function with all that is known of it.
func (v *objectViewer) function(s *elf.Symbol) {
	o := v.out
	thumb := v.file.Machine == elf.EM_ARM && s.Value&1 != 0
	start := s.Value
	if thumb {
		start--
	}
	code, at := v.code(start, s.Size)
	unknown := len(code) == 0 && v.isCodeless(start)
	o.begin(item{offset: at, typ: "function", size: int64(len(code))})
	o.hex("addr", start)
	o.num("symbol_size", s.Size)
	o.str("name", []byte(s.Name))
	if unknown {
		o.word("code", "not known")
	}
	var lines []listedLine
	var calls []inlinedCall
	if v.debug != nil {
		lines = v.debug.linesOf(start, s.Size)
		calls = v.debug.callsOf(start, s.Size)
	}
	if !v.opts.Disassemble {
		v.tree(calls)
		o.list("line_table")
		for _, l := range lines {
			o.row()
			o.at("addr", start+l.offset)
			o.place([]byte(l.file), l.line, l.column)
		}
		o.endList()
	} else {
		machine := uint32(v.file.Machine)
		l := listing{machine: machine, order: v.file.ByteOrder, thumb: thumb, addr: start, code: code, lines: lines, calls: calls,
			text: func(file string, line uint64) ([]byte, bool) { return v.texts.of(file).line(line) }}
		if why := noDisassembler(machine, v.file.ByteOrder, thumb); why != "" && !v.said {
			v.said = true
			o.word("not_disassembled", why)
		}
		l.show(o, v.file.ByteOrder)
	}
	o.end()
	if uint64(len(code)) < s.Size && !unknown {
		v.problem(at, fmt.Errorf("ELF: the function has %d bytes, of which %d are in the file", s.Size, len(code)))
	}
}

// tree shows inlined calls, each below the one that it is in.
func (v *objectViewer) tree(calls []inlinedCall) {
	o := v.out
	o.list("inline_calls")
	for i := 0; i < len(calls); {
		c := &calls[i]
		o.row()
		o.depth(uint64(c.depth))
		o.label("function", []byte(c.function))
		o.calledAt([]byte(c.file), c.line, c.column)
		o.array("ranges")
		for id := c.id; i < len(calls) && calls[i].id == id; i++ {
			o.elemRange(calls[i].first, calls[i].end)
		}
		o.endArray()
	}
	o.endList()
}

// maxCode bounds the code of a function.
const maxCode = 64 << 20

// code returns the code of a function, and where it is in the file.
func (v *objectViewer) code(addr, size uint64) (code []byte, at int64) {
	for _, s := range v.file.Sections {
		if s.Type != elf.SHT_PROGBITS || s.Flags&elf.SHF_EXECINSTR == 0 || addr < s.Addr || addr-s.Addr >= s.Size {
			continue
		}
		at = int64(s.Offset + addr - s.Addr)
		n := min(size, s.Size-(addr-s.Addr), maxCode, uint64(max(0, v.size-at)))
		code = make([]byte, n)
		got, _ := v.viewer.file.ReadAt(code, at)
		return code[:got], at
	}
	return nil, -1
}

// isCodeless reports whether a function is in a section without bytes: those of its code
// were not known when the object was made.
func (v *objectViewer) isCodeless(addr uint64) bool {
	return slices.ContainsFunc(v.file.Sections, func(s *elf.Section) bool {
		return s.Type == elf.SHT_NOBITS && s.Flags&elf.SHF_EXECINSTR != 0 && addr >= s.Addr && addr-s.Addr < s.Size
	})
}

// unwind shows the unwind tables.
func (v *objectViewer) unwind() {
	filter := &v.opts.Filter
	if len(filter.PIDs) > 0 || filter.Time.Set {
		return
	}
	if filter.picky() && !slices.ContainsFunc(v.symbols, func(s elf.Symbol) bool { return v.wanted(&s) }) {
		return
	}
	s := v.file.Section(".eh_frame")
	if s == nil || s.Type == elf.SHT_NOBITS || s.FileSize > maxSection || int64(s.Offset) > v.size {
		return
	}
	data := make([]byte, min(int64(s.FileSize), v.size-int64(s.Offset)))
	n, _ := v.viewer.file.ReadAt(data, int64(s.Offset))
	v.out.begin(item{offset: int64(s.Offset), typ: "unwind", size: int64(n)})
	v.out.hex("addr", s.Addr)
	v.out.list("frames")
	t := frameTable{
		out: v.out, order: v.file.ByteOrder, machine: uint32(v.file.Machine), addrSize: 8,
		address: s.Addr, fileOffset: int64(s.Offset),
	}
	if v.file.Class == elf.ELFCLASS32 {
		t.addrSize = 4
	}
	if filter.picky() {
		t.choose = v.frameWanted
	}
	t.show(data[:n])
	v.out.endList()
	v.out.end()
}

// frameWanted reports whether an FDE is of a function that the filter lets through.
func (v *objectViewer) frameWanted(first, size uint64) bool {
	i, _ := slices.BinarySearchFunc(v.symbols, first, func(s elf.Symbol, addr uint64) int { return cmp.Compare(s.Value, addr) })
	for ; i < len(v.symbols) && v.symbols[i].Value-first < max(size, 1); i++ {
		if v.wanted(&v.symbols[i]) {
			return true
		}
	}
	return false
}
