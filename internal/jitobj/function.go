package jitobj

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"

	"github.com/jitinject/jitinject/dwarfgen"
	"github.com/jitinject/jitinject/elfgen"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// Options determine how objects are made. The content of an object depends only on them and on the
// function: the same input gives the same bytes.
type Options struct {
	DWARF    int    // version, 4 or 5; 0 means 5
	Tight    bool   // see segments
	Producer string // DW_AT_producer
	CompDir  string // DW_AT_comp_dir: base of relative file names; "" means "."
	Embed    bool   // put the texts of source files into the line table, in DWARF 5
	Fill     uint64 // most bytes in place of unknown code of a function; 0 means MaxFill
}

// TextOffset is the file offset, and address, of an object's code. The ELF header and the build-id
// note fit before it in 32- and 64-bit files. It is a multiple of compilers' function alignment.
const TextOffset = 0x80

// textAlign makes .text begin at TextOffset.
const textAlign = 0x40

// pageSize is the alignment of PT_LOAD. Readers round the segment's address down to it to find the
// file's start in memory, and must get 0.
const pageSize = 0x1000

// BuildIDSize is the length of build ids in bytes. It is that of SHA-1, which linkers use: perf has
// no space for more.
const BuildIDSize = 20

// An Object is a finished ELF file.
type Object struct {
	Bytes   []byte // belongs to the Builder, until its next Build
	BuildID [BuildIDSize]byte
	Tables  Tables
}

// Tables is the range of an object's unwind tables in its file: .eh_frame, then .eh_frame_hdr. Size
// is 0 without tables. Blank means that they have no entries, because the function's tables did not
// fit.
type Tables struct {
	Offset, Size uint64
	Blank        bool
}

// Describe reports whether the tables have the function's rows.
func (t *Tables) Describe() bool { return t.Size > 0 && !t.Blank }

// A Builder makes objects one after the other, in the same memory. Only one goroutine may use it at
// a time; use one Builder for each.
type Builder struct {
	opts     Options
	target   elfgen.Target
	enc      dwarfgen.Encoding
	out      []byte
	note     [64]byte
	arm      [64]byte
	file     elfgen.File
	dwarf    dwarfgen.Builder
	unit     dwarfgen.Unit
	files    []dwarfgen.FileID // by index of the function's files, -1 if not used yet
	ids      ids
	frames   dwarfgen.Frames
	header   []byte
	at       uint64 // address of the function in the object
	cies     cies
	part     part
	skeleton skeleton
	spare    *Part // a joined part with memory for the next one, or nil
	rows     []dwarfgen.FrameRow
	saved    []dwarfgen.SavedReg
	ranges   []dwarfgen.Range
	plain    map[string][2]string // see names
	edges    []uint64             // starts and ends of inlined calls
	hashed   []byte               // input of the build id's hash
}

// NewBuilder returns a builder of objects for code of the given target.
func NewBuilder(t jitcode.Target, opts Options) (*Builder, error) {
	if opts.DWARF == 0 {
		opts.DWARF = 5
	}
	if opts.CompDir == "" {
		opts.CompDir = "."
	}
	opts.Fill = cmp.Or(opts.Fill, MaxFill)
	b := &Builder{opts: opts}
	b.target = elfgen.TargetFor(elf.Machine(t.Machine), t.Order, t.HighAddress)
	b.enc = dwarfgen.Encoding{Version: opts.DWARF, AddrSize: 8, Order: t.Order}
	if b.target.Class == elf.ELFCLASS32 {
		b.enc.AddrSize = 4
	}
	if err := b.dwarf.Reset(b.enc); err != nil {
		return nil, err
	}
	return b, nil
}

// A Place is the place of an object's unwind tables in memory. The zero value means: after the
// code.
type Place struct {
	None bool   // there is no space for tables
	Away uint64 // from the start of the code to the start of the tables, in bytes
	Room uint64 // maximum size of the tables, in bytes; longer ones are dropped
}

// Build makes the object of one function.
func (b *Builder) Build(fn *jitcode.Function, place Place) (Object, error) {
	b.at = TextOffset
	if err := b.dwarf.Reset(b.enc); err != nil {
		return Object{}, err
	}
	b.debugInfo(fn)
	debug, err := b.dwarf.Sections()
	if err != nil {
		return Object{}, err
	}
	obj := Object{BuildID: b.buildID(fn, place, debug)}

	f := &b.file
	f.Reset(b.target, elf.ET_DYN)
	note := f.Add(b.idNote(&obj))
	code := textSection(fn.HasCode())
	code.Data = b.codeOf(fn)
	if !fn.HasCode() {
		code.Room = fn.Size
	}
	text := f.Add(code)
	frameHeader, err := b.unwindTables(fn, place, &obj.Tables)
	if err != nil {
		return Object{}, err
	}
	for _, s := range debug {
		f.Add(debugSection(s.Name, s.Data))
	}
	b.attributes()
	b.segments(segmented{note, text, frameHeader, fn.HasCode()}, place)
	if fn.Thumb {
		f.AddSymbol(mappingSymbol(text, 0, true))
	}
	f.AddSymbol(functionSymbol(fn.Name, text, 0, fn.Size, fn.Thumb))
	if b.out, err = f.AppendTo(b.out[:0]); err != nil {
		return Object{}, err
	}
	obj.Bytes = b.out
	return obj, nil
}

// idNote returns the section with the object's build id.
func (b *Builder) idNote(obj *Object) elfgen.Section {
	s := elfgen.BuildIDNote(b.note[:0], b.target.Order, obj.BuildID[:])
	if b.opts.Tight {
		s.Flags &^= elf.SHF_ALLOC // it lies outside the only PT_LOAD
	}
	return s
}

// textSection returns the section of the code, without its content. For unknown code it takes no
// space in the file: readers must not take zeros or traps for instructions.
func textSection(hasCode bool) elfgen.Section {
	s := elfgen.Section{Name: ".text", Type: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Align: textAlign}
	if !hasCode {
		s.Type = elf.SHT_NOBITS
	}
	return s
}

// MaxFill bounds the bytes in place of the unknown code of a function. A damaged log may claim functions of any
// length.
const MaxFill = 64 << 10

// noCode is in place of unknown code: two such bytes are no instruction of x86, four none of ARM's.
var noCode = bytes.Repeat([]byte{0xff}, MaxFill)

// codeOf returns the file's content at the place of a function's code, known or not.
//
// A perf linked with capstone or LLVM reads the file there, even in a section without content. At
// the first invalid instruction, it uses objdump instead, which respects the section
// [tools/perf/util/capstone.c]. So unknown code is replaced by invalid instructions. Zeros and
// debugging information would be valid code.
func (b *Builder) codeOf(fn *jitcode.Function) []byte {
	if fn.HasCode() {
		return fn.Code
	}
	n := min(fn.Size, b.opts.Fill)
	if b.target.Machine == elf.EM_PPC || b.target.Machine == elf.EM_PPC64 {
		return make([]byte, n)
	}
	return noCode[:n:n]
}

// attributes adds the sections that some machines need.
func (b *Builder) attributes() {
	if b.target.Machine == elf.EM_ARM {
		b.file.Add(elfgen.ARMAttributes(b.arm[:0], b.target.Order))
	}
}

// mappingSymbol and functionSymbol both mark code in the T32 instruction set. Disassemblers read
// the mapping symbol. Callers read the lowest bit of the function's value [ELF for the Arm
// Architecture, 5.5.3 and 5.5.5].

func mappingSymbol(text elfgen.SectionID, value uint64, thumb bool) elfgen.Symbol {
	name := "$a" // needed only beside code in the other set
	if thumb {
		name = "$t"
	}
	return elfgen.Symbol{Name: []byte(name), Bind: elf.STB_LOCAL, Type: elf.STT_NOTYPE, Section: text, Value: value}
}

func functionSymbol(name []byte, text elfgen.SectionID, value, size uint64, thumb bool) elfgen.Symbol {
	if thumb {
		value |= 1
	}
	return elfgen.Symbol{Name: name, Bind: elf.STB_GLOBAL, Type: elf.STT_FUNC, Section: text, Value: value, Size: size}
}

// debugSection returns a section of DWARF.
func debugSection(name string, data []byte, pieces ...[]byte) elfgen.Section {
	s := elfgen.Section{Name: name, Type: elf.SHT_PROGBITS, Data: data, Pieces: pieces}
	if name == ".debug_str" || name == ".debug_line_str" {
		s.Flags, s.EntSize = elf.SHF_MERGE|elf.SHF_STRINGS, 1
	}
	return s
}

// A segmented has the sections that belong to segments.
type segmented struct {
	note, text  elfgen.SectionID
	frameHeader elfgen.SectionID // 0 without unwind tables
	hasCode     bool
}

// segments adds the program headers.
//
// perf with libdw takes start - pgoff of a mapping as the address of the file. For files called
// /tmp/jitted-*, it takes the mapping's start. libdw expects the first PT_LOAD there, its address
// rounded down to its alignment. So the segment begins at the start of the file, where addresses
// are 0. In a tight object, which is for that directory only, it begins with .text.
//
// Tables with a place of their own are in no PT_LOAD. For libdw, a file extends to the end of the
// last PT_LOAD, and there are other functions in between. PT_GNU_EH_FRAME says where they are.
// Tables after code that is not in the file have their own PT_LOAD.
func (b *Builder) segments(s segmented, place Place) {
	load := elfgen.Segment{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, First: s.note, Last: s.text, Align: pageSize, FromStart: true}
	tables := s.frameHeader != 0 && place.Away == 0
	if tables && s.hasCode {
		load.Last = s.frameHeader
	}
	if b.opts.Tight {
		load.First, load.FromStart, load.Align = s.text, false, textAlign
	}
	b.file.AddSegment(load)
	if tables && !s.hasCode {
		b.file.AddSegment(elfgen.Segment{Type: elf.PT_LOAD, Flags: elf.PF_R, First: s.frameHeader - 1, Last: s.frameHeader, Align: load.Align})
	}
	b.file.AddSegment(elfgen.Segment{Type: elf.PT_NOTE, Flags: elf.PF_R, First: s.note, Last: s.note, Align: 4})
	if s.frameHeader != 0 {
		b.file.AddSegment(elfgen.Segment{Type: elf.PT_GNU_EH_FRAME, Flags: elf.PF_R, First: s.frameHeader, Last: s.frameHeader, Align: 4})
	}
}

// buildID hashes everything that determines the content of fn's object, and the function's address,
// which is not in the object. Equal code at two addresses is two functions, with objects that must
// not replace each other.
func (b *Builder) buildID(fn *jitcode.Function, place Place, debug []dwarfgen.Section) (id [BuildIDSize]byte) {
	b.hashed = b.hashed[:0]
	b.hashNumber(fn.Addr)
	b.hashFile(place)
	b.hashFunction(fn)
	for _, s := range debug {
		b.hashBytes([]byte(s.Name))
		b.hashBytes(s.Data)
	}
	sum := sha256.Sum256(b.hashed) // all at once: the input has many small pieces
	copy(id[:], sum[:])
	return id
}

// hashFile adds everything that determines a file except its functions.
func (b *Builder) hashFile(place Place) {
	b.hashNumber(uint64(b.target.Class)<<32 | uint64(b.target.Machine))
	b.hashNumber(uint64(b.target.Flags))
	if b.target.Order == binary.BigEndian {
		b.hashNumber(1)
	}
	if b.opts.Tight {
		b.hashNumber(3)
	}
	b.hashNumber(place.Away)
	if place.None {
		b.hashNumber(4)
	}
}

// hashFunction adds a function without its DWARF.
func (b *Builder) hashFunction(fn *jitcode.Function) {
	if fn.Thumb {
		b.hashNumber(2)
	}
	b.hashBytes(fn.Name)
	b.hashBytes(fn.Code)
	if !fn.HasCode() {
		b.hashNumber(fn.Size)
	}
	b.hashUnwind(&fn.Unwind)
}

func (b *Builder) hashBytes(p []byte) {
	b.hashNumber(uint64(len(p)))
	b.hashed = append(b.hashed, p...)
}

func (b *Builder) hashNumber(n uint64) {
	b.hashed = binary.LittleEndian.AppendUint64(b.hashed, n)
}
