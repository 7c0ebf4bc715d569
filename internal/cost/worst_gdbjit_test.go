package cost

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"slices"

	"github.com/jitinject/jitinject/internal/wire"
)

// coreRuns read a core dump in each way.
var coreRuns = []string{"verify core", "dump core", "dump --json core", "inject -i perf.data"}

// Where a core has what.
const (
	mappedAt = uint64(0x400000) // a mapped file
	listedAt = uint64(0x600000)
	listAt   = uint64(0x7f0000000000) // entries, then objects
)

// core writes a core dump of the process, which has registered objects for debuggers, and adds it to
// the files. memory are more segments.
func (s *scene) core(objects [][]byte, memory ...elf.Prog64) {
	s.t.Helper()
	s.Comm(pid, s.tick(), "prog", true)
	s.Mmap2(pid, s.tick(), mappedAt, 1<<12, 0, "/prog")
	s.Mmap2(pid, s.tick(), base, 1<<32, 0, "//anon")
	s.samples(10)
	list := wire.NewBuffer(binary.LittleEndian)
	at := listAt + 32*uint64(len(objects))
	for i, o := range objects {
		next, prev := listAt+32*uint64(i+1), listAt+32*uint64(i-1)
		if i == 0 {
			prev = 0
		}
		if i == len(objects)-1 {
			next = 0
		}
		for _, v := range []uint64{next, prev, at, uint64(len(o))} {
			list.U64(v)
		}
		at += uint64(len(o))
	}
	for _, o := range objects {
		list.Bytes(o)
	}
	s.writeCore(list.Data, memory...)
}

// writeCore writes a core with a list and what follows it in memory.
func (s *scene) writeCore(list []byte, memory ...elf.Prog64) {
	s.t.Helper()
	image := withSegments(elfFile(elf.ET_EXEC),
		elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: mappedAt, Filesz: 1 << 12, Memsz: 1 << 12},
		elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_W), Vaddr: listedAt, Filesz: 24, Memsz: 24})
	d := wire.NewBuffer(binary.LittleEndian)
	d.U32(1)
	d.U32(0)
	d.U64(listAt)
	d.U64(listAt)
	notes := append(note(3, slices.Concat(make([]byte, 24), words(pid), make([]byte, 108))), mappedFiles(1, 1<<12)...) // NT_PRPSINFO
	file := elfFile(elf.ET_CORE)
	segments := []elf.Prog64{{Type: uint32(elf.PT_NOTE), Off: uint64(len(file)), Filesz: uint64(len(notes))}}
	file = append(file, notes...)
	for _, m := range []struct {
		addr  uint64
		bytes []byte
	}{{mappedAt, append(image, make([]byte, 1<<12-len(image))...)}, {listedAt, d.Data}, {listAt, list}} {
		segments = append(segments, elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_W), Vaddr: m.addr, Off: uint64(len(file)), Filesz: uint64(len(m.bytes)), Memsz: uint64(len(m.bytes))})
		file = append(file, m.bytes...)
	}
	segments = append(segments, elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: base, Memsz: 1 << 32})
	s.must(os.WriteFile(s.path("core"), withSegments(file, append(segments, memory...)...), 0o600))
	s.files = append(s.files, s.path("core"))
}

// text is a section of code in the memory of the process.
var text = part{name: ".text", kind: elf.SHT_NOBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, addr: base, size: 1 << 30}

// registered returns an object with functions in .text, and further sections from the fifth on.
func registered(symbols, names []byte, more ...part) []byte {
	return elfFile(elf.ET_EXEC, append([]part{text, {name: ".symtab", kind: elf.SHT_SYMTAB, content: symbols, link: 4}, {name: ".strtab", kind: elf.SHT_STRTAB, content: names}}, more...)...)
}

// Objects registered for debuggers, in a core dump.
var worstObjects = []worst{
	{"registered objects", "functions", func(s *scene, size int) {
		s.core([][]byte{registered(symbols(size/24, 2, base, room, first), long(3))})
	}, coreRuns},
	{"registered objects", "functions with one long name", func(s *scene, size int) {
		s.core([][]byte{registered(symbols(size/48, 2, base, room, first), long(size/2))})
	}, coreRuns},
	{"registered objects", "functions with ends of one long name", func(s *scene, size int) {
		s.core([][]byte{registered(symbols(size/48, 2, base, room, func(i int) uint32 { return uint32(i) }), long(size/2))})
	}, coreRuns},
	{"registered objects", "sections with one long name", func(s *scene, size int) {
		more := slices.Repeat([]part{{name: string(long(size / 2)[1:]), kind: elf.SHT_NOBITS}}, size/128)
		s.core([][]byte{registered(symbols(1, 2, base, room, first), long(3), more...)})
	}, coreRuns},
	{"registered objects", "objects", func(s *scene, size int) {
		var objects [][]byte
		for i := range size / 512 {
			objects = append(objects, registered(symbols(1, 2, base+room*uint64(i), room, first), long(3)))
		}
		s.core(objects)
	}, coreRuns},
}
