package dumptail

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/procmem"
	"github.com/jitinject/jitinject/internal/sorting"
)

// A FILE is in memory from malloc: fopen allocates it. That is the heap, or memory that an allocator
// mapped. Runtimes open their dump when they start, so the FILE lies near the start of the heap, or in
// a small mapping. Of a Java VM or bun, most memory belongs to a garbage collector.

const (
	// searchStep is how much memory is read at once, in bytes.
	searchStep = 1 << 20

	// pageSize is the smallest part of memory that may be unreadable, in bytes.
	pageSize = 4 << 10

	// maxSearched bounds the memory that is read of a process, in bytes. It takes 0.2 to 0.5 s.
	maxSearched = 256 << 20

	// nearSearched bounds what is read beside the heap, in bytes, as long as nothing shows that bytes
	// are missing: runtimes that write each record at once have no FILE at all, and a search of all
	// memory of a Java VM took seconds. Node, deno, Python, Erlang and qemu had their FILE within 3.1 MB,
	// in the heap as a rule.
	nearSearched = 16 << 20
)

// A search finds the places in a process's memory that may be the FILE of a descriptor.
type search struct {
	process *procmem.Process
	fd      int32
	regions []procmem.Mapping // that are left to search
	left    int64             // bytes that may be read

	chunk []byte // memory from start on
	start uint64
	at    int // place in the chunk where the search goes on
	which int // library that is next there
}

// regionsOf returns the memory of a process that may have a FILE: writable and its own. The heap
// comes first, then small regions before large ones.
func regionsOf(p *procmem.Process) (heap, others []procmem.Mapping) {
	for _, m := range p.Mappings() {
		switch {
		case !m.Private || m.Flags != elf.PF_R|elf.PF_W: // or its code: no allocator uses it
		case m.Name == "[heap]":
			heap = append(heap, m)
		case strings.HasPrefix(m.Name, "[") && !strings.HasPrefix(m.Name, "[anon:"):
		default:
			others = append(others, m)
		}
	}
	sorting.Stable(others, func(a, b procmem.Mapping) int { return cmp.Compare(a.Size, b.Size) })
	return heap, others
}

// next returns the next place, and its library. It returns a nil library when all regions are
// searched, or when nothing is left to read. The error is of the process.
func (s *search) next() (addr uint64, lib *library, err error) {
	for {
		for ; s.at+fileSize <= len(s.chunk); s.at, s.which = s.at+fileAlign, 0 {
			file := s.chunk[s.at:][:fileSize]
			for s.which < len(libraries) {
				lib = libraries[s.which]
				s.which++
				if lib.descriptor(file) != s.fd {
					continue
				}
				if _, ok := lib.parse(file, s.start+uint64(s.at)); ok {
					return s.start + uint64(s.at), lib, nil
				}
			}
		}
		more, err := s.read()
		if err != nil || !more {
			return 0, nil, err
		}
	}
}

// read reads the next chunk. Neighbouring chunks overlap, so that each FILE is whole in one.
func (s *search) read() (more bool, err error) {
	s.at, s.which, s.chunk = 0, 0, s.chunk[:0]
	for len(s.regions) > 0 && s.left > 0 {
		m := &s.regions[0]
		n := min(m.Size, searchStep)
		if uint64(cap(s.chunk)) < n {
			s.chunk = make([]byte, 0, searchStep)
		}
		chunk := s.chunk[:n]
		s.start = m.Addr
		err := s.process.ReadCode(m.Addr, chunk)
		missing := (*elfcore.MissingError)(nil)
		switch {
		case err == nil:
			s.chunk = chunk
		case errors.As(err, &missing): // it has been unmapped, or is guarded
			s.chunk = chunk[:min(missing.Addr-m.Addr, n)]
			n = min(uint64(len(s.chunk))&^(pageSize-1)+pageSize, n)
		default:
			return false, err
		}
		s.left -= int64(n)
		if m.Size > n && err == nil {
			n -= pageSize // the overlap
		}
		if m.Addr, m.Size = m.Addr+n, m.Size-n; m.Size < fileSize {
			s.regions = s.regions[1:]
		}
		if len(s.chunk) >= fileSize {
			return true, nil
		}
	}
	s.chunk = s.chunk[:0]
	return false, nil
}

// isSupported reports whether the layouts are those of the process's program.
func isSupported(p *procmem.Process) bool {
	return p.Class == elf.ELFCLASS64 && p.Order == binary.LittleEndian && (p.Machine == elf.EM_X86_64 || p.Machine == elf.EM_AARCH64)
}
