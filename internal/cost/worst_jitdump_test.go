package cost

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/jitdump"
)

var dumpRuns = []string{
	"inject -i perf.data", "inject --bundle -i perf.data", "inject --sampled -i perf.data", "verify " + dumpName,
	"dump " + dumpName, "dump --json " + dumpName, "dump -d " + dumpName,
}

// tiny adds a function of one byte without a record about it before.
func (s *scene) tiny(i int, name string) {
	s.record(&jitdump.Load{PID: pid, TID: pid, VMA: base + uint64(i), CodeAddr: base + uint64(i), CodeIndex: uint64(i), Name: []byte(name), Code: []byte{0xc3}})
}

// coded returns a maker of one function of code that repeats some bytes, in a recording with copies of stacks.
func coded(code ...byte) func(s *scene, size int) {
	return func(s *scene, size int) {
		s.SampleType |= 1 << 13
		s.process()
		s.record(&jitdump.Load{PID: pid, TID: pid, VMA: base, CodeAddr: base, Name: []byte("f"), Code: bytes.Repeat(code, size/len(code))})
		s.samples(10)
	}
}

// Dumps of jitted code.
var worstDumps = []worst{
	{"jitdump", "moves", func(s *scene, size int) {
		s.process()
		s.function(0)
		for i := range size / 72 {
			s.move(0, place(i%2), place(1-i%2))
		}
		s.samples(10)
	}, dumpRuns},
	{"jitdump", "functions of one byte", func(s *scene, size int) {
		s.process()
		for i := range size / 59 {
			s.tiny(i, "f")
		}
		s.samples(10)
	}, dumpRuns},
	{"jitdump", "functions of one byte, in copies of stacks", func(s *scene, size int) {
		s.SampleType |= 1 << 13
		s.process()
		for i := range size / 59 {
			s.tiny(i, "f")
		}
		s.samples(10)
	}, dumpRuns[:2]},
	{"jitdump", "lines with one long name", func(s *scene, size int) {
		s.process()
		entries := []jitdump.DebugEntry{{Addr: base, Line: 1, Name: long(4000)[1:4000]}}
		for i := range size / 18 {
			entries = append(entries, jitdump.DebugEntry{Addr: base + uint64(i), Line: uint32(i), Name: []byte{0xff}})
		}
		s.record(lines(base, entries...))
		s.load(0, base, size/18)
		s.samples(10)
	}, dumpRuns},
	{"jitdump", "tables of lines for one function", func(s *scene, size int) {
		s.process()
		for i := range size / 50 {
			s.record(lines(base, jitdump.DebugEntry{Addr: base, Line: uint32(i), Name: []byte("a")}))
		}
		s.function(0)
		s.samples(10)
	}, dumpRuns},
	{"jitdump", "functions with one embedded source", func(s *scene, size int) {
		s.process()
		s.record(jitdump.NewEmbeddedSource("a", bytes.Repeat([]byte("text\n"), min(size/10, 13_000))))
		for i := range size / 2 / 108 {
			s.record(lines(base+uint64(i), jitdump.DebugEntry{Addr: base + uint64(i), Line: 1, Name: []byte("a")}))
			s.tiny(i, "f")
		}
		s.samples(10)
	}, dumpRuns},
	{"jitdump", "calls in one another", func(s *scene, size int) {
		s.process()
		var b jitdump.InlineBuilder
		for i := range size / 10_000 {
			b.Reset()
			call, outer := jitdump.Outer, b.Function("f", "a", 1, 0, 0)
			for range 250 {
				call = b.Inline(call, outer, 1, 0)
			}
			b.At(0, call, 1, 0)
			s.inlined(&b, place(i), room)
			s.load(i, place(i), room)
		}
		s.samples(10)
	}, dumpRuns},
	{"jitdump", "calls side by side", func(s *scene, size int) {
		s.process()
		var b jitdump.InlineBuilder
		f := b.Function("f", "a", 1, 0, 0)
		n := size / 50
		for i := range n {
			b.At(uint32(i), b.Inline(jitdump.Outer, f, 1, 0), 1, 0)
		}
		s.inlined(&b, base, n)
		s.load(0, base, n)
		s.samples(10)
	}, dumpRuns},
	{"jitdump", "inlined functions with one long name", func(s *scene, size int) {
		s.process()
		var b jitdump.InlineBuilder
		b.Function("f", "a", 1, 0, 0)
		name := strings.Repeat("A", 8000)
		n := size / 80
		for i := range n {
			b.At(uint32(i), b.Inline(jitdump.Outer, b.Function(name, "a", 1, 0, 0), 1, 0), 1, 0)
		}
		s.inlined(&b, base, n)
		s.load(0, base, n)
		s.samples(10)
	}, dumpRuns},
	{"jitdump", "inlined functions with names as long as the rest", func(s *scene, size int) {
		s.process()
		n := size / 120
		info := &jitdump.DebugInfo2{Files: [][]byte{long(size / 4)[1:][:size/4]}, Names: [][]byte{long(size / 4)[1:][:size/4]}, Functions: make([]jitdump.SourceFunction, n)}
		for i := range uint32(n) {
			info.Calls = append(info.Calls, jitdump.InlineCall{RangeCount: 1, Function: i, Line: 1})
			info.Ranges = append(info.Ranges, jitdump.CodeRange{Start: i, Size: 1})
			info.Lines = append(info.Lines, jitdump.SourceLine{Offset: i, Line: i + 1})
		}
		s.record(info)
		s.load(0, base, n)
		s.samples(10)
	}, append(slices.Clone(dumpRuns), "dump -d --json "+dumpName, "dump --name zz "+dumpName)},
	{"jitdump", "unwind tables", func(s *scene, size int) {
		s.process()
		for i := range size / 107 {
			s.record(&jitdump.Unwinding{Data: make([]byte, 8)})
			s.tiny(i, "f")
		}
		s.samples(10)
	}, dumpRuns},
	{"jitdump", "CIEs that remember states", func(s *scene, size int) {
		s.process()
		cie := append(words(268, 0), 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1)
		table := bytes.Repeat(append(cie, bytes.Repeat([]byte{0x0a}, 254)...), size/272)
		s.record(&jitdump.Unwinding{Data: append(table, 1, 0xff, 0xff, 0xff, 0, 0, 0, 0), HeaderSize: 8})
		s.load(0, base, 64)
		s.samples(10)
	}, dumpRuns},
	{"jitdump", "demangled names", func(s *scene, size int) {
		s.process()
		name := mangled()
		for i := range size / (108 + len(name)) {
			s.record(lines(base+uint64(i), jitdump.DebugEntry{Addr: base + uint64(i), Line: 1, Name: []byte("a")}))
			s.tiny(i, name)
		}
		s.samples(10)
	}, dumpRuns},
	{"jitdump", "records that are cut", func(s *scene, size int) {
		s.process()
		s.functions(10)
		s.damage(bytes.Repeat(words(uint32(jitdump.IDLoad), 60<<20, uint64(1), uint64(1)), size/24)...)
		s.samples(10)
	}, dumpRuns},
	{"jitdump", "names of control characters", func(s *scene, size int) {
		s.process()
		for i := range size / 10_000 {
			s.record(&jitdump.Load{PID: pid, TID: pid, VMA: place(i), CodeAddr: place(i), CodeIndex: uint64(i), Name: bytes.Repeat([]byte{1}, 9900), Code: code(i, 32)})
		}
		s.samples(10)
	}, dumpRuns},
	{"jitdump", "code of returns", coded(0xc3), dumpRuns[:3]},
	{"jitdump", "code of short branches", coded(0x74, 0x10), dumpRuns[:3]},
	{"jitdump", "code of long branches", func(s *scene, size int) {
		code := make([]byte, 0, size)
		for i := range size / 6 {
			code = append(code, 0x0f, 0x84)
			code = binary.LittleEndian.AppendUint32(code, uint32((i*7919%(size/6)-i-1)*6))
		}
		s.SampleType |= 1 << 13
		s.process()
		s.record(&jitdump.Load{PID: pid, TID: pid, VMA: base, CodeAddr: base, Name: []byte("f"), Code: code})
		s.samples(10)
	}, dumpRuns[:3]},
	{"jitdump", "code of pushes", coded(0x50), dumpRuns[:3]},
	{"jitdump", "code of stores in the frame", coded(0x48, 0x89, 0x44, 0x24, 0x08), dumpRuns[:3]},
	{"jitdump", "code of pushes and branches", coded(0x50, 0x74, 0xfd), dumpRuns[:3]},
	{"jitdump", "processes", func(s *scene, size int) {
		n := size / 500
		for i := range n {
			s.Comm(child(i), s.tick(), "p", true)
			s.Marker(child(i), s.tick(), s.ownDump(child(i)))
			s.Mmap2(child(i), s.tick(), base, 1<<20, 0, "//anon")
			s.Sample(child(i), s.tick(), base+8)
			s.writeDump(child(i))
		}
	}, dumpRuns[:2]},
}

// inlined adds a tree of inlined calls in a function with size bytes.
func (s *scene) inlined(b *jitdump.InlineBuilder, addr uint64, size int) {
	s.t.Helper()
	info, err := b.Record(uint32(size))
	s.must(err)
	s.record(info)
}
