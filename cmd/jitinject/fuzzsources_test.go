package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/jitinject/jitinject/elfgen"
	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/format/monolog/monogen"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/format/xrayfdr/xraygen"
	"github.com/jitinject/jitinject/jitdump"
)

// The sources of a fuzzed scene: each describes some of its functions.

// dump adds a jitdump.
func (s *fuzzScene) dump() {
	type timed struct {
		time uint64
		rec  jitdump.Record
	}
	var recs []timed
	if s.once(4) {
		recs = append(recs, timed{s.start, jitdump.NewTier(uint8(s.upTo(3)), jitdump.Color(s.upTo(12)), s.name())})
	}
	functions := s.some()
	for i, f := range functions {
		if s.once(3) {
			var entries []jitdump.DebugEntry
			for range s.upTo(5) {
				entries = append(entries, jitdump.DebugEntry{Addr: f.addr + uint64(s.upTo(int(f.size))), Line: uint32(s.number(3)), Discrim: uint32(s.number(1)), Name: []byte(chosen(s.choices, []string{s.source(), jitdump.RepeatName}))})
			}
			info := jitdump.NewDebugInfo(s.rec.Order, f.addr, edited(s.choices, entries))
			if s.once(8) {
				info.Count = s.number(info.Count)
			}
			recs = append(recs, timed{f.time, info})
		}
		if s.once(4) {
			var b jitdump.InlineBuilder
			b.Reset()
			b.Function(f.name, s.source(), 1, 0, 0)
			call := jitdump.Outer
			for at := uint32(0); at < uint32(f.size); at += 1 + uint32(s.upTo(20)) {
				if s.once(2) {
					call = b.Inline(call, b.Function(s.name(), s.source(), uint32(s.number(3)), 0, 0), uint32(s.upTo(20)), 0)
				}
				b.At(at, chosen(s.choices, []jitdump.CallID{call, jitdump.Outer}), uint32(s.upTo(30)), uint32(s.upTo(9)))
			}
			if rec, err := b.Record(uint32(f.size)); err == nil {
				recs = append(recs, timed{f.time, rec})
			}
		}
		if s.once(6) {
			table := make([]byte, s.upTo(80))
			for i := range table {
				table[i] = s.byte()
			}
			recs = append(recs, timed{f.time, &jitdump.Unwinding{Data: table, HeaderSize: uint64(s.upTo(len(table))), MappedSize: uint64(s.upTo(1) * len(table))}})
		}
		if s.once(6) {
			recs = append(recs, timed{f.time, jitdump.NewEmbeddedSource(s.source(), []byte("line\nline\n"))})
		}
		load := &jitdump.Load{PID: s.pid(), VMA: f.addr, CodeAddr: f.addr, CodeSize: f.size, CodeIndex: uint64(i), Name: []byte(f.name), Code: f.code}
		load.TID = load.PID
		if s.once(12) {
			load.Code, load.CodeSize = nil, f.size
		}
		recs = append(recs, timed{f.time, load})
		if s.once(6) {
			to := chosen(s.choices, s.functions).addr + uint64(s.upTo(1))*0x2000
			recs = append(recs, timed{f.time + uint64(s.upTo(1000)), &jitdump.Move{PID: load.PID, TID: load.PID, VMA: to, OldCodeAddr: f.addr, NewCodeAddr: to, CodeSize: s.number(f.size), CodeIndex: uint64(i)}})
		}
	}
	if s.once(3) {
		recs = append(recs, timed{s.start + 9_000_000, &jitdump.Close{}})
	}
	var out bytes.Buffer
	machine := chosen(s.choices, []elf.Machine{elf.EM_X86_64, elf.EM_X86_64, elf.EM_X86_64, elf.EM_AARCH64, elf.EM_386, elf.EM_S390})
	w, err := jitdump.NewWriter(&out, &jitdump.Header{Order: s.rec.Order, Version: 1, Machine: uint32(machine), Pad: chosen(s.choices, []uint32{0, 0xdeadbeef}), PID: s.main, Timestamp: s.start, Flags: 0})
	s.must(err)
	for _, r := range edited(s.choices, recs) {
		_ = w.Write(r.time, r.rec) // records that no dump can have are left out
	}
	name := fmt.Sprintf("jit-%d.dump", s.main)
	if !s.once(6) {
		s.rec.Marker(s.main, s.start+10, s.path(name))
	}
	s.files[name] = out.Bytes()
}

// perfMap adds a perf map.
func (s *fuzzScene) perfMap() {
	var lines []string
	for _, f := range s.some() {
		lines = append(lines, fmt.Sprintf("%x %x %s\n", f.addr, s.number(f.size), f.name))
	}
	s.files[fmt.Sprintf("perf-%d.map", s.main)] = []byte(strings.Join(edited(s.choices, lines), ""))
}

// v8Log adds the log of an isolate, and the source map of its script.
func (s *fuzzScene) v8Log() {
	lines := []string{chosen(s.choices, []string{"v8-version,11,3,244,8,0\n", "v8-version,12,4,254,21,-node.33,0\n"}), "script-source,1,/a.js,one\\ntwo\\nthree\\n//# sourceMappingURL=a.js.map\n",
		"code-creation,JS,11,1,0x500,9,inner /a.js:2:1,0x30,~\n", "code-source-info,0x500,1,4,7,,,\n"}
	for i, f := range s.some() {
		name := strings.NewReplacer("\n", "\\n", ",", "\\x2c").Replace(f.name)
		micro := (f.time - s.start) / 1000
		lines = append(lines, fmt.Sprintf("code-creation,%s,%d,%d,%#x,%d,%s,%#x,%s\n", chosen(s.choices, []string{"JS", "JS", "Builtin", "RegExp", "Eval"}), s.upTo(14), micro, f.addr, f.size, name, 0x40+8*i, chosen(s.choices, []string{"*", "~", "^", ""})))
		if s.once(2) {
			lines = append(lines, fmt.Sprintf("code-source-info,%#x,1,%d,%d,C0O0C%dO%dI0C16O%d,F0O%d,S%#x\n", f.addr, s.upTo(9), s.number(12), s.upTo(64), s.upTo(20), s.upTo(20), s.upTo(5), 0x30+8*s.upTo(3)))
		}
		switch s.upTo(12) {
		case 0:
			lines = append(lines, fmt.Sprintf("code-move,%#x,%#x\n", f.addr, chosen(s.choices, s.functions).addr+0x2000))
		case 1:
			lines = append(lines, fmt.Sprintf("code-delete,%#x\n", f.addr))
		case 2:
			lines = append(lines, fmt.Sprintf("sfi-move,%#x,%#x\n", 0x40+8*i, 0x48+8*i))
		case 3:
			lines = append(lines, fmt.Sprintf("code-deopt,%d,%d,%#x,%d,%d,bailout,,reason\n", micro, f.size, f.addr, s.upTo(9), s.upTo(9)))
		}
	}
	s.files[fmt.Sprintf("isolate-%#x-%d-v8.log", 1+s.upTo(2), s.main)] = []byte(strings.Join(edited(s.choices, lines), ""))
	mapping := map[string]any{"version": 3, "sources": edited(s.choices, []string{"a.ts", s.source()}), "names": []string{s.name()}, "mappings": chosen(s.choices, []string{"AACA,IAAI;AACA;AACA", "AAAA;;;;AAAAA", ";;gggggggC", "!"}),
		"sourceRoot": chosen(s.choices, []string{"", "/root", strings.Repeat("r", 2000)}), "sourcesContent": []string{"// of\none\ntwo\nthree\n"}}
	text, err := json.Marshal(mapping)
	s.must(err)
	s.files["a.js.map"] = text
	if s.once(2) {
		s.args = append(s.args, "--source-maps")
	}
}

// mono adds a log of Mono's profiler.
func (s *fuzzScene) mono() {
	version := uint8(1 + s.upTo(16))
	major, minor := monogen.MonoVersion(version)
	h := &monolog.Header{Major: major, Minor: minor, Version: version, PtrSize: 8}
	if version > 1 {
		h.PID = s.pid()
	}
	if version == 17 {
		h.StartupTime, h.Arch, h.OS = s.start+10, "x86-64", "linux"
	}
	var out bytes.Buffer
	w, err := monogen.NewWriter(&out, h)
	s.must(err)
	buffer := monolog.BufferHeader{Time: s.start + 20, PtrBase: 0x40000000, Thread: 0x7f0000001000, MethodBase: 0x5500000}
	s.must(w.Buffer(buffer))
	for i, f := range edited(s.choices, s.some()) {
		if s.once(8) {
			_ = w.Buffer(buffer)
		}
		_ = w.Event(&monolog.Event{Kind: monolog.KindJIT, Time: f.time, Method: uint64(i) + 1, Code: f.addr, Size: s.number(f.size), Name: []byte(f.name)})
	}
	_ = w.Flush() // events that no log can have are left out
	s.files["app.mlpd"] = out.Bytes()
	s.rec.Mmap2(s.main, s.start+2, 0x7f1100000000, 0x20000, 0, "/usr/lib/libmono-profiler-log.so.0.0.0")
}

// captures adds OpenJ9's metadata of methods.
func (s *fuzzScene) captures() {
	for i, f := range s.some()[:1] {
		rng := rand.New(rand.NewPCG(uint64(s.upTo(65535)), 1))
		body := j9gen.Random(rng, j9gen.Options{Layout: j9meta.Layout{Machine: elf.EM_X86_64}, StartPC: f.addr, CodeSize: uint32(f.size), Cold: j9gen.Never, Maps: s.upTo(4), Sites: s.upTo(5)})
		metadata, err := j9gen.Encode(body)
		s.must(err)
		name := fmt.Sprintf("captures/%d", i)
		c := &j9meta.Description{Base: j9meta.Address(body.Base), StartPC: j9meta.Address(f.addr), PID: s.pid(), CodeFile: fmt.Sprintf("%d.code", i), Methods: j9gen.Methods(rng, body)}
		if s.once(2) {
			c.Time = &f.time
		}
		s.files[name+".bin"], s.files[name+".json"], s.files[name+".code"] = metadata, j9gen.Description(c), f.code
	}
	s.args = append(s.args, "--j9", "captures")
}

// core adds the core of a process with registered objects, and the files that it maps.
func (s *fuzzScene) core() {
	core, err := elfcore.Open(bytes.NewReader(s.realCore))
	s.must(err)
	for i, f := range core.Files() {
		s.rec.Mmap2(s.main, s.start+1+uint64(i), f.Start, f.End-f.Start, f.Offset, f.Name)
	}
	s.files["lli.core"] = s.realCore
	s.args = append(s.args, "--code-from", "lli.core")
}

// program adds a file that the process maps over or beside its functions, with symbols.
func (s *fuzzScene) program() {
	at := chosen(s.choices, s.functions).addr &^ 0xfff
	var f elfgen.File
	f.Reset(elfgen.TargetFor(elf.EM_X86_64, binary.LittleEndian, at), elf.ET_DYN)
	if s.once(2) {
		f.Add(elfgen.BuildIDNote(nil, binary.LittleEndian, []byte("0123456789abcdefghij")[:1+s.upTo(19)]))
	}
	text := f.Add(elfgen.Section{Name: ".text", Type: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Align: 16, Data: bytes.Repeat([]byte{0x90}, 0x1000)})
	var sleds []byte // of XRay: address, function, and what is there
	for i := range s.upTo(8) {
		f.AddSymbol(elfgen.Symbol{Name: []byte(s.name()), Bind: elf.STB_GLOBAL, Type: elf.STT_FUNC, Section: text, Value: s.number(uint64(64 * i)), Size: s.number(64)})
		for kind := range uint64(2) {
			sleds = binary.LittleEndian.AppendUint64(sleds, uint64(64*i)+kind)
			sleds = binary.LittleEndian.AppendUint64(sleds, uint64(64*i))
			sleds = append(binary.LittleEndian.AppendUint64(sleds, kind|uint64(s.upTo(2))<<16), make([]byte, 8)...)
		}
	}
	if s.once(3) {
		f.Add(elfgen.Section{Name: chosen(s.choices, []string{".eh_frame", ".debug_line", ".debug_info", ".dynstr", s.name()}), Type: elf.SHT_PROGBITS, Data: make([]byte, s.upTo(200))})
	}
	f.Add(elfgen.Section{Name: "xray_instr_map", Type: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC, Align: 8, Data: sleds})
	f.AddSegment(elfgen.Segment{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, First: text, Last: text, Align: 0x1000, FromStart: true})
	object, err := f.AppendTo(nil)
	s.must(err)
	s.files["libcode.so"] = object
	s.mapped = append(s.mapped, func(inode uint64) { s.rec.FileMmap2(s.main, s.start+5, at, 0x2000, 0, s.path("libcode.so"), inode) })
}

// xray adds a trace of the program's calls.
func (s *fuzzScene) xray() {
	if s.files["libcode.so"] == nil {
		s.program()
	}
	var out bytes.Buffer
	w, err := xraygen.NewWriter(&out, &xrayfdr.Header{Order: s.rec.Order.(binary.ByteOrder), Version: xrayfdr.Version, CycleFrequency: chosen(s.choices, []uint64{0, 1e9, 2e9}), BufferSize: 256})
	s.must(err)
	tsc := uint64(1000)
	for range edited(s.choices, make([]int, 1+s.upTo(4))) {
		_ = w.Begin(&xrayfdr.Block{TID: s.pid(), PID: s.main, TSC: tsc, Seconds: int64(s.start / 1e9), Microseconds: uint32(s.upTo(65535))})
		for range s.upTo(12) {
			tsc += s.number(100) % 1e9
			switch s.upTo(5) {
			case 0:
				_ = w.CustomEvent(tsc, []byte(s.name()))
			case 1:
				_ = w.CPU(uint16(s.upTo(3)), tsc)
			default:
				_ = w.Function(chosen(s.choices, []xrayfdr.Kind{xrayfdr.Enter, xrayfdr.Exit, xrayfdr.TailExit}), uint32(1+s.upTo(8)), tsc)
			}
		}
	}
	_ = w.End() // records that do not fit are left out
	s.files["xray-log.calls"] = out.Bytes()
	s.args = append(s.args, "--xray", "xray-log.calls", "--xray-binary", "libcode.so")
}
