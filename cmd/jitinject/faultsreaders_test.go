package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/elfgen"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// The modes of this file read what a run finds by itself, or what the user names: each reader's calls
// fail. A read that fails is never "there is no such file".

var readerModes = []faultMode{
	{name: "perf map", args: "-i perf.data -o out.data", make: stagePerfMap("perf-4711.map")},
	{name: "perf map in a directory", args: "-i perf.data -o out.data --dump-dir maps", make: stagePerfMap("maps/deep/perf-4711.map")},
	{name: "perf map, named", args: "-i perf.data -o out.data --map named.map", make: stagePerfMap("named.map")},
	{name: "dump in a directory", args: "-i perf.data -o out.data --dump-dir dumps", make: stageElsewhere},
	{name: "dump without a mapping", args: "-i perf.data -o out.data", make: stageUnmarked},
	{name: "no runtime", args: "-i perf.data -o out.data", make: stageNothing},
	{name: "captures", args: "-i perf.data -o out.data --j9 captures", make: stageCaptures},
	{name: "core", args: "-i perf.data -o out.data --code-from lli.core", make: stageCore, few: true},
	{name: "source map", args: "-i perf.data -o out.data --source-maps", make: stageSourceMap},
	{name: "Mono, command line", args: "-i perf.data -o out.data", make: stageMonoCommand},
	{name: "mapped file", args: "-i perf.data -o out.data", make: stageMapped},
	{name: "dump that is open", args: "-i perf.data -o out.data --objects new/objects", make: stageOpen},
	{name: "log in a pipe", args: "-i - -o out.data", make: stageMonoPipe, stdin: "perf.pipe"},
	{name: "verify perf map", args: "verify perf-4711.map", make: stagePerfMap("perf-4711.map"), reads: true, few: true},
	{name: "dump perf map", args: "dump perf-4711.map", make: stagePerfMap("perf-4711.map"), reads: true, few: true},
	{name: "verify jitdump", args: "verify jit-4711.dump", reads: true, few: true},
	{name: "dump jitdump", args: "dump jit-4711.dump", reads: true, few: true},
	{name: "dump captures", args: "dump captures/a.bin", make: stageCaptures, reads: true, few: true},
	{name: "dump log", args: "dump named.log", make: stageV8Log("named.log"), reads: true, few: true},
	{name: "dump Mono", args: "dump app.mlpd", make: stageMono, reads: true, few: true},
	{name: "dump XRay", args: "dump xray-log.calls", make: stageXRay, reads: true, few: true},
	{name: "verify directory", args: "verify perf.dir", make: stageDirectory, reads: true, few: true},
	{name: "verify object", args: "verify jitted-4711-0.so", first: "-i perf.data -o out.data", reads: true, few: true},
}

// internalDir is the directory of the packages with test data: tests of faults change theirs.
var internalDir, _ = filepath.Abs(filepath.Join("..", "..", "internal"))

// jitted is a recording of a process that has code in memory of its own.
func jitted(name string) *testrec.Recording {
	const pid = 4711
	r := testrec.NewRecording()
	r.Machine = "x86_64"
	r.Comm(pid, 900, name, true)
	r.Mmap2(pid, 910, 0x550000000000, 0x300000, 0, "/usr/bin/"+name)
	r.Mmap2(pid, 1000, 0x7f1200000000, 0x10000, 0, "//anon")
	for i := range uint64(30) {
		r.Sample(pid, 1000000+i, 0x7f1200000008+64*(i%3))
	}
	return r
}

// stagePerfMap makes a recording of a process with a perf map of three functions.
func stagePerfMap(name string) func(t testing.TB, dir string) {
	return func(t testing.TB, dir string) {
		t.Helper()
		jitted("prog").Write(t, filepath.Join(dir, "perf.data"))
		leave(t, filepath.Join(dir, name), "7f1200000000 40 one\n7f1200000040 40 two\n7f1200000080 40 three\n")
	}
}

// leave writes a file, and makes its directory.
func leave(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// stageElsewhere makes a recording with a dump that was moved into a directory of another one.
func stageElsewhere(t testing.TB, dir string) {
	t.Helper()
	stageFunctions(t, dir)
	if err := os.MkdirAll(filepath.Join(dir, "dumps", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "jit-4711.dump"), filepath.Join(dir, "dumps", "deep", "jit-4711.dump")); err != nil {
		t.Fatal(err)
	}
}

// stageUnmarked makes a recording that does not say that its process has mapped the dump beside it.
func stageUnmarked(t testing.TB, dir string) {
	t.Helper()
	stageFunctions(t, dir)
	jitted("prog").Write(t, filepath.Join(dir, "perf.data"))
}

// stageNothing makes a recording of a process whose code nothing describes.
func stageNothing(t testing.TB, dir string) {
	t.Helper()
	jitted("prog").Write(t, filepath.Join(dir, "perf.data"))
}

// stageCaptures makes a recording of a process, and a directory with a capture of one of its methods.
func stageCaptures(t testing.TB, dir string) {
	t.Helper()
	const pid, start = 4711, 0x7f8800001020
	data := filepath.Join(internalDir, "format", "j9meta", "testdata")
	metadata, err := os.ReadFile(filepath.Join(data, "plain-216.bin"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(data, "plain-216.json"))
	if err != nil {
		t.Fatal(err)
	}
	var described map[string]any
	if err := json.Unmarshal(text, &described); err != nil {
		t.Fatal(err)
	}
	described["pid"], described["machine"], described["code"] = pid, "x86_64", "a.code"
	if text, err = json.Marshal(described); err != nil {
		t.Fatal(err)
	}
	leave(t, filepath.Join(dir, "captures", "a.bin"), string(metadata))
	leave(t, filepath.Join(dir, "captures", "a.json"), string(text))
	leave(t, filepath.Join(dir, "captures", "a.code"), strings.Repeat("\x90", 0x400))
	r := testrec.NewRecording()
	r.Machine = "x86_64"
	r.Comm(pid, 900, "java", true)
	r.Mmap2(pid, 1000, start&^0xfff, 0x10000, 0, "//anon")
	for i := range uint64(30) {
		r.Sample(pid, 1000000+i, start+4)
	}
	r.Write(t, filepath.Join(dir, "perf.data"))
}

// stageCore unpacks the recording of a process that registered its objects, and its core dump.
func stageCore(t testing.TB, dir string) {
	t.Helper()
	data := filepath.Join(internalDir, "runtime", "gdbjit", "testdata")
	for name, packed := range map[string]string{"perf.data": "lli.data.gz", "lli.core": "lli.core.gz"} {
		leave(t, filepath.Join(dir, name), string(testrec.Gunzip(t, filepath.Join(data, packed))))
	}
	dump, err := os.ReadFile(filepath.Join(data, "jit-24067.dump"))
	if err != nil {
		t.Fatal(err)
	}
	leave(t, filepath.Join(dir, "jit-24067.dump"), string(dump))
}

// stageSourceMap makes the stage of a log of V8 with a script that names its source map.
func stageSourceMap(t testing.TB, dir string) {
	t.Helper()
	const name = "isolate-0x1-4711-v8.log"
	stageV8Log(name)(t, dir)
	path := filepath.Join(dir, name)
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	leave(t, path, strings.Replace(string(log), `two\nthree`, `two\nthree\n//# sourceMappingURL=a.js.map`, 1))
	leave(t, filepath.Join(dir, "a.js.map"), `{"version":3,"sources":["a.ts"],"names":[],"mappings":"AACA,IAAI;AACA;AACA","sourcesContent":["// of\none\ntwo\nthree\n"]}`)
}

// stageMonoCommand makes the stage of Mono with a log that perf record's command line names.
func stageMonoCommand(t testing.TB, dir string) {
	t.Helper()
	stageMono(t, dir)
	if err := os.Rename(filepath.Join(dir, "app.mlpd"), filepath.Join(dir, "named.log")); err != nil {
		t.Fatal(err)
	}
	r := monoRecording()
	r.Cmdline = []string{"perf", "record", "-k", "mono", "mono", fmt.Sprintf("--profile=log:output=%s", filepath.Join(dir, "*.log")), "app.exe"}
	r.Write(t, filepath.Join(dir, "perf.data"))
}

// stageMapped makes a recording with copies of stacks, of a process that maps a file: the file has one of
// the functions of its dump, and a symbol for it.
func stageMapped(t testing.TB, dir string) {
	t.Helper()
	const pid, base = 4711, uint64(0x7f1200000000)
	target := elfgen.TargetFor(elf.EM_X86_64, binary.LittleEndian, base)
	var f elfgen.File
	f.Reset(target, elf.ET_DYN)
	text := f.Add(elfgen.Section{Name: ".text", Type: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Align: 16, Data: bytes.Repeat([]byte{0x90}, 64)})
	f.AddSegment(elfgen.Segment{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, First: text, Last: text, Align: 0x1000, FromStart: true})
	f.AddSymbol(elfgen.Symbol{Name: []byte("builtin"), Bind: elf.STB_GLOBAL, Type: elf.STT_FUNC, Section: text, Size: 64})
	object, err := f.AppendTo(nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "libcode.so")
	leave(t, path, string(object))
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	r := functionsRecording(t, dir)
	r.SampleType |= testrec.StackUser
	r.Major, r.Minor = unix.Major(st.Dev), unix.Minor(st.Dev)
	r.FileMmap2(pid, 950, base-f.Offset(text), 0x1000, 0, path, st.Ino)
	r.Write(t, filepath.Join(dir, "perf.data"))
}

// stageOpen makes a recording of this process, with a dump that has no name any more, and that the process
// has open.
func stageOpen(t testing.TB, dir string) {
	t.Helper()
	pid := uint32(os.Getpid())
	path := filepath.Join(dir, fmt.Sprintf("jit-%d.dump", pid))
	stageFunctions(t, dir)
	dump, err := os.ReadFile(filepath.Join(dir, "jit-4711.dump"))
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(dump[20:], pid)
	var changed bytes.Buffer
	r, err := jitdump.NewReader(bytes.NewReader(dump))
	if err != nil {
		t.Fatal(err)
	}
	w, err := jitdump.NewWriter(&changed, &jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: uint32(elf.EM_X86_64), PID: pid})
	for raw, nerr := r.Next(); nerr == nil && err == nil; raw, nerr = r.Next() {
		var rec jitdump.Record
		if rec, err = raw.Decode(); err == nil {
			if load, ok := rec.(*jitdump.Load); ok {
				load.PID, load.TID = pid, pid
			}
			err = w.Write(raw.Timestamp, rec)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	leave(t, path, changed.String())
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	for _, name := range []string{path, filepath.Join(dir, "jit-4711.dump")} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	rec := testrec.NewRecording()
	rec.Comm(pid, 900, "prog", true)
	rec.Marker(pid, 1000, path)
	for i := range uint64(3) {
		rec.Sample(pid, 1000000+i, 0x7f1200000008+64*i)
	}
	rec.Write(t, filepath.Join(dir, "perf.data"))
}

// stageMonoPipe makes the stage of Mono with a stream of the recording.
func stageMonoPipe(t testing.TB, dir string) {
	t.Helper()
	stageMono(t, dir)
	writeStream(t, dir)
}
