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
		core, err := os.ReadFile(s.path("core"))
		s.must(err)
		note := wire.NewBuffer(binary.LittleEndian)
		note.U32(5)
		note.U32(0)
		note.U32(1) // NT_PRSTATUS, too short
		note.Bytes([]byte("CORE\x00\x00\x00\x00"))
		le := binary.LittleEndian
		all := bytes.Repeat(note.Data, size/note.Len())
		phoff := le.Uint64(core[32:])
		le.PutUint64(core[32:], uint64(len(core)+len(all)))
		table := bytes.Clone(core[phoff:])
		le.PutUint64(table[8:], uint64(len(core)))
		le.PutUint64(table[32:], uint64(len(all)))
		s.must(os.WriteFile(s.path("core"), slices.Concat(core, all, table), 0o600))
	}, coreRuns},
	{"core dump", "mapped files", func(s *scene, size int) {
		s.core(nil)
		core, err := os.ReadFile(s.path("core"))
		s.must(err)
		n := size / 26
		files := wire.NewBuffer(binary.LittleEndian)
		files.U64(uint64(n))
		files.U64(1)
		for range n {
			files.U64(mappedAt)
			files.U64(mappedAt + 1<<12)
			files.U64(0)
		}
		files.Bytes(bytes.Repeat([]byte("p\x00"), n))
		note := wire.NewBuffer(binary.LittleEndian)
		note.U32(5)
		note.U32(uint32(files.Len()))
		note.U32(0x46494c45)
		note.Bytes([]byte("CORE\x00\x00\x00\x00"))
		note.Bytes(files.Data)
		note.Align(4)
		le := binary.LittleEndian
		phoff := le.Uint64(core[32:])
		le.PutUint64(core[32:], uint64(len(core)+note.Len()))
		table := bytes.Clone(core[phoff:])
		le.PutUint64(table[8:], uint64(len(core)))
		le.PutUint64(table[32:], uint64(note.Len()))
		s.must(os.WriteFile(s.path("core"), slices.Concat(core, note.Data, table), 0o600))
	}, coreRuns},
}
