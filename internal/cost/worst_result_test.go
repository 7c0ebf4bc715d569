package cost

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/wire"
)

// resultRuns are the commands that read a recording by perf script.
var resultRuns = []string{
	"export --format folded -o a perf.data", "view --no-open -o a perf.data", "export --format speedscope -o a perf.data",
	"export --format firefox -o a perf.data", "export --format pprof -o a perf.data",
}

// result adds an object of jitted code that the process has mapped at base, with n functions in 1 MB of code.
func (s *scene) result(n int, names []byte, d debugging) {
	s.t.Helper()
	if _, err := exec.LookPath("perf"); err != nil {
		testrec.Missing(s.t, "%v", err)
	}
	code := part{name: ".text", kind: elf.SHT_NOBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, addr: base, size: 1 << 20}
	parts := append([]part{code, {name: ".symtab", kind: elf.SHT_SYMTAB, content: symbols(n, 2, base, uint64(1<<20/n), first), link: 4}, {name: ".strtab", kind: elf.SHT_STRTAB, content: names}}, d.parts()...)
	path := s.path("jitted-4711-1.so")
	s.must(os.WriteFile(path, withSegments(elfFile(elf.ET_DYN, append(parts, buildID(id))...),
		elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: base, Filesz: 1 << 20, Memsz: 1 << 20}), 0o600))
	s.Machine = "x86_64"
	s.Comm(pid, s.tick(), "prog", true)
	s.FileMmap2(pid, s.tick(), base, 1<<20, 0, path, 7)
}

// inlinedCalls returns debugging information of a function with nested calls of one name in all of its code.
func inlinedCalls(depth, nameSize int) (d debugging) {
	d = debugging{
		str: long(nameSize)[1:],
		abbrev: slices.Concat(
			abbreviation(2, dwarf.TagSubprogram, true, hasCode...),
			abbreviation(3, dwarf.TagInlinedSubroutine, true, append([]uint64{uint64(dwarf.AttrAbstractOrigin), formRef4}, hasCode...)...),
			abbreviation(4, dwarf.TagSubprogram, false, uint64(dwarf.AttrName), formStrp),
			abbreviation(5, dwarf.TagCompileUnit, true, hasCode...)),
	}
	b := wire.NewBuffer(binary.LittleEndian)
	b.Bytes(function(5, 1<<20))
	origin := uint32(12 + b.Len()) // after the header of the unit
	b.U8(4)
	b.U32(0)
	b.Bytes(function(2, 1<<20))
	for range depth {
		b.U8(3)
		b.U32(origin)
		b.U64(base)
		b.U32(1 << 20)
	}
	b.Zeros(depth + 2)
	d.info = unit(5, b.Data)
	return d
}

// chains adds samples with callers that differ.
func (s *scene) chains(size, depth int) {
	chain := make([]uint64, depth)
	s.grow(size, func(i int) {
		for k := range chain {
			chain[k] = base + uint64((i*7919+k*31)%(1<<20))
		}
		s.Chain(pid, s.tick(), chain...)
	})
}

// Results, which other commands read.
var worstResults = []worst{
	{"result", "threads with a sample", func(s *scene, size int) {
		s.result(1, long(3), debugging{})
		s.grow(size, func(i int) {
			s.Sample(child(i), s.tick(), base)
		})
	}, resultRuns},
	{"result", "deep stacks", func(s *scene, size int) {
		s.SampleType |= 1 << 5
		s.result(1, long(3), debugging{})
		s.chains(size, 120)
	}, resultRuns},
	{"result", "deep stacks of long names", func(s *scene, size int) {
		s.SampleType |= 1 << 5
		s.result(1, long(50), debugging{})
		s.chains(size, 120)
	}, resultRuns},
	{"result", "inlined calls in many stacks", func(s *scene, size int) {
		s.SampleType |= 1 << 5
		s.result(1, long(3), inlinedCalls(min(900, size/200), 3))
		s.chains(size, 2)
	}, resultRuns},
	{"result", "inlined calls with a long name", func(s *scene, size int) {
		s.SampleType |= 1 << 5
		s.result(1, long(3), inlinedCalls(min(900, size/200), size/4))
		s.chains(size/2, 2)
	}, resultRuns[1:]}, // text has the names in each stack
	{"result", "names of threads", func(s *scene, size int) {
		s.result(1, long(3), debugging{})
		s.grow(size, func(i int) {
			s.Comm(pid, s.tick(), strings.Repeat("n", 1+i%15), false)
		})
		s.samples(10)
	}, resultRuns},
	{"result", "mappings of one file", func(s *scene, size int) {
		s.result(1, long(3), debugging{})
		s.grow(size/2, func(i int) {
			s.FileMmap2(pid, s.tick(), base+uint64(i)<<12, 1<<12, uint64(i)<<12, s.path("jitted-4711-1.so"), 7)
		})
		s.grow(size, func(i int) { s.Sample(pid, s.tick(), base+uint64(i*17)%(1<<20)) })
	}, resultRuns},
	{"result", "an object under many paths", func(s *scene, size int) {
		s.result(1, long(3), inlinedCalls(min(900, size/200), size/2))
		s.grow(size/2, func(i int) {
			at := base + uint64(i)<<20
			s.FileMmap2(pid, s.tick(), at, 1<<20, 0, s.manyPaths(i)+"/jitted-4711-1.so", 7)
			s.Sample(pid, s.tick(), at+8)
		})
	}, resultRuns},
}
