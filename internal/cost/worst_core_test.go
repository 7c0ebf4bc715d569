package cost

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"slices"

	"github.com/jitinject/jitinject/internal/wire"
)

// Core dumps.
var worstCores = []worst{
	{"core dump", "segments", func(s *scene, size int) {
		s.core(nil, slices.Repeat([]elf.Prog64{load}, size/56)...)
	}, coreRuns},
	{"core dump", "objects in segments that share bytes", func(s *scene, size int) {
		// The same object at many addresses.
		object := registered(symbols(size/48, 2, base, room, first), long(3))
		list := wire.NewBuffer(binary.LittleEndian)
		n := size / 2 / (56 + 32)
		var memory []elf.Prog64
		at := uint64(0x7e0000000000)
		for i := range n {
			next, prev := listAt+32*uint64(i+1), listAt+32*uint64(i-1)
			if i == 0 {
				prev = 0
			}
			if i == n-1 {
				next = 0
			}
			for _, v := range []uint64{next, prev, at, uint64(len(object))} {
				list.U64(v)
			}
			memory = append(memory, elf.Prog64{Type: uint32(elf.PT_LOAD), Vaddr: at, Filesz: uint64(len(object)), Memsz: uint64(len(object))})
			at += uint64(len(object))
		}
		list.Bytes(object)
		s.writeCore(list.Data)
		core, err := os.ReadFile(s.path("core"))
		s.must(err)
		offset := uint64(bytes.Index(core, object))
		for i := range memory {
			memory[i].Off = offset
		}
		s.files = nil
		s.writeCore(list.Data, memory...)
	}, coreRuns},
	{"core dump", "objects in each other", func(s *scene, size int) {
		// Each entry is an object that ends with all others.
		head := registered(symbols(1, 2, base, room, first), long(3))
		n := size / (len(head) + 32)
		objects := slices.Repeat([][]byte{head}, n)
		s.core(objects)
		core, err := os.ReadFile(s.path("core"))
		s.must(err)
		at := bytes.LastIndex(core, head) - (n-1)*len(head) - 32*n
		for i := range n {
			binary.LittleEndian.PutUint64(core[at+32*i+24:], uint64((n-i)*len(head)))
		}
		s.must(os.WriteFile(s.path("core"), core, 0o600))
	}, coreRuns},
	{"core dump", "objects with alternating functions", func(s *scene, size int) {
		const n = 100
		k := size / n / 24
		var objects [][]byte
		for i := range n {
			table := symbols(k, 2, base+room*uint64(i), n*room, first)
			for at := elf.Sym64Size; at < len(table); at += elf.Sym64Size {
				binary.LittleEndian.PutUint64(table[at+16:], room)
			}
			objects = append(objects, registered(table, long(3)))
		}
		s.core(objects)
	}, coreRuns},
	{"core dump", "an object of holes", func(s *scene, size int) {
		object := registered(symbols(1, 2, base, room, first), long(size-1000))
		s.core([][]byte{object})
		core, err := os.ReadFile(s.path("core"))
		s.must(err)
		at := bytes.LastIndex(core, object[:64])
		le := binary.LittleEndian
		le.PutUint64(core[at-8:], 200<<20)
		for i := range 5 { // the segment of the list
			p := core[le.Uint64(core[32:])+56*uint64(i):]
			if le.Uint64(p[16:]) == listAt {
				le.PutUint64(p[32:], 201<<20)
				le.PutUint64(p[40:], 201<<20)
			}
		}
		phoff := le.Uint64(core[32:])
		table := bytes.Clone(core[phoff:])
		le.PutUint64(core[32:], 202<<20)
		f, err := os.Create(s.path("core"))
		s.must(err)
		defer f.Close()
		_, err = f.WriteAt(core[:phoff], 0)
		s.must(err)
		_, err = f.WriteAt(table, 202<<20)
		s.must(err)
	}, coreRuns},
	{"core dump", "notes", func(s *scene, size int) {
		s.core(nil)
		s.addNotes(bytes.Repeat(note(1, nil), size/20)) // NT_PRSTATUS, too short
	}, coreRuns},
	{"core dump", "segments that share notes", func(s *scene, size int) {
		s.core(nil, slices.Repeat([]elf.Prog64{{Type: uint32(elf.PT_NOTE)}}, size/2/56)...)
		s.addNotes(bytes.Repeat(note(1, append(words(uint64(0), uint64(0), uint64(0), uint64(0), 1), make([]byte, 76)...)), size/2/132))
	}, coreRuns},
	{"core dump", "mapped files", func(s *scene, size int) {
		s.core(nil)
		s.addNotes(mappedFiles(size/30, 1<<12))
	}, coreRuns},
	{"core dump", "programs with one file", func(s *scene, size int) {
		path := s.path("program") + "\x00"
		s.must(os.WriteFile(s.path("program"), elfFile(elf.ET_EXEC, text, part{name: ".symtab", kind: elf.SHT_SYMTAB, content: symbols(size/3/24, 2, base, room, first), link: 4}, part{name: ".strtab", kind: elf.SHT_STRTAB, content: long(3)}), 0o600))
		image := withSegments(elfFile(elf.ET_EXEC), load)
		n := size * 2 / 3 / (len(image) + 24 + len(path))
		s.core([][]byte{bytes.Repeat(image, n)})
		files := words(uint64(n), uint64(1))
		for i := range n {
			at := listAt + 32 + uint64(i*len(image))
			files = append(files, words(at, at+uint64(len(image)), uint64(0))...)
		}
		s.addNotes(note(0x46494c45, append(files, bytes.Repeat([]byte(path), n)...)))
	}, coreRuns},
	{"core dump", "mappings of one program", func(s *scene, size int) {
		image := withSegments(elfFile(elf.ET_EXEC), slices.Repeat([]elf.Prog64{load}, 255)...)
		s.core([][]byte{image})
		files := mappedFiles(size/30, 1<<12)
		s.addNotes(bytes.ReplaceAll(files, words(mappedAt), words(listAt+32)))
	}, coreRuns},
}

// addNotes adds notes to the core, and makes all segments of notes that one.
func (s *scene) addNotes(more []byte) {
	s.t.Helper()
	core, err := os.ReadFile(s.path("core"))
	s.must(err)
	le := binary.LittleEndian
	at := le.Uint64(core[32:])
	table := bytes.Clone(core[at:])
	notes := append(bytes.Clone(core[le.Uint64(table[8:]):][:le.Uint64(table[32:])]), more...)
	le.PutUint64(core[32:], at+uint64(len(notes)))
	for p := table; len(p) > 0; p = p[56:] {
		if le.Uint32(p) == uint32(elf.PT_NOTE) {
			le.PutUint64(p[8:], at)
			le.PutUint64(p[32:], uint64(len(notes)))
		}
	}
	s.must(os.WriteFile(s.path("core"), slices.Concat(core[:at], notes, table), 0o600))
}

// note returns a note of a core.
func note(kind int, desc []byte) []byte {
	b := append(words(5, len(desc), kind), "CORE\x00\x00\x00\x00"...)
	return append(append(b, desc...), make([]byte, -len(desc)&3)...)
}

// mappedFiles returns a note of n mappings of a file, with size bytes.
func mappedFiles(n int, size uint64) []byte {
	b := words(uint64(n), uint64(1))
	b = append(b, bytes.Repeat(words(mappedAt, mappedAt+size, uint64(0)), n)...)
	return note(0x46494c45, append(b, bytes.Repeat([]byte("/prog\x00"), n)...)) // NT_FILE
}
