package showelf

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/frames"
	"github.com/jitinject/jitinject/internal/show/listing"
)

// An objectViewer shows an ELF file: in full, if it is an object of jitted code, or else
// what it is.
type objectViewer struct {
	*show.Viewer
	file    *elf.File
	symbols []elf.Symbol // functions, by address
	debug   *objectDebug
	said    bool
}

// maxObject bounds the size of files that are shown in full: debug/elf and debug/dwarf
// hold all of it in memory.
const maxObject = 1 << 30

// objectTypes are what objects are shown as.
var objectTypes = []string{"section", "symbol", "function", "unwind"}

// Format is the format of objects and of core dumps.
var Format = show.Format{
	Name:   "an ELF file",
	Begins: func(head []byte) bool { return bytes.HasPrefix(head, []byte(elf.ELFMAG)) },
	Show:   showELF,
	Types:  slices.Concat(objectTypes, coreTypes),
}

func showELF(v *show.Viewer) error {
	if err := v.NeedsFile("ELF"); err != nil {
		return err
	}
	if c, err := elfcore.Open(v.File); !errors.Is(err, elfcore.ErrNotCore) {
		if err != nil {
			return err
		}
		return showCore(v, c)
	}
	var f *elf.File
	err := guard("ELF", func() (err error) { f, err = elf.NewFile(v.File); return err })
	if err != nil {
		return err
	}
	o := &objectViewer{Viewer: v, file: f}
	ours := isObject(f) && v.Size <= maxObject
	o.identity(ours)
	filter := &v.Opts.Filter
	if !filter.IsPicky() && filter.MatchesType("section") {
		o.sections()
	}
	if !ours {
		return nil
	}
	if err := guard("ELF", o.readSymbols); err != nil {
		v.Problem(-1, err)
	}
	if err := guard("DWARF", func() (err error) { o.debug, err = readDebug(f); return err }); err != nil {
		v.Problem(-1, err)
	}
	if filter.MatchesType("function") {
		for i := range o.symbols {
			if s := &o.symbols[i]; o.wanted(s) && !o.Lost() {
				o.function(s)
			}
		}
	}
	if filter.MatchesType("unwind") {
		o.unwind()
	}
	return nil
}

// guard keeps what is wrong with a file from ending the program: the standard library
// makes no promises about files that were made to hurt.
func guard(format string, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: the file is invalid: %v", format, r)
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
	f, o := v.file, v.Out
	v.Begun("ELF")
	kind := "object of jitted code"
	if !ours {
		kind = "no object of jitted code; only its sections are shown"
	}
	o.Word("kind", kind)
	o.Word("class", strings.ToLower(strings.TrimPrefix(f.Class.String(), "ELFCLASS"))+"-bit")
	o.Word("order", show.OrderName(f.ByteOrder))
	o.Word("elf_type", f.Type.String())
	o.Named("machine", uint64(f.Machine), show.MachineName(uint32(f.Machine)))
	if id := buildIDOf(f); id != nil {
		o.ID("build_id", id)
	}
	o.End()
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
	o := v.Out
	for i, s := range v.file.Sections {
		if i == 0 || v.Lost() {
			continue
		}
		size := int64(s.FileSize)
		if s.Type == elf.SHT_NOBITS {
			size = 0
		}
		o.Begin(show.Item{Offset: int64(s.Offset), Type: "section", Size: size})
		o.Str("name", []byte(s.Name))
		o.Word("kind", strings.TrimPrefix(s.Type.String(), "SHT_"))
		if s.Addr != 0 {
			o.Hex("addr", s.Addr)
		}
		o.Words("flags", sectionFlags(s.Flags))
		if v.Opts.Hex && size > 0 {
			v.bytes(s)
		}
		o.End()
	}
}

// maxSection bounds how much of a section is shown as bytes.
const maxSection = 64 << 20

func (v *objectViewer) bytes(s *elf.Section) {
	if s.FileSize > maxSection || int64(s.Offset) > v.Size {
		v.Out.Word("not_shown", "too large")
		return
	}
	b := make([]byte, min(int64(s.FileSize), max(0, v.Size-int64(s.Offset))))
	n, _ := v.Viewer.File.ReadAt(b, int64(s.Offset))
	v.Out.Data("hex", b[:n], int64(s.Offset))
}

func sectionFlags(f elf.SectionFlag) []string {
	return show.BitNames(uint64(f), []string{"WRITE", "ALLOC", "EXECINSTR", "", "MERGE", "STRINGS", "INFO_LINK", "LINK_ORDER", "", "GROUP", "TLS", "COMPRESSED"})
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
	f := &v.Opts.Filter
	return len(f.PIDs) == 0 && !f.Time.Set && f.MatchesName([]byte(s.Name)) && f.Address.Meets(s.Value, s.Size)
}

// function shows a function with all that is known of it.
func (v *objectViewer) function(s *elf.Symbol) {
	o := v.Out
	thumb := v.file.Machine == elf.EM_ARM && s.Value&1 != 0
	start := s.Value
	if thumb {
		start--
	}
	code, at := v.code(start, s.Size)
	unknown := len(code) == 0 && v.lacksCode(start)
	o.Begin(show.Item{Offset: at, Type: "function", Size: int64(len(code))})
	o.Hex("addr", start)
	o.Num("symbol_size", s.Size)
	o.Str("name", []byte(s.Name))
	if unknown {
		o.Word("code", "not known")
	}
	var lines []listing.Line
	var calls []listing.Call
	if v.debug != nil {
		lines = v.debug.linesOf(start, s.Size)
		calls = v.debug.callsOf(start, s.Size)
	}
	if !v.Opts.Disassemble {
		listing.ShowCalls(v.Out, calls)
		o.List("line_table")
		for _, l := range lines {
			o.Row()
			o.At("addr", start+l.Offset)
			o.Place([]byte(l.File), l.Line, l.Column)
		}
		o.EndList()
	} else {
		machine := uint32(v.file.Machine)
		l := listing.Code{Machine: machine, Order: v.file.ByteOrder, Thumb: thumb, Addr: start, Code: code, Lines: lines, Calls: calls,
			Text: func(file string, line uint64) ([]byte, bool) { return v.Texts.Of(file).Line(line) }}
		if why := listing.Unsupported(machine, v.file.ByteOrder, thumb); why != "" && !v.said {
			v.said = true
			o.Word("not_disassembled", why)
		}
		l.Show(o)
	}
	o.End()
	if uint64(len(code)) < s.Size && !unknown {
		v.Problem(at, fmt.Errorf("ELF: the function has %d bytes, and %d of them are in the file", s.Size, len(code)))
	}
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
		n := min(size, s.Size-(addr-s.Addr), maxCode, uint64(max(0, v.Size-at)))
		code = make([]byte, n)
		got, _ := v.Viewer.File.ReadAt(code, at)
		return code[:got], at
	}
	return nil, -1
}

// lacksCode reports whether a function is in a section without bytes: those of its code
// were not known when the object was made.
func (v *objectViewer) lacksCode(addr uint64) bool {
	return slices.ContainsFunc(v.file.Sections, func(s *elf.Section) bool {
		return s.Type == elf.SHT_NOBITS && s.Flags&elf.SHF_EXECINSTR != 0 && addr >= s.Addr && addr-s.Addr < s.Size
	})
}

// unwind shows the unwind tables.
func (v *objectViewer) unwind() {
	filter := &v.Opts.Filter
	if len(filter.PIDs) > 0 || filter.Time.Set {
		return
	}
	if filter.IsPicky() && !slices.ContainsFunc(v.symbols, func(s elf.Symbol) bool { return v.wanted(&s) }) {
		return
	}
	s := v.file.Section(".eh_frame")
	if s == nil || s.Type == elf.SHT_NOBITS || s.FileSize > maxSection || int64(s.Offset) > v.Size {
		return
	}
	data := make([]byte, min(int64(s.FileSize), v.Size-int64(s.Offset)))
	n, _ := v.Viewer.File.ReadAt(data, int64(s.Offset))
	v.Out.Begin(show.Item{Offset: int64(s.Offset), Type: "unwind", Size: int64(n)})
	v.Out.Hex("addr", s.Addr)
	v.Out.List("frames")
	t := frames.Table{
		Out: v.Out, Order: v.file.ByteOrder, Machine: uint32(v.file.Machine), AddrSize: 8,
		Address: s.Addr, FileOffset: int64(s.Offset),
	}
	if v.file.Class == elf.ELFCLASS32 {
		t.AddrSize = 4
	}
	if filter.IsPicky() {
		t.Choose = v.frameWanted
	}
	t.Show(data[:n])
	v.Out.EndList()
	v.Out.End()
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
