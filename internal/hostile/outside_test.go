package hostile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jitinject/jitinject/elfgen"
	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/format/monolog/monogen"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/format/xrayfdr/xraygen"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// A recording in which every text from outside commands a terminal. Each text has a mark, so the test
// knows which of them were printed.

// commanding returns a text that commands a terminal, with a mark.
func commanding(mark string) string { return mark + "\x1b]0;t\a\xff\u202e" }

// An outsider makes the recording and its files.
type outsider struct {
	*stage
	r   *testrec.Recording
	now uint64
}

// The process and its memory are those of the core of lli, which has registered objects.
const (
	outsidePID    = 24067
	outsideMemory = 0x7f0e7261c000
	outsideStart  = 5_000_000_000
)

// sample adds a sample 8 bytes after an address.
func (o *outsider) sample(pid uint32, addr uint64) {
	o.now += 1_000_000
	o.r.Sample(pid, o.now, addr+8)
}

// process begins a process with executable memory.
func (o *outsider) process(pid uint32, memory uint64) {
	o.r.Comm(pid, outsideStart, commanding(fmt.Sprintf("comm%d", pid)), true)
	o.r.Mmap2(pid, outsideStart+1, 0x550000000000, 0x300000, 0, "/usr/bin/"+commanding("mapped"))
	o.r.Mmap2(pid, outsideStart+2, memory, 0x10000, 0, "//anon")
}

// outside makes the stage.
func outside(t *testing.T) (o *outsider, files []string) {
	t.Helper()
	dir := emptyStage(t).path(commanding("dir"))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	o = &outsider{stage: &stage{t, dir}, r: testrec.NewRecording(), now: outsideStart + 1e9}
	o.r.Machine, o.r.Cmdline = "x86_64", []string{"perf", "record", commanding("argument")}
	o.jitdump()
	o.perfMap()
	o.v8Log()
	o.mono()
	o.captures()
	o.core()
	o.xray()
	o.r.Write(t, o.path("perf.data"))
	o.r = testrec.NewRecording()
	o.r.Machine = "x86_64"
	o.process(77, base)
	o.sample(77, base)
	o.r.Write(t, o.path("nodump.data"))
	return o, []string{"jit-4711.dump", "perf-4712.map", "isolate-0x1-4713-v8.log", commanding("log") + ".mlpd", "caps/" + commanding("cap") + ".bin", "lli.core", commanding("trace"), commanding("program")}
}

func (o *outsider) jitdump() {
	o.process(pid, base)
	o.r.Marker(pid, outsideStart+3, o.path(dumpName))
	var b jitdump.InlineBuilder
	b.Reset()
	b.Function(commanding("outer"), commanding("outerfile"), 1, 0, 0)
	b.At(0, jitdump.Outer, 1, 0)
	b.At(4, b.Inline(jitdump.Outer, b.Function(commanding("inner"), commanding("innerfile"), 1, 0, 0), 2, 0), 3, 0)
	tree, err := b.Record(64)
	o.must(err)
	at := func(i uint64) uint64 { return outsideStart + 1000 + i }
	stranger := load(3, commanding("otherprocess"))
	stranger.PID, stranger.TID = 99, 99
	o.dump(dumpName,
		timed{at(0), jitdump.NewTier(1, 0, commanding("tier"))},
		timed{at(1), jitdump.NewEmbeddedSource(commanding("source"), []byte(commanding("text")+"\n"))},
		timed{at(2), jitdump.NewDebugInfo(binary.LittleEndian, base, []jitdump.DebugEntry{{Addr: base, Line: 1, Name: []byte(commanding("file"))}, {Addr: base + 10, Line: 1 << 31, Name: []byte(commanding("absurd"))}})},
		timed{at(3), load(0, commanding("function"))},
		timed{at(4), tree}, timed{at(4), load(1, commanding("outer"))},
		timed{at(5), &jitdump.Unwinding{Data: make([]byte, 40), HeaderSize: 20}}, timed{at(5), load(2, commanding("table"))},
		timed{at(6), stranger})
	for i := range uint64(3) {
		o.sample(pid, base+64*i)
	}
}

func (o *outsider) perfMap() {
	o.process(4712, base)
	o.put("perf-4712.map", fmt.Sprintf("%x 40 %s\n%x 40 %s\n%s\n", base, commanding("mapname"), base+0x20, commanding("overlap"), commanding("noline")))
	o.sample(4712, base)
}

func (o *outsider) v8Log() {
	o.process(4713, base)
	name, script := commanding("v8name"), commanding("script")
	o.put("isolate-0x1-4713-v8.log", fmt.Sprintf("v8-version,11,3,244,8,0\nscript-source,1,%s,one\\ntwo//# sourceMappingURL=%s\ncode-creation,JS,11,1,%#x,64,%s %s:1:1,0x30,*\ncode-source-info,%#x,1,0,9,C0O0,,\ncode-deopt,%s\n%s,1\n",
		script, commanding("sourcemap"), base, name, script, base, commanding("deopt"), commanding("logline")))
	text, err := json.Marshal(map[string]any{"version": 3, "sources": []string{commanding("mapsource")}, "names": []string{commanding("mapped")}, "mappings": "AAAA;AACA"})
	o.must(err)
	o.put(commanding("sourcemap"), string(text))
	o.sample(4713, base)
}

func (o *outsider) mono() {
	o.process(4714, base)
	o.r.Mmap2(4714, outsideStart+4, 0x7f1100000000, 0x20000, 0, "/usr/lib/libmono-profiler-log.so.0.0.0")
	var log bytes.Buffer
	w, err := monogen.NewWriter(&log, &monolog.Header{Major: 3, Version: 17, PtrSize: 8, PID: 4714, StartupTime: outsideStart + 5, Args: commanding("monoargs"), Arch: "x86-64", OS: commanding("monoos")})
	o.must(err)
	o.must(w.Buffer(monolog.BufferHeader{Time: outsideStart + 6, PtrBase: base, Thread: 0x7f0000001000, MethodBase: 0x5500000}))
	o.must(w.Event(&monolog.Event{Kind: monolog.KindThread, Load: monolog.LoadName, Time: outsideStart + 7, Pointer: 0x7f0000001000, Name: []byte(commanding("thread"))}))
	o.must(w.Event(&monolog.Event{Kind: monolog.KindJIT, Time: outsideStart + 8, Method: 1, Code: base, Size: 64, Name: []byte(commanding("method"))}))
	o.must(w.Event(&monolog.Event{Kind: monolog.KindEnter, Time: outsideStart + 9, Method: 1}))
	o.must(w.Event(&monolog.Event{Kind: monolog.KindLeave, Time: outsideStart + 20, Method: 1}))
	o.must(w.Flush())
	o.put(commanding("log")+".mlpd", log.String())
	o.sample(4714, base)
}

func (o *outsider) captures() {
	o.process(4715, base)
	o.must(os.Mkdir(o.path("caps"), 0o755))
	rng := rand.New(rand.NewPCG(1, 1))
	body := j9gen.Random(rng, j9gen.Options{Layout: j9meta.Layout{Machine: elf.EM_X86_64}, StartPC: base, CodeSize: 64, Cold: j9gen.Never, Sites: 2, Native: j9gen.Never})
	metadata, err := j9gen.Encode(body)
	o.must(err)
	methods := j9gen.Methods(rng, body)
	for i := range methods {
		methods[i].Class, methods[i].Name, methods[i].File = commanding("class"), commanding("java"), commanding("javafile")
	}
	name := "caps/" + commanding("cap")
	o.put(name+".bin", string(metadata))
	o.put(name+".json", string(j9gen.Description(&j9meta.Description{Base: j9meta.Address(body.Base), StartPC: j9meta.Address(uint64(base)), PID: 4715, CodeFile: commanding("nocode"), Methods: methods})))
	o.sample(4715, base)
}

// core adds the core of lli, with another name for one of its functions.
func (o *outsider) core() {
	o.process(outsidePID, outsideMemory)
	data := testrec.Gunzip(o.t, filepath.Join("..", "runtime", "gdbjit", "testdata", "lli.core.gz"))
	name := "sec\x1b\xff\a"
	data = bytes.ReplaceAll(data, []byte("\x00second\x00"), []byte("\x00"+name+"\x00"))
	core, err := elfcore.Open(bytes.NewReader(data))
	o.must(err)
	for i, f := range core.Files() {
		o.r.Mmap2(outsidePID, outsideStart+3+uint64(i), f.Start, f.End-f.Start, f.Offset, f.Name)
	}
	o.put("lli.core", string(data))
	o.sample(outsidePID, outsideMemory+0x1c0)
}

// xray adds a trace, and the program that wrote it.
func (o *outsider) xray() {
	var f elfgen.File
	f.Reset(elfgen.TargetFor(elf.EM_X86_64, binary.LittleEndian, base), elf.ET_DYN)
	text := f.Add(elfgen.Section{Name: ".text", Type: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Align: 16, Data: bytes.Repeat([]byte{0x90}, 0x1000)})
	f.AddSymbol(elfgen.Symbol{Name: []byte(commanding("symbol")), Bind: elf.STB_GLOBAL, Type: elf.STT_FUNC, Section: text, Size: 64})
	f.Add(elfgen.Section{Name: commanding("section"), Type: elf.SHT_PROGBITS, Data: make([]byte, 8)})
	var sleds []byte // address, function, kind, padding
	for kind := range byte(2) {
		sleds = binary.LittleEndian.AppendUint64(sleds, 0x80+uint64(kind))
		sleds = append(binary.LittleEndian.AppendUint64(sleds, 0x80), append([]byte{kind}, make([]byte, 15)...)...)
	}
	f.Add(elfgen.Section{Name: "xray_instr_map", Type: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC, Align: 8, Data: sleds})
	f.AddSegment(elfgen.Segment{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, First: text, Last: text, Align: 0x1000, FromStart: true})
	object, err := f.AppendTo(nil)
	o.must(err)
	path := commanding("program")
	o.put(path, string(object))
	st, err := os.Stat(o.path(path))
	o.must(err)
	dev := st.Sys().(*syscall.Stat_t)
	o.process(4716, base)
	o.r.Major, o.r.Minor = uint32(dev.Dev>>8&0xfff), uint32(dev.Dev&0xff)
	o.r.FileMmap2(4716, outsideStart+4, base, 0x2000, 0, o.path(path), dev.Ino)
	var log bytes.Buffer
	w, err := xraygen.NewWriter(&log, &xrayfdr.Header{Order: binary.LittleEndian, Version: 5, CycleFrequency: 1e9, BufferSize: 4096})
	o.must(err)
	o.must(w.Begin(&xrayfdr.Block{TID: 4716, PID: 4716, TSC: 1000, Seconds: 5}))
	o.must(w.Function(xrayfdr.Enter, 1, 2000))
	o.must(w.CustomEvent(2500, []byte(commanding("event"))))
	o.must(w.Function(xrayfdr.Exit, 1, 3000))
	o.must(w.End())
	o.put(commanding("trace"), log.String())
	o.sample(4716, base+0x80)
}

// programs are stand-ins for those that jitinject starts. They print the text that they get.
var programs = map[string]string{
	"perf":            "case $1 in script) printf '%s' \"$TEXT\" >&2; exit 1;; record) printf '%s\\n' \"$TEXT\" | cat -v >&2; trap '' TERM; sleep 3;; esac",
	"debuginfod-find": "printf '%s' \"$TEXT\" >&2; exit 1",
}

// All commands print texts from outside, and none of these reaches a terminal as it is.
func TestNames_OfEveryFormat(t *testing.T) {
	o, files := outside(t)
	var all strings.Builder
	via := []string{"env", "DEBUGINFOD_URLS=" + commanding("server"), "TEXT=" + commanding("program")}
	run := func(args ...string) {
		t.Helper()
		r := o.runVia(via, args...)
		all.WriteString(r.stdout + r.stderr)
	}
	options := []string{"-i", "perf.data", "--j9", "caps", "--code-from", "lli.core", "--xray", commanding("trace"), "--xray-binary", commanding("program"), "--mono", commanding("log") + ".mlpd", "--source-maps"}
	out := commanding("out") + ".data"
	for _, layout := range [][]string{{"-vvv"}, {"-vv", "--bundle"}, {"-v", "--sampled", "--cfi"}, {"--objects", "objects"}, {"--sources", "sources", "--mono-aot"}, {"--strict"}, {"--clock", "strict"}, {"--objects", commanding("program")}} {
		run(slices.Concat(options, []string{"-o", out}, layout)...)
	}
	isJSON(t, o.run(slices.Concat(options, []string{"-o", out, "--summary", "json", "-vvv"})...).stdout)
	for _, file := range append(files, out, "perf.data", "nodump.data", "caps", commanding("absent")) {
		for _, how := range [][]string{nil, {"-d"}, {"--json"}, {"-x"}, {"--name", "java"}, {"--xray-binary", commanding("program")}} {
			run(slices.Concat([]string{"dump"}, how, []string{file})...)
		}
		for _, how := range [][]string{nil, {"--all"}, {"--producer"}, {"--json"}, {"--recording", "perf.data"}} {
			run(slices.Concat([]string{"verify"}, how, []string{file})...)
		}
		run("-i", file, "-o", "other.data")
	}
	for name, text := range programs {
		o.put(name, "#!/bin/sh\n"+text)
		o.must(os.Chmod(o.path(name), 0o755))
	}
	run("view", out)
	via = append(via, "PATH="+o.dir+":"+os.Getenv("PATH"))
	for _, args := range [][]string{{"view", out}, {"export", out}, {"report", "-i", out}, {"diff", out, commanding("absent")}, {"record", "-o", out, commanding("command")}, {"fetch", "-n", "-v", out}} {
		run(args...)
	}
	for _, name := range o.objectNames(out) {
		o.must(os.Remove(name))
	}
	run("fetch", "-v", "--all", "--buildid-cache", commanding("cache"), out)
	run("clean", "-v", "-n", out)
	run("clean", "-v", out)
	for _, mark := range strings.Fields(`comm4711 comm77 dir function file inner innerfile outer source tier text mapname overlap v8name script thread method class java javafile
		nocode cap log program trace out absent absurd table otherprocess monoargs monoos logline deopt sec`) {
		if !strings.Contains(all.String(), mark+`\x1b`) {
			t.Errorf("got no output with the text %q; want it, escaped", mark)
		}
	}
}
