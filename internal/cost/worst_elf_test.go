package cost

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"os"
	"slices"
	"syscall"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/wire"
	"golang.org/x/sys/unix"
)

// elfRuns read an ELF file as an object, as a program that was recorded, and as a source of code.
var elfRuns = []string{
	"verify jitted-4711-1.so", "inject -i perf.data", "inject -i perf.data --code-from jitted-4711-1.so",
	"clean --dry-run result.data", "verify result.data",
}

// recorded writes an ELF file. The process has mapped it, and some functions lie in it. A result refers to it
// as an object.
func (s *scene) recorded(file []byte) {
	s.t.Helper()
	path := s.path("jitted-4711-1.so")
	s.must(os.WriteFile(path, file, 0o600))
	info, err := os.Stat(path)
	s.must(err)
	st := info.Sys().(*syscall.Stat_t)
	s.SampleType |= 1 << 13 // copies of stacks
	s.Major, s.Minor = unix.Major(st.Dev), unix.Minor(st.Dev)
	s.process()
	s.must(os.Symlink(path, s.path("prog"))) // under a name that no object has
	s.FileMmap2(pid, s.tick(), base, 1<<20, 0, s.path("prog"), st.Ino)
	s.functions(10)
	s.samples(10)
	s.refer(s.path("jitted-4711-1.so"))
}

// refer writes a result that refers to objects.
func (s *scene) refer(paths ...string) {
	s.t.Helper()
	result := testrec.NewRecording()
	for i, path := range paths {
		b := wire.NewBuffer(binary.LittleEndian)
		b.U32(pid)
		b.U32(pid)
		b.U64(base + uint64(i)<<20)
		b.U64(1 << 20)
		b.U64(0)
		b.Bytes(append([]byte{20, 0, 0, 0}, id...))
		b.U32(5)
		b.U32(2)
		b.CString(path)
		result.Kernel(10, 2|1<<14, b.Data, pid, s.tick()) // PERF_RECORD_MISC_MMAP_BUILD_ID
	}
	result.Write(s.t, s.path("result.data"))
}

// id is the build id of programs.
const id = "12345678901234567890"

// elfProgram returns an ELF file with code, symbols and a build id. Further sections are the fifth and later ones.
func elfProgram(symbols, names []byte, more ...part) []byte {
	code := text
	code.kind, code.addr, code.content = elf.SHT_PROGBITS, 0x1000, make([]byte, 4096)
	parts := append([]part{code, {name: ".symtab", kind: elf.SHT_SYMTAB, content: symbols, link: 4}, {name: ".strtab", kind: elf.SHT_STRTAB, content: names}}, more...)
	return withSegments(elfFile(elf.ET_DYN, append(parts, buildID(id))...), load)
}

var load = elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Filesz: 1 << 20, Memsz: 1 << 20}

// dwarfOfObject are sections of debugging information of an object that jitinject could have made.
func (s *scene) objectWith(d debugging, entries ...[]byte) {
	s.recorded(elfProgram(symbols(1, 2, 0x1000, 64, first), long(3), d.parts(entries...)...))
}

// ELF files: programs, and objects of earlier runs.
var worstELF = []worst{
	{"ELF file", "symbols", func(s *scene, size int) {
		s.recorded(elfProgram(symbols(size/24, 2, 0x1000, 0, first), long(3)))
	}, elfRuns},
	{"ELF file", "an object under many paths", func(s *scene, size int) {
		s.recorded(elfProgram(symbols(size/48, 2, 0x1000, 0, first), long(3)))
		paths := make([]string, size/2/250)
		for i := range paths {
			paths[i] = s.manyPaths(i) + "/jitted-4711-1.so"
		}
		s.refer(paths...)
	}, elfRuns[3:]},
	{"ELF file", "symbols with ends of one long name", func(s *scene, size int) {
		s.recorded(elfProgram(symbols(size/48, 2, 0x1000, 0, func(i int) uint32 { return uint32(i) }), long(size/2)))
	}, elfRuns},
	{"ELF file", "symbols without a section, with one long name", func(s *scene, size int) {
		s.recorded(elfProgram(symbols(size/48, 0xfff0, 0x1000, 64, first), long(size/2)))
	}, elfRuns},
	{"ELF file", "sections with ends of one long name", func(s *scene, size int) {
		// Names are offsets into one string: elfFile would write each of them.
		file := elfProgram(symbols(1, 2, 0x1000, 64, first), long(size/2), slices.Repeat([]part{{name: "x", kind: elf.SHT_NOBITS}}, size/128)...)
		le := binary.LittleEndian
		at := le.Uint64(file[40:])
		le.PutUint16(file[62:], 4) // .strtab
		for i := range uint64(size / 128) {
			le.PutUint32(file[at+64*(5+i):], uint32(i))
		}
		s.recorded(file)
	}, elfRuns},
	{"ELF file", "segments and symbols", func(s *scene, size int) {
		n := min(size/112, 0xfffe)
		file := elfProgram(symbols((size-56*n)/24, 2, 0x1000, 64, first), long(3))
		s.recorded(withSegments(file, slices.Repeat([]elf.Prog64{load}, n)...))
	}, elfRuns},
	{"ELF file", "notes", func(s *scene, size int) {
		s.recorded(elfProgram(symbols(1, 2, 0x1000, 64, first), long(3), slices.Repeat([]part{buildID("1234")}, size/84)...))
	}, elfRuns},
	{"ELF file", "holes with section headers", func(s *scene, size int) {
		file := elfFile(elf.ET_DYN)
		le := binary.LittleEndian
		at := le.Uint64(file[40:])
		le.PutUint16(file[60:], 0)
		le.PutUint64(file[at+32:], uint64(100*size/64))
		s.recorded(append(file, bytes.Repeat([]byte{1}, size)...))
		s.must(os.Truncate(s.path("jitted-4711-1.so"), int64(100*size+1000)))
	}, elfRuns},
	{"ELF file", "rows", func(s *scene, size int) {
		s.objectWith(debugging{line: lineTable(oneDirectory, oneFile, lineProgram(bytes.Repeat([]byte{opcode}, size)))})
	}, elfRuns[:1]},
	{"ELF file", "line tables in each other", func(s *scene, size int) {
		// Each table begins in the program of the one before, as the operand of an unknown opcode.
		d := debugging{}
		entries := wire.NewBuffer(binary.LittleEndian)
		head := lineTable(oneDirectory, oneFile, nil)
		n := size / (len(head) + 30)
		line := wire.NewBuffer(binary.LittleEndian)
		one := len(head) + 3
		for i := range n {
			b := bytes.Clone(head)
			binary.LittleEndian.PutUint32(b, uint32((n-i)*one-4-3))
			line.Bytes(b)
			line.Bytes([]byte{0, byte(len(head) + 1), 0x80})
			entries.Bytes(unit(5, []byte{1, byte(i * one), byte(i * one >> 8), byte(i * one >> 16), 0, 0}))
		}
		d.line, d.info = line.Data, entries.Data
		s.objectWith(d)
	}, elfRuns[:1]},
	{"ELF file", "files in one long directory", func(s *scene, size int) {
		s.objectWith(debugging{line: lineTable(
			entries([]byte{1, formString}, 1, func(b *wire.Buffer, _ int) { b.CString("/" + string(long(size / 2)[1:size/2])) }),
			entries([]byte{1, formString, 2, formUdata}, size/2/3, func(b *wire.Buffer, _ int) { b.CString("a"); b.U8(0) }),
			lineProgram([]byte{opcode}))})
	}, elfRuns[:1]},
	{"ELF file", "ranges of one list", func(s *scene, size int) {
		lists := wire.NewBuffer(binary.LittleEndian)
		for i := range size / 8 {
			lists.Bytes([]byte{4})
			lists.Uleb(uint64(3 * i))
			lists.Uleb(uint64(3*i + 1))
		}
		lists.U8(0)
		root := abbreviation(2, dwarf.TagCompileUnit, false, uint64(dwarf.AttrRanges), formSecOff)
		s.objectWith(debugging{lists: lists.Data, abbrev: root, info: bytes.Repeat(unit(5, []byte{2, 0, 0, 0, 0}), (size-lists.Len())/17)})
	}, elfRuns[:1]},
}
