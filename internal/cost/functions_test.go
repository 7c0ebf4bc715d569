package cost

import (
	"encoding/binary"
	"fmt"

	"github.com/jitinject/jitinject/jitdump"
)

func lines(addr uint64, entries ...jitdump.DebugEntry) *jitdump.DebugInfo {
	return jitdump.NewDebugInfo(binary.LittleEndian, addr, entries)
}

// sourceFile returns the name of a file.
func sourceFile(i int) []byte { return fmt.Appendf(nil, "/a/file%d.c", i) }

// Functions, where they lie and what the dump has of them.
var functionSeries = []series{
	{"functions", 250, func(s *scene, n int) {
		s.process()
		s.functions(n)
		s.samples(n)
	}},
	{"lines", 250, func(s *scene, n int) {
		s.process()
		for i := range n {
			a := place(i)
			s.record(lines(a, jitdump.DebugEntry{Addr: a, Line: 1, Name: sourceFile(i)}, jitdump.DebugEntry{Addr: a + 10, Line: 2, Name: sourceFile(i)}))
			s.function(i)
		}
		s.samples(n)
	}},
	{"lines of one function", 2000, func(s *scene, n int) {
		s.process()
		var entries []jitdump.DebugEntry
		for i := range n {
			entries = append(entries, jitdump.DebugEntry{Addr: base + uint64(i), Line: uint32(i), Name: sourceFile(i)})
		}
		s.record(lines(base, entries...))
		s.load(0, base, n+room)
		s.samples(10)
	}},
	{"line tables of one function", 2000, func(s *scene, n int) {
		s.process()
		for i := range n {
			s.record(lines(base, jitdump.DebugEntry{Addr: base, Line: uint32(i), Name: sourceFile(i)}))
		}
		s.function(0)
		s.samples(10)
	}},
	{"unwind tables", 250, func(s *scene, n int) {
		s.process()
		for i := range n {
			s.record(&jitdump.Unwinding{Data: make([]byte, 32)})
			s.function(i)
		}
		s.samples(n)
	}},
	{"embedded sources", 250, func(s *scene, n int) {
		s.process()
		for i := range n {
			s.record(jitdump.NewEmbeddedSource("file.c", fmt.Append(nil, "text", i)))
			s.function(i)
		}
		s.samples(n)
	}},
	{"V8", 250, func(s *scene, n int) {
		s.process()
		for i := range n {
			a, kind := place(i), "^*"[i%2:i%2+1]
			name := fmt.Sprintf("/a/file%d.js", i)
			s.record(lines(a, jitdump.DebugEntry{Addr: a, Line: 1, Discrim: 3, Name: []byte(name)}, jitdump.DebugEntry{Addr: a + 10, Line: 2, Discrim: 4, Name: []byte(name)}))
			s.record(&jitdump.Load{PID: pid, TID: pid, VMA: a, CodeAddr: a, CodeIndex: uint64(i), Name: fmt.Appendf(nil, "JS:%sfn%d %s:1:2", kind, i, name), Code: code(i, room)})
		}
		s.samples(n)
	}},
	{"moves", 250, func(s *scene, n int) {
		s.process()
		s.functions(n)
		for i := range n {
			s.move(i, place(i), place(i)+1<<28)
		}
		s.samples(n)
	}},
	{"moves of one function", 500, func(s *scene, n int) {
		s.process()
		s.function(0)
		for i := range n {
			s.move(0, place(i), place(i+1))
		}
		s.samples(n)
	}},
	{"moves there and back", 1000, func(s *scene, n int) {
		s.process()
		s.function(0)
		for i := range n {
			s.move(0, place(i%2), place(1-i%2))
		}
		s.samples(10)
	}},
	{"overlapping code", 500, func(s *scene, n int) { // of each function with many others
		s.process()
		for i := range n {
			s.load(i, base+uint64(i), 1000)
		}
		s.samples(n)
	}},
	{"large over small", 250, func(s *scene, n int) {
		s.process()
		s.functions(n)
		s.load(n, base, n*room)
		s.samples(n)
	}},
	{"small over large", 250, func(s *scene, n int) {
		s.process()
		s.load(n, base, n*room)
		s.functions(n)
		s.samples(n)
	}},
	{"reused addresses", 1000, func(s *scene, n int) {
		s.process()
		for i := range n {
			s.load(i, base, room)
			s.Sample(pid, s.tick(), base+8)
		}
	}},
	{"reused addresses, other sizes", 500, func(s *scene, n int) {
		s.process()
		for i := range n {
			s.load(i, base, room+i%200)
			s.Sample(pid, s.tick(), base+8)
		}
	}},
	{"reused index", 250, func(s *scene, n int) {
		s.process()
		for i := range n {
			s.load(7, place(i), room)
			s.Sample(pid, s.tick(), place(i))
		}
	}},
}
