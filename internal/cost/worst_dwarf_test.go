package cost

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/wire"
)

var objectRuns = []string{"verify core", "inject -i perf.data", "inject --bundle -i perf.data"}

// debug adds the core of a process with an object: n functions of size bytes, side by side, and debugging
// information. Abbreviation 1 is that of a unit with children and a line table. The entries are those of
// one unit, without its own.
func (s *scene) debug(n, size int, d debugging, entries ...[]byte) {
	s.t.Helper()
	s.core([][]byte{registered(symbols(n, 2, base, uint64(size), first), long(3), d.parts(entries...)...)})
}

var (
	oneDirectory = []byte{1, 1, formString, 1, '/', 0}
	oneFile      = []byte{1, 1, formString, 2, 'a', 0, 'b', 0}
)

// function is the attributes of one function at base, of size bytes.
func function(code byte, size int) []byte {
	b := wire.NewBuffer(binary.LittleEndian)
	b.U8(code)
	b.U64(base)
	b.U32(uint32(size))
	return b.Data
}

// hasCode are the attributes of that.
var hasCode = []uint64{uint64(dwarf.AttrLowpc), formAddr, uint64(dwarf.AttrHighpc), formData4}

// DWARF of registered objects.
var worstDWARF = []worst{
	{"DWARF", "rows of one byte", func(s *scene, size int) {
		s.debug(1, size, debugging{line: lineTable(oneDirectory, oneFile, lineProgram(bytes.Repeat([]byte{opcode}, size)))})
	}, objectRuns},
	{"DWARF", "files without bytes", func(s *scene, size int) {
		s.debug(1, 64, debugging{line: lineTable(oneDirectory, entries([]byte{2, formUdata}, size, func(b *wire.Buffer, _ int) { b.U8(0) }), lineProgram([]byte{opcode}))})
	}, objectRuns},
	{"DWARF", "directories without bytes", func(s *scene, size int) {
		s.debug(1, 64, debugging{line: lineTable(entries([]byte{2, formUdata}, size, func(b *wire.Buffer, _ int) { b.U8(0) }), oneFile, lineProgram([]byte{opcode}))})
	}, objectRuns},
	{"DWARF", "files in ends of one long directory", func(s *scene, size int) {
		n := size / 12
		rows := wire.NewBuffer(binary.LittleEndian)
		for i := range n {
			rows.Bytes([]byte{4})
			rows.Uleb(uint64(i))
			rows.U8(opcode)
		}
		s.debug(1, n, debugging{
			lineStr: []byte("/" + string(long(4090)[1:])),
			line: lineTable(
				entries([]byte{1, formLineStrp}, 128, func(b *wire.Buffer, i int) { b.U32(uint32(0)) }),
				entries([]byte{1, formLineStrp, 2, formUdata}, n, func(b *wire.Buffer, i int) { b.U32(uint32(4091 - i%4000)); b.U8(byte(i % 128)) }),
				lineProgram(rows.Data)),
		})
	}, objectRuns},
	{"DWARF", "functions in one long directory", func(s *scene, size int) {
		s.debug(size/24, room, debugging{line: lineTable([]byte{1, 1, formString, 1, '/', 0}, append([]byte{1, 1, formString, 2}, []byte("b\x00/"+string(long(4000)[1:]))...), lineProgram(append([]byte{4, 1, opcode, 2}, binary.AppendUvarint(nil, uint64(size))...)))})
	}, objectRuns},
	{"DWARF", "inlined calls without attributes", func(s *scene, size int) {
		d := debugging{abbrev: append(abbreviation(2, dwarf.TagSubprogram, true, hasCode...), abbreviation(3, dwarf.TagInlinedSubroutine, false)...)}
		s.debug(1, 64, d, function(2, 64), bytes.Repeat([]byte{3}, size), []byte{0, 0})
	}, objectRuns},
	{"DWARF", "functions without attributes", func(s *scene, size int) {
		d := debugging{abbrev: abbreviation(2, dwarf.TagSubprogram, false)}
		s.debug(1, 64, d, bytes.Repeat([]byte{2}, size), []byte{0})
	}, objectRuns},
	{"DWARF", "inlined calls side by side", func(s *scene, size int) {
		n := min(size/13, 1<<16)
		d := debugging{abbrev: append(abbreviation(2, dwarf.TagSubprogram, true, hasCode...), abbreviation(3, dwarf.TagInlinedSubroutine, false, uint64(dwarf.AttrLowpc), formAddrx2, uint64(dwarf.AttrHighpc), formImplicit, 1)...)}
		calls, addrs := wire.NewBuffer(binary.LittleEndian), wire.NewBuffer(binary.LittleEndian)
		for i := range size / 3 {
			calls.U8(3)
			calls.U16(uint16(i % n))
		}
		for i := range n {
			addrs.U64(base + uint64(i))
		}
		d.addr = addrs.Data
		s.debug(1, n, d, function(2, n), calls.Data[:3*((size-8*n)/3)], []byte{0, 0})
	}, objectRuns},
	{"DWARF", "inlined calls, each in the one before", func(s *scene, size int) {
		d := debugging{abbrev: append(abbreviation(2, dwarf.TagSubprogram, true, hasCode...), abbreviation(3, dwarf.TagInlinedSubroutine, true, uint64(dwarf.AttrLowpc), formAddrx2, uint64(dwarf.AttrHighpc), formImplicit, 1)...)}
		d.addr = binary.LittleEndian.AppendUint64(nil, base)
		n := size / 4
		s.debug(1, 64, d, function(2, 64), bytes.Repeat([]byte{3, 0, 0}, n), make([]byte, n+2))
	}, objectRuns},
	{"DWARF", "inlined calls, each in its caller's code", func(s *scene, size int) {
		const depth = 250
		d := debugging{abbrev: append(abbreviation(2, dwarf.TagSubprogram, true, hasCode...), abbreviation(3, dwarf.TagInlinedSubroutine, true, uint64(dwarf.AttrLowpc), formAddrx2, uint64(dwarf.AttrHighpc), formImplicit, 1)...)}
		n := size / (4*depth + 8)
		calls, addrs := wire.NewBuffer(binary.LittleEndian), wire.NewBuffer(binary.LittleEndian)
		for i := range n {
			for range depth {
				calls.U8(3)
				calls.U16(uint16(i))
			}
			calls.Zeros(depth)
			addrs.U64(base + uint64(i))
		}
		d.addr = addrs.Data
		s.debug(1, n, d, function(2, n), calls.Data, []byte{0, 0})
	}, objectRuns},
	{"DWARF", "inlined functions with one long name", func(s *scene, size int) {
		// Each call has an origin of its own, and each origin refers to the entry with the name.
		n := size / 18
		d := debugging{
			str: long(8000)[1:],
			abbrev: bytes.Join([][]byte{
				abbreviation(2, dwarf.TagSubprogram, true, hasCode...),
				abbreviation(3, dwarf.TagInlinedSubroutine, false, uint64(dwarf.AttrLowpc), formAddrx2, uint64(dwarf.AttrHighpc), formImplicit, 1, uint64(dwarf.AttrAbstractOrigin), formRef4),
				abbreviation(4, dwarf.TagSubprogram, false, uint64(dwarf.AttrSpecification), formRef4),
				abbreviation(5, dwarf.TagSubprogram, false, uint64(dwarf.AttrName), formStrp),
			}, nil),
		}
		b, addrs := wire.NewBuffer(binary.LittleEndian), wire.NewBuffer(binary.LittleEndian)
		const head = 12 // of the unit
		b.Bytes([]byte{1, 0, 0, 0, 0})
		name := head + b.Len()
		b.Bytes([]byte{5, 0, 0, 0, 0})
		origins := head + b.Len()
		for range n {
			b.U8(4)
			b.U32(uint32(name))
		}
		b.Bytes(function(2, n))
		for i := range n {
			b.U8(3)
			b.U16(uint16(i))
			b.U32(uint32(origins + 5*i))
			addrs.U64(base + uint64(i))
		}
		b.Zeros(2)
		d.addr, d.info = addrs.Data, unit(5, b.Data)
		s.core([][]byte{registered(symbols(1, 2, base, uint64(n), first), long(3), d.parts()...)})
	}, objectRuns},
	{"DWARF", "ranges of one list", func(s *scene, size int) {
		lists := wire.NewBuffer(binary.LittleEndian)
		for i := range size / 8 {
			lists.U8(4)
			lists.Uleb(uint64(3 * i))
			lists.Uleb(uint64(3*i + 1))
		}
		lists.U8(0)
		d := debugging{lists: lists.Data}
		d.abbrev = append(abbreviation(2, dwarf.TagSubprogram, true, hasCode...), abbreviation(3, dwarf.TagInlinedSubroutine, false, uint64(dwarf.AttrRanges), formSecOff)...)
		s.debug(1, size, d, function(2, size), bytes.Repeat([]byte{3, 0, 0, 0, 0}, (size-lists.Len())/5), []byte{0, 0})
	}, objectRuns},
	{"DWARF", "functions that share inlined calls", func(s *scene, size int) {
		n := size / 4 / 11
		d := debugging{abbrev: append(abbreviation(2, dwarf.TagSubprogram, true, hasCode...), abbreviation(3, dwarf.TagInlinedSubroutine, false, uint64(dwarf.AttrLowpc), formAddrx2, uint64(dwarf.AttrHighpc), formImplicit, room*16)...)}
		calls, addrs := wire.NewBuffer(binary.LittleEndian), wire.NewBuffer(binary.LittleEndian)
		for i := range n {
			calls.U8(3)
			calls.U16(uint16(i))
			addrs.U64(base + 16*room*uint64(i))
		}
		d.addr = addrs.Data
		d.info = unit(5, bytes.Join([][]byte{{1, 0, 0, 0, 0}, function(2, 1<<30), calls.Data, {0, 0}}, nil))
		s.debug(size/2/24, room, d)
	}, objectRuns},
	{"DWARF", "functions that share ranges of a call", func(s *scene, size int) {
		lists := wire.NewBuffer(binary.LittleEndian)
		for i := range size / 12 {
			lists.U8(4)
			lists.Uleb(uint64(3 * i))
			lists.Uleb(uint64(3*i + 1))
		}
		lists.U8(0)
		d := debugging{lists: lists.Data, abbrev: slices.Concat(abbreviation(2, dwarf.TagSubprogram, true, hasCode...), abbreviation(3, dwarf.TagInlinedSubroutine, false, uint64(dwarf.AttrRanges), formSecOff), abbreviation(4, dwarf.TagInlinedSubroutine, false))}
		s.debug(size/72, 16, d, function(2, 1<<30), []byte{3, 0, 0, 0, 0, 0}, function(2, 0), bytes.Repeat([]byte{4}, size/50), []byte{0})
	}, objectRuns},
	{"DWARF", "units with one line table", func(s *scene, size int) {
		d := debugging{abbrev: abbreviation(2, dwarf.TagSubprogram, false, hasCode...)}
		one := unit(5, []byte{1, 0, 0, 0, 0, 0})
		d.info = bytes.Repeat(one, size/2/len(one))
		d.line = lineTable(oneDirectory, oneFile, lineProgram(bytes.Repeat([]byte{opcode}, size/2)))
		s.debug(1, room, d)
	}, objectRuns},
	{"DWARF", "units", func(s *scene, size int) {
		one := unit(4, []byte{1, 0, 0, 0, 0, 0})
		s.debug(1, room, debugging{info: bytes.Repeat(one, size/len(one))})
	}, objectRuns},
	{"DWARF", "entries with one long name", func(s *scene, size int) {
		d := debugging{str: long(size / 4)[1:], abbrev: abbreviation(2, dwarf.TagVariable, false, uint64(dwarf.AttrName), formStrp)}
		s.debug(1, 64, d, bytes.Repeat([]byte{2, 0, 0, 0, 0}, size*3/4/5), []byte{0})
	}, objectRuns},
	{"DWARF", "entries with many attributes", func(s *scene, size int) {
		var present []uint64
		for range 120 {
			present = append(present, uint64(dwarf.AttrExternal), formPresent)
		}
		d := debugging{abbrev: abbreviation(2, dwarf.TagVariable, false, present...)}
		s.debug(1, 64, d, bytes.Repeat([]byte{2}, size), []byte{0})
	}, objectRuns},
	{"DWARF", "abbreviations", func(s *scene, size int) {
		b := wire.NewBuffer(binary.LittleEndian)
		for i := range size / 6 {
			b.Bytes(abbreviation(uint64(i+2), dwarf.TagVariable, false))
		}
		s.debug(1, 64, debugging{abbrev: b.Data}, []byte{0})
	}, objectRuns},
	{"DWARF", "tables with one long CIE", func(s *scene, size int) {
		n := size / 48
		b := wire.NewBuffer(binary.LittleEndian)
		b.Prefixed32(func() { // CIE
			b.U32(0)
			b.U8(1)
			b.CString("zR")
			b.Bytes([]byte{1, 0x78, 16, 1, 0x00, 0x0c, 7, 8, 0x90, 1})
			b.Bytes(bytes.Repeat([]byte{0x0e, 8}, 2000))
		})
		for i := range n {
			b.Prefixed32(func() {
				b.U32(uint32(b.Len()))
				b.U64(base + room*uint64(i))
				b.U64(room)
				b.U8(0)
			})
		}
		s.core([][]byte{registered(symbols(n, 2, base, room, first), long(3), part{name: ".eh_frame", kind: 1, flags: 2, addr: base + 1<<31, content: b.Data})})
	}, objectRuns},
	{"DWARF", "demangled names", func(s *scene, size int) {
		name := mangled()
		names := wire.NewBuffer(binary.LittleEndian)
		names.U8(0)
		n := size / (24 + len(name) + 1)
		for range n {
			names.CString(name)
		}
		d := debugging{line: lineTable(oneDirectory, oneFile, lineProgram(append([]byte{opcode, 2}, binary.AppendUvarint(nil, uint64(n*room))...)))}
		s.core([][]byte{registered(symbols(n, 2, base, room, func(i int) uint32 { return uint32(1 + i*(len(name)+1)) }), names.Data, d.parts()...)})
	}, objectRuns},
}

// mangled returns a name that is much longer when it is demangled: each type has the one before twice.
func mangled() string {
	b := []byte("_Z1f1AIiiE")
	for i := range 12 {
		last := "S" + strings.ToUpper(strconv.FormatInt(int64(i), 36)) + "_"
		b = append(b, "S_I"+last+last+"E"...)
	}
	return string(b)
}
