package engine_test

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Code of Mono's methods from a core dump: of a recording that was made with one.

// monoCore unpacks the recording and returns options for it.
func monoCore(t *testing.T, core ...string) (string, config.Options) {
	dir := testrec.Unpack(t, "mono-core")
	opts := config.Options{
		Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects"),
		SideFiles: []config.SideFile{{Kind: formats.Mono, Path: filepath.Join(dir, "app.mlpd")}},
	}
	for _, c := range core {
		opts.CodeFrom = append(opts.CodeFrom, filepath.Join(dir, c))
	}
	return dir, opts
}

// hotMethod is the method that nearly all samples are in, callers those that they come through.
const hotMethod = "App:Hot (int)"

// monoProcess is the process of the recording.
const monoProcess = 23331

// Each object has the bytes that are in the core, or none.
func TestCodeFrom_CoreHasBytes(t *testing.T) {
	for _, bundle := range []bool{false, true} {
		t.Run(fmt.Sprintf("bundle %v", bundle), func(t *testing.T) {
			dir, opts := monoCore(t, "mono.core")
			opts.Bundle = bundle
			sum, err := engine.Run(context.Background(), opts)
			if err != nil || !sum.Complete() {
				t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
			}
			if d := sum.Dumps[0]; d.PID != monoProcess || d.Unwind.Derived < 600 {
				t.Errorf("dump %+v", d)
			}
			b, err := os.ReadFile(filepath.Join(dir, "mono.core"))
			if err != nil {
				t.Fatal(err)
			}
			core, err := elfcore.Open(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			paths, _ := filepath.Glob(filepath.Join(dir, "objects", "*.so"))
			with, without := 0, 0
			for _, path := range paths {
				for _, fn := range functionsIn(t, path) {
					if fn.code == nil {
						without++
						continue
					}
					with++
					if fn.name == hotMethod && !bytes.Contains(b, fn.code) {
						t.Errorf("the code of %s is not that of the core", hotMethod)
					}
					if len(fn.code) >= 16 && bytes.Equal(fn.code[:16], make([]byte, 16)) {
						t.Errorf("%s begins with zeros", fn.name)
					}
				}
			}
			if with < 600 || without == 0 || without > 40 {
				t.Errorf("%d functions with code, %d without; threads %v", with, without, core.Threads())
			}
			if sum.Dumps[0].WithoutCode != without {
				t.Errorf("the summary says that %d are without code, %d are", sum.Dumps[0].WithoutCode, without)
			}
		})
	}
}

type codedFunction struct {
	name string
	code []byte // nil for none
}

// functionsIn returns the functions of an object.
func functionsIn(t *testing.T, path string) (list []codedFunction) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range syms {
		fn := codedFunction{name: s.Name}
		if text.Type == elf.SHT_PROGBITS {
			fn.code = make([]byte, s.Size)
			if _, err := text.ReadAt(fn.code, int64(s.Value-text.Addr)); err != nil {
				t.Fatal(err)
			}
		}
		list = append(list, fn)
	}
	return list
}

// instruction is a line of perf annotate with one.
var instruction = regexp.MustCompile(`(?m)^\s+([0-9.]+)\s*:\s+[0-9a-f]+:\s+(?:(?:[0-9a-f]{2} )+\s+)?([a-z]\w+)`)

// perf annotate shows the instructions with their samples if there was a core, and none
// at all otherwise.
func TestCodeFrom_AnnotateWithAndWithoutCore(t *testing.T) {
	objdump := testrec.Tool(t, "objdump")
	for _, bundle := range []bool{false, true} {
		for _, core := range []bool{true, false} {
			var cores []string
			if core {
				cores = []string{"mono.core"}
			}
			dir, opts := monoCore(t, cores...)
			opts.Bundle = bundle
			if sum, err := engine.Run(context.Background(), opts); err != nil || !sum.Complete() {
				t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
			}
			for version, perf := range testrec.Perfs(t) {
				t.Run(fmt.Sprintf("%s, core %v, bundle %v", version, core, bundle), func(t *testing.T) {
					b, err := testrec.Command(t, dir, perf, "annotate", "--stdio", "-f", "--objdump="+objdump, "-i", opts.Output, "-s", hotMethod).Output()
					crashes := err != nil && strings.HasPrefix(version, "6.12") && err.Error() == "signal: segmentation fault"
					if err != nil && !crashes {
						t.Fatal(err)
					}
					out := string(b)
					found := instruction.FindAllStringSubmatch(out, -1)
					if !core {
						if len(found) > 0 || !strings.Contains(out, "Percent") {
							t.Errorf("perf annotate shows instructions that nobody knows:\n%s", out)
						}
						return
					}
					divides := false
					for _, m := range found {
						divides = divides || m[2] == "idiv"
					}
					if crashes { // as it does on perf inject's output
						t.Log("SKIPPED: perf annotate crashes")
					} else if len(found) < 10 || !divides {
						t.Errorf("perf annotate shows\n%s", out)
					}
					script := testrec.Run(t, dir, perf, "script", "-f", "--no-inline", "-i", opts.Output, "-F", "comm,tid,ip,sym")
					samples, called := 0, 0
					for _, s := range strings.Split(script, "\n\n") {
						if !strings.Contains(s, hotMethod) {
							continue
						}
						samples++
						work := strings.Index(s, "App:Work (int)")
						if work > strings.Index(s, hotMethod) && (strings.Index(s, "App:Main (string[])") > work || strings.Contains(s, "ThreadStart")) {
							called++
						}
					}
					if samples < 40 {
						t.Fatalf("%d samples in %s:\n%s", samples, hotMethod, script)
					}
					if strings.HasPrefix(version, "7") && !bundle {
						return // it loses stacks through functions that lie close together
					}
					if called < samples*9/10 {
						t.Errorf("%d of %d samples have their callers:\n%s", called, samples, script)
					}
				})
			}
		}
	}
}

// A core of which nothing shows that it is of the process is refused, and the result is as
// without it.
func TestCodeFrom_CoreOfAnotherProcess(t *testing.T) {
	elsewhere := func(b []byte) []byte { // all files at other addresses
		list := coreNote(t, b, 0x46494c45)
		for i := range binary.LittleEndian.Uint64(list) {
			for _, at := range []uint64{16 + 24*i, 24 + 24*i} {
				binary.LittleEndian.PutUint64(list[at:], binary.LittleEndian.Uint64(list[at:])+0x1000)
			}
		}
		return b
	}
	renumbered := func(b []byte) []byte {
		binary.LittleEndian.PutUint32(coreNote(t, b, 3)[24:], 77)
		return b
	}
	unmapped := func(b []byte) []byte { // nothing says which files are mapped
		binary.LittleEndian.PutUint64(coreNote(t, b, 0x46494c45), 0)
		return b
	}
	for name, x := range map[string]struct {
		change func(b []byte) []byte
		want   string // "" for code
	}{
		"the same":                     {func(b []byte) []byte { return b }, ""},
		"files elsewhere":              {elsewhere, "it is a core dump of another process than 23331: /usr/"},
		"of a container":               {renumbered, ""},
		"no files":                     {unmapped, ""},
		"no files, and another number": {func(b []byte) []byte { return unmapped(renumbered(b)) }, "it is a core dump of process 77, not of 23331"},
		"without memory":               {func(b []byte) []byte { return withoutMemory(b) }, "has no memory where process 23331 has its functions"},
		"cut off":                      {func(b []byte) []byte { return b[:100] }, "program header"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, opts := monoCore(t, "mono.core")
			path := filepath.Join(dir, "mono.core")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, x.change(b), 0o600); err != nil {
				t.Fatal(err)
			}
			opts.Bundle = true
			sum, err := engine.Run(context.Background(), opts)
			if err != nil {
				t.Fatal(err)
			}
			coded := false
			paths, _ := filepath.Glob(filepath.Join(dir, "objects", "*.so"))
			for _, p := range paths {
				for _, fn := range functionsIn(t, p) {
					coded = coded || fn.code != nil
				}
			}
			if len(paths) == 0 || coded != (x.want == "") || sum.Complete() != (x.want == "") {
				t.Errorf("%d objects, code %v, problems %v", len(paths), coded, sum.Problems)
			}
			if x.want != "" && (len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), x.want) || !strings.HasPrefix(sum.Problems[0].String(), path)) {
				t.Errorf("problems %v, want %q", sum.Problems, x.want)
			}
		})
	}
}

// A file that is no core dump is an error, for a pipe before anything was read.
func TestCodeFrom_NoCoreDump(t *testing.T) {
	for want, content := range map[string]string{
		"it is neither a core dump nor another ELF file; name a core dump of the process": "no core dump at all",
		"it is compressed; unpack it with zstd -d":                                        "\x28\xb5\x2f\xfdand so on",
	} {
		w := ready(t)
		put(t, w.path("mono.core"), []byte(content))
		w.opts.CodeFrom = []string{w.path("mono.core")}
		w.fails(fmt.Sprintf("`Options.CodeFrom = %q`: ", w.path("mono.core")), want)
		w.opts.Input, w.opts.Stdin = "-", feed(t, asPipe(t, w.opts.Input), 100)
		w.fails(fmt.Sprintf("`Options.CodeFrom = %q`: ", w.path("mono.core")), want)
	}
}

// Without address space layout randomization, every run has its files at the same places:
// then it is the number that tells.
func TestCodeFrom_FixedAddresses(t *testing.T) {
	for _, x := range []struct {
		program, library uint64
		pid              uint32
		want             string // the problem
	}{
		{0x555555554000, 0x7ffff7800000, 100, ""},
		{0x555555554000, 0x7ffff7800000, 77, "proves nothing"},
		{0x400000, 0x7ffff7800000, 77, "proves nothing"},
		{0x55d5a1b34000, 0x7f1234560000, 77, ""},
	} {
		w := newWorld(t)
		w.Comm(100, monoStart, "mono", true)
		w.Mmap2(100, monoStart+1, x.program+0x1000, 0x300000, 0x1000, "/usr/bin/mono-sgen")
		w.Mmap2(100, monoStart+2, x.library, 0x20000, 0, profiler)
		w.Mmap2(100, monoStart+3, 0x40000000, 0x10000, 0, "//anon")
		put(t, w.path("app.mlpd"), monoLog(t, 17, 100, monoStart, jitted{monoStart + 200, 2, 0x40000100, 64, "App:IsPrime (int)"}))
		put(t, w.path("core"), tinyCore(x.pid, 0x40000000, bytes.Repeat([]byte{0x90}, 0x1000), map[string]uint64{"/usr/bin/mono-sgen": x.program, profiler: x.library}))
		w.opts.SideFiles, w.opts.CodeFrom, w.opts.Objects = []config.SideFile{{Kind: formats.Mono, Path: w.path("app.mlpd")}}, []string{w.path("core")}, w.path("objects")
		w.Sample(100, monoStart+320, 0x40000110)
		w.Write(t, w.opts.Input)
		sum, err := engine.Run(context.Background(), w.opts)
		if err != nil || sum.Objects != 1 {
			t.Fatalf("got %s, %v; want no error, Objects = 1", asJSON(sum), err)
		}
		if coded := sum.Dumps[0].WithoutCode == 0; coded != (x.want == "") || sum.Complete() != coded || !coded && !strings.Contains(sum.Problems[0].Text, x.want) {
			t.Errorf("for %+v: got code %v, problems %v; want code or a problem with %q", x, coded, sum.Problems, x.want)
		}
	}
}

// tinyCore is a core dump of x86-64 with a number, files that are mapped from their start on, and some memory.
func tinyCore(pid uint32, addr uint64, memory []byte, files map[string]uint64) []byte {
	le := binary.LittleEndian
	words := func(b []byte, values ...uint64) []byte {
		for _, v := range values {
			b = le.AppendUint64(b, v)
		}
		return b
	}
	info := make([]byte, 136)
	le.PutUint32(info[24:], pid)
	mapped, names := words(nil, uint64(len(files)), 1), []byte(nil)
	for name, start := range files {
		mapped = words(mapped, start, start+0x400000, 0)
		names = append(append(names, name...), 0)
	}
	mapped = append(mapped, names...)
	var notes []byte
	for _, n := range []struct {
		kind uint32
		desc []byte
	}{{3, info}, {0x46494c45, mapped}} {
		notes = le.AppendUint32(notes, 5)
		notes = le.AppendUint32(notes, uint32(len(n.desc)))
		notes = le.AppendUint32(notes, n.kind)
		notes = append(append(notes, "CORE\x00\x00\x00\x00"...), n.desc...)
		notes = append(notes, make([]byte, -len(n.desc)&3)...)
	}
	b := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 9)...)
	b = le.AppendUint16(b, uint16(elf.ET_CORE))
	b = le.AppendUint16(b, uint16(elf.EM_X86_64))
	b = words(le.AppendUint32(b, 1), 0, 64, 0)
	b = le.AppendUint32(b, 0)
	for _, v := range []uint16{64, 56, 2, 0, 0, 0} {
		b = le.AppendUint16(b, v)
	}
	at, size := uint64(64+2*56), uint64(len(memory))
	b = le.AppendUint32(le.AppendUint32(b, uint32(elf.PT_NOTE)), 0)
	b = words(b, at, 0, 0, uint64(len(notes)), 0, 4)
	b = le.AppendUint32(le.AppendUint32(b, uint32(elf.PT_LOAD)), uint32(elf.PF_R|elf.PF_X))
	b = words(b, at+uint64(len(notes)), addr, 0, size, size, 4096)
	return append(append(b, notes...), memory...)
}

// Later cores fill what earlier ones lack.
func TestCodeFrom_TwoCores(t *testing.T) {
	dir, opts := monoCore(t, "empty.core", "mono.core")
	b, err := os.ReadFile(filepath.Join(dir, "mono.core"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "empty.core"), zeroed(b), 0o600); err != nil {
		t.Fatal(err)
	}
	opts.Bundle = true
	sum, err := engine.Run(context.Background(), opts)
	if err != nil || !sum.Complete() || sum.Dumps[0].Unwind.Derived < 600 {
		t.Fatalf("got %s, %v; want no error, nothing missing, Dumps[0].Unwind.Derived >= 600", asJSON(sum), err)
	}
}

// Code of methods in an image is that of the file, as far as it is the one that was recorded.
func TestCodeFrom_MethodInImage(t *testing.T) {
	const image, code = 0x7f2200000000, 0x3000           // where the image is mapped, and a method in the file
	content, err := os.ReadFile(testrec.Tool(t, "true")) // any ELF file
	if err != nil || len(content) < code+64 {
		t.Fatalf("got %v, %v; want no error, at least %d content", len(content), err, code+64)
	}
	for name, x := range map[string]struct {
		inode bool     // the recording has it
		from  []string // --code-from
		note  bool
		want  string // the problem
		coded bool
	}{
		"recorded":            {inode: true, coded: true},
		"named and recorded":  {inode: true, from: []string{"image.so"}, coded: true},
		"not known":           {},
		"named":               {from: []string{"image.so"}, coded: true, note: true},
		"another of its name": {from: []string{"other/image.so"}, want: "process 100 had no such file mapped"},
		"another":             {from: []string{"third.so"}, want: "process 100 had no such file mapped"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			path := w.path("image.so")
			os.Mkdir(w.path("other"), 0o755)
			for _, p := range []string{"image.so", "other/image.so", "third.so"} {
				put(t, w.path(p), content)
			}
			w.Comm(100, monoStart, "mono", true)
			w.Mmap2(100, monoStart+2, 0x7f1100000000, 0x20000, 0, profiler)
			var st unix.Stat_t
			if err := unix.Stat(path, &st); err != nil {
				t.Fatal(err)
			}
			if w.Major, w.Minor = unix.Major(st.Dev), unix.Minor(st.Dev); !x.inode {
				st.Ino = 0
			}
			w.FileMmap2(100, monoStart+3, image, 0x50000, 0x2000, path, st.Ino)
			w.Mmap2(100, monoStart+4, 0x40000000, 0x10000, 0, "//anon")
			put(t, w.path("app.mlpd"), monoLog(t, 17, 100, monoStart, jitted{monoStart + 100, 1, image + code - 0x2000, 64, "System.String:Concat (string,string)"}))
			w.opts.SideFiles, w.opts.Precompiled = []config.SideFile{{Kind: formats.Mono, Path: w.path("app.mlpd")}}, true
			w.opts.Objects = w.path("objects")
			for _, from := range x.from {
				w.opts.CodeFrom = append(w.opts.CodeFrom, w.path(from))
			}
			w.Sample(100, monoStart+320, image+code-0x2000+8)
			w.Write(t, w.opts.Input)
			sum, err := engine.Run(context.Background(), w.opts)
			if err != nil || sum.Objects != 1 || sum.Complete() != (x.want == "") || (len(sum.Notes) > 0) != x.note {
				t.Fatalf("got %s, %v; want no error, Objects = 1, Complete() = %v, (len(Notes) > 0) = %v", asJSON(sum), err, x.want == "", x.note)
			}
			if x.want != "" && !strings.Contains(sum.Problems[0].Text, x.want) {
				t.Errorf("problem %s", sum.Problems[0])
			}
			paths, _ := filepath.Glob(w.path("objects/*.so"))
			fn := functionsIn(t, paths[0])[0]
			if (fn.code != nil) != x.coded || x.coded && !bytes.Equal(fn.code, content[code:code+64]) {
				t.Errorf("the method has % x", fn.code)
			}
		})
	}
}

// coreNote returns what a note of a 64-bit core says, in place.
func coreNote(t *testing.T, b []byte, kind uint32) []byte {
	t.Helper()
	at := binary.LittleEndian.Uint64(b[64+8:]) // of the first program header, which is of notes
	for {
		name, size := binary.LittleEndian.Uint32(b[at:]), binary.LittleEndian.Uint32(b[at+4:])
		desc := at + 12 + uint64(name+3)&^3
		if binary.LittleEndian.Uint32(b[at+8:]) == kind {
			return b[desc : desc+uint64(size)]
		}
		at = desc + uint64(size+3)&^3
	}
}

// withoutMemory says that no memory is in a core.
func withoutMemory(b []byte) []byte {
	for i := range binary.LittleEndian.Uint16(b[56:]) - 1 {
		binary.LittleEndian.PutUint64(b[64+56*(int(i)+1)+32:], 0) // p_filesz
	}
	return b
}

// zeroed returns a core whose memory nobody has written to.
func zeroed(b []byte) []byte {
	b = bytes.Clone(b)
	first := binary.LittleEndian.Uint64(b[64+8:]) + binary.LittleEndian.Uint64(b[64+32:])
	clear(b[first:])
	return b
}

// A core that was made too early has other code where methods were compiled after it.
func TestCodeFrom_CoreMadeTooEarly(t *testing.T) {
	w := newWorld(t)
	w.runMono(100, monoStart, 0x40000000, 0x7f2200000000)
	memory := make([]byte, 0x1000)
	var methods []jitted
	for i := range uint64(60) { // the last twenty come after the core
		methods = append(methods, jitted{monoStart + 200 + i, i, 0x40000000 + 64*i, 64, fmt.Sprintf("App:F%d ()", i)})
		if i < 40 {
			copy(memory[64*i:], bytes.Repeat([]byte{0x90}, 64))
		}
	}
	methods = append(methods, jitted{monoStart + 300, 100, 0x40000020, 64, "App:Late ()"}) // in the place of F0 and F1
	put(t, w.path("app.mlpd"), monoLog(t, 17, 100, monoStart, methods...))
	core := tinyCore(100, 0x40000000, memory, map[string]uint64{"/usr/bin/mono-sgen": 0x550000000000})
	put(t, w.path("core"), core)
	w.opts.SideFiles, w.opts.CodeFrom, w.opts.Objects = []config.SideFile{{Kind: formats.Mono, Path: w.path("app.mlpd")}}, []string{w.path("core")}, w.path("objects")
	w.Write(t, w.opts.Input)
	sum, err := engine.Run(context.Background(), w.opts)
	if err != nil {
		t.Fatal(err)
	}
	if d := sum.Dumps[0]; d.WithoutCode != 21 || d.Late != 21 || d.CodeFiles != 1 {
		t.Errorf("%d functions without code, %d later than the core; problems %v", d.WithoutCode, d.Late, sum.Problems)
	}
}
