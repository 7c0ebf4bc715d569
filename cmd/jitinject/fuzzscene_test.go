package main

import (
	"bytes"
	"encoding/binary"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// A fuzzScene is a process, or a few, with functions that several sources describe, each in its way. What
// is there is a matter of choices: counts, names, addresses, times, records that are doubled, dropped or
// swapped, and bytes that are damaged.
type fuzzScene struct {
	*choices
	t     *testing.T
	rec   *testrec.Recording
	dir   string
	files map[string][]byte
	args  []string

	main      uint32 // the process of most functions
	start     uint64 // nanoseconds
	functions []fuzzFunction
	mapped    []func(inode uint64) // mappings of libcode.so

	realCore []byte
}

type fuzzFunction struct {
	name             string
	addr, size, time uint64
	code             []byte
}

// The memory and the process of the functions, as in the core of lli.
const (
	fuzzMemory0 = 0x7f0e7261c000
	fuzzProcess = 24067
)

func (s *fuzzScene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *fuzzScene) path(name string) string { return filepath.Join(s.dir, name) }

// pid returns the number of the process, and sometimes another one.
func (s *fuzzScene) pid() uint32 {
	if s.once(8) {
		return chosen(s.choices, []uint32{fuzzProcess, 4711, 1, 0, 1<<32 - 1})
	}
	return s.main
}

// some returns the functions that a source describes: at least one.
func (s *fuzzScene) some() []fuzzFunction {
	list := edited(s.choices, s.functions)
	if len(list) == 0 {
		list = s.functions[:1]
	}
	list = slices.Clone(list)
	for i := range list {
		switch s.upTo(20) {
		case 0:
			list[i].name = s.name()
		case 1:
			list[i].time = s.number(list[i].time)
		case 2:
			list[i].addr += uint64(s.upTo(64))
		}
	}
	return list
}

// newFuzzScene makes the files of a scene.
func newFuzzScene(t *testing.T, dir string, input, core []byte) *fuzzScene {
	s := &fuzzScene{choices: newChoices(input), t: t, dir: dir, rec: testrec.NewRecording(), files: make(map[string][]byte), main: fuzzProcess, start: 5e9, realCore: core}
	s.recorded()
	for i := range 1 + s.upTo(chosen(s.choices, []int{3, 12, 40})) {
		f := fuzzFunction{name: s.name(), addr: fuzzMemory0 + 64*uint64(i), size: 64, time: s.start + uint64(i+1)*1000}
		if s.once(6) {
			f.addr = fuzzMemory0 + uint64(s.upTo(0x1fff))
		}
		if s.once(40) {
			f.addr = s.number(f.addr)
		}
		if s.once(5) {
			f.size = uint64(s.upTo(300))
		}
		f.code = bytes.Repeat([]byte{0x90}, int(f.size))
		for i := range min(len(f.code), 12) {
			if s.once(2) {
				f.code[i] = s.byte()
			}
		}
		s.functions = append(s.functions, f)
	}
	sources := []func(){s.dump, s.dump, s.perfMap, s.v8Log, s.mono, s.captures, s.core, s.program, s.xray}
	for range 1 + s.upTo(3) {
		chosen(s.choices, sources)()
	}
	for name, b := range s.files {
		s.must(os.MkdirAll(filepath.Dir(s.path(name)), 0o755))
		s.files[name] = s.place(name, b)
	}
	s.write()
	return s
}

// place writes a file, which may be damaged.
func (s *fuzzScene) place(name string, b []byte) []byte {
	s.must(os.WriteFile(s.path(name), b, 0o600))
	return b
}

// recorded begins the recording.
func (s *fuzzScene) recorded() {
	r := s.rec
	if s.once(8) {
		r.Order = binary.BigEndian
	}
	r.Machine = chosen(s.choices, []string{"x86_64", "x86_64", "aarch64", "", s.name()})
	if s.once(2) {
		r.SampleType |= testrec.StackUser
	}
	if s.once(3) {
		r.SampleType |= testrec.Callchain
	}
	if s.once(8) {
		r.ClockID = int32(s.upTo(5)) - 1
	}
	if s.once(8) {
		r.Wall, r.Clock = s.number(1_700_000_000_000_000_000), s.number(s.start)
	}
	if s.once(8) {
		r.Cmdline = []string{"perf", "record", "-k", "mono", s.name()}
	}
	r.NoMmap2, r.OldMagic, r.NoTrailers = s.once(20), s.once(40), s.once(40)
	r.Comm(s.main, s.start-100, chosen(s.choices, []string{"node", "java", "mono", "python3", "php", "lli", s.name()}), s.once(2))
	r.Mmap2(s.main, s.start-50, 0x550000000000, 0x300000, 0, chosen(s.choices, []string{"/usr/bin/node", "/usr/bin/java", "/usr/bin/mono-sgen", "/usr/bin/lli", "/usr/bin/" + s.name()}))
	r.Mmap2(s.main, s.start, fuzzMemory0, s.number(0x4000), 0, "//anon")
}

// write ends the recording and writes it.
func (s *fuzzScene) write() {
	r := s.rec
	var st unix.Stat_t
	for _, mapped := range s.mapped {
		s.must(unix.Stat(s.path("libcode.so"), &st))
		r.Major, r.Minor = unix.Major(st.Dev), unix.Minor(st.Dev)
		mapped(st.Ino)
	}
	now := s.start + 1_000_000
	for range s.upTo(40) {
		f := chosen(s.choices, s.functions)
		now += uint64(s.upTo(100_000))
		at := f.addr + uint64(s.upTo(64))
		switch s.upTo(20) {
		case 0:
			r.Fork(4711, s.pid(), now)
		case 1:
			r.Exit(s.pid(), s.pid(), now)
		case 2:
			r.Comm(s.pid(), now, s.name(), s.once(4))
		case 3:
			r.Mmap2(s.pid(), s.number(now), f.addr&^0xfff, s.number(0x1000), s.number(0), chosen(s.choices, []string{"//anon", "[heap]", "/memfd:x (deleted)", "//anon"}))
		case 4:
			r.Round()
		case 5:
			r.Namespaces(s.pid(), now, 1, 2, 3, uint64(s.upTo(9)))
		default:
			r.Chain(s.pid(), s.number(now), at, chosen(s.choices, s.functions).addr+8, 0x550000001000)
		}
	}
	if r.Order == testrec.Order(binary.LittleEndian) {
		list := edited(s.choices, slices.Collect(testrec.Records(r.Data())))
		data := bytes.Join(list, nil)
		*r = testrec.Recording{Order: r.Order, SampleType: r.SampleType, AttrSize: r.AttrSize, ClockID: r.ClockID, ID: r.ID, Machine: r.Machine, Cmdline: r.Cmdline, Wall: r.Wall, Clock: r.Clock, OldMagic: r.OldMagic, NoTrailers: r.NoTrailers, NoMmap2: r.NoMmap2}
		r.Payload(data)
	}
	s.files["perf.data"] = r.Bytes()
	s.place("perf.data", s.files["perf.data"])
	if s.once(4) {
		s.stream()
	}
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		if b := s.damaged(s.files[name]); name == "perf.data" || len(b) != len(s.files[name]) || !bytes.Equal(b, s.files[name]) {
			s.files[name] = s.place(name, b)
		}
	}
}

// stream makes the recording one in the format of pipes.
func (s *fuzzScene) stream() {
	in := s.files["perf.data"]
	file, err := perfdata.Open(bytes.NewReader(in), int64(len(in)))
	if err != nil {
		return // it was edited
	}
	preamble, err := perfdata.AppendPreamble(nil, file)
	if err != nil {
		return
	}
	var out bytes.Buffer
	w := perfdata.NewPipeWriter(&out, file.Header.Order)
	w.Write(preamble)
	w.Write(s.rec.Data())
	if w.Err() == nil {
		s.files["perf.data"] = out.Bytes()
	}
}

// fuzzOptions are options of inject. A run has some of them.
var fuzzOptions = [][]string{{"--bundle"}, {"--sampled"}, {"--cfi"}, {"--sources", "sources"}, {"--embed-sources"}, {"--dwarf", "4"}, {"-v"}, {"-vvv"}, {"-z"}, {"--strict"}, {"--mono-names", "short"}, {"--mono-aot"},
	{"--clock", "strict"}, {"--clock", "1000"}, {"--objects", "objects"}, {"--no-inline"}, {"--no-count"}, {"--pid", "24067"}, {"--jobs", "3"}}

// Scenes, which fuzz whole runs: see FuzzProgram. Messages have no characters that move a terminal, and the
// result is the same for any number of workers.
func FuzzScene(f *testing.F) {
	core := testrec.Gunzip(f, filepath.Join(internalDir, "runtime", "gdbjit", "testdata", "lli.core.gz"))
	for i := range 64 {
		f.Add([]byte{byte(i)})
	}
	// perf reads some damaged recordings for minutes.
	if perf, err := exec.LookPath("perf"); err == nil {
		dir := f.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "perf"), []byte("#!/bin/sh\nexec timeout -k 1 2 "+perf+" \"$@\"\n"), 0o755); err != nil {
			f.Fatal(err)
		}
		f.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	}
	f.Fuzz(func(t *testing.T, input []byte) { runScene(t, input, core) })
}

func runScene(t *testing.T, input, core []byte) {
	dir, err := os.MkdirTemp("/tmp", "fuzz-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Chdir(dir)
	c := newFuzzScene(t, dir, input, core)
	s := &fuzzStage{t: t, scene: true}
	for _, b := range c.files {
		s.size += len(b)
	}
	s.before = s.tree(t)
	args := []string{"-i", "perf.data", "--no-sync"}
	for range c.upTo(4) {
		args = append(args, chosen(c.choices, fuzzOptions)...)
	}
	args = append(args, c.args...)
	s.injected(args, c.once(12), c.once(6))
	if c.once(2) {
		names := slices.DeleteFunc(slices.Sorted(maps.Keys(c.files)), func(n string) bool { return strings.HasSuffix(n, ".code") || n == "a.js.map" })
		s.run(append([]string{"verify", "out.data"}, names...)...)
		s.run(append([]string{"dump", chosen(c.choices, []string{"-d", "--json", "-x", "--no-sources"})}, names...)...)
	}
	if c.once(40) {
		s.run("export", "out.data", "-o", "out.json")
		s.run("view", "out.data", "-o", "out.html")
	}
	s.cleaned()
}

// isTerminalText reports whether a text has nothing that a terminal might obey.
func isTerminalText(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) })
}
