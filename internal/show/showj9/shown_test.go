package showj9_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// Addresses of a body that has one of everything.
const (
	j9Base   = 0x7e0000000000
	j9Start  = 0x7f8800001020
	j9Cold   = j9Start + 0x100
	j9Outer  = 0x500000
	j9CharAt = 0x500040
)

// Code of its two parts: with offsets from startPC.
var (
	j9WarmCode = []byte{
		0x55,             // 0x0: push
		0x48, 0x89, 0xe5, // 0x1
		0x8b, 0x47, 0x08, // 0x4
		0x85, 0xc0, // 0x7
		0x74, 0x05, // 0x9: je 0x10
		0x03, 0x46, 0x0c, // 0xb
		0x90, 0x90, // 0xe
		0x5d, 0xc3, // 0x10
	}
	j9ColdCode = []byte{0x31, 0xc0, 0x5d, 0xc3} // 0x100
)

// smallBody has all sections. One of its two inlined sites is of a class that was unloaded.
func smallBody(t testing.TB) (*j9meta.Body, []byte) {
	t.Helper()
	b := &j9meta.Body{
		Layout: j9meta.Layout{Order: binary.LittleEndian, PointerSize: 8, Machine: elf.EM_X86_64, HeaderSize: 232},
		Base:   j9Base,
		Header: j9meta.Header{
			ClassName: 0x600000, MethodName: 0x600020, MethodSignature: 0x600040, ConstantPool: 0x700000, RAMMethod: j9Outer,
			StartPC: j9Start, EndWarmPC: j9Start + uint64(len(j9WarmCode)), StartColdPC: j9Cold, EndPC: j9Cold + uint64(len(j9ColdCode)),
			TotalFrameSize: 6, Slots: 2, ScalarTempSlots: 1, ObjectTempSlots: 3, ProloguePushes: 1, TempOffset: -2,
			NumExceptionRanges: 0x8003, Flags: j9meta.UsesVectors, RegisterSaveDescription: 0x1234, BodyInfo: 0x610000,
			Hotness: 4, HotnessPad: [4]byte{1}, CodeCacheAlloc: 0x620000, ConstRefArrays: 0x630000,
		},
		Sites: []j9meta.InlinedSite{
			{Method: j9CharAt, Info: j9meta.ByteCodeInfo{CallerIndex: -1, ByteCodeIndex: 3}, Monitors: []byte{0}},
			{Method: 1<<64 - 1, Info: j9meta.ByteCodeInfo{CallerIndex: 0, ByteCodeIndex: 7, SameReceiver: true}, Pad: [4]byte{0, 2}, Monitors: []byte{4}},
		},
		Atlas: &j9meta.StackAtlas{
			InternalPointerMap: 0x7e0000000300, NumberOfMapBytes: 1, ParmBaseOffset: 8, NumberOfParmSlots: 2, LocalBaseOffset: -24, SyncObjectTempOffset: 0xffff, Monitors: []byte{1},
			Maps: []j9meta.StackMap{
				{Low: 0, Info: j9meta.ByteCodeInfo{CallerIndex: -1}, RegisterSave: 0x10, RegisterMap: 0x3, Bits: []byte{1}},
				{Low: 0x4, Info: j9meta.ByteCodeInfo{CallerIndex: 0, ByteCodeIndex: 2}, RegisterSave: 0x10, RegisterMap: 0x80000005,
					Pointers: []byte{1, 1, 2, 6, 7}, Bits: []byte{0x83}, LiveMonitors: []byte{2}},
				{Low: 0x7, Info: j9meta.ByteCodeInfo{CallerIndex: 1, ByteCodeIndex: 1, DoNotProfile: true}, Shared: true},
				{Low: 0xe, Info: j9meta.ByteCodeInfo{CallerIndex: -1, ByteCodeIndex: 9}, RegisterSave: 0x10, RegisterMap: 0x1, Bits: []byte{3}},
				{Low: 0x100, Info: j9meta.ByteCodeInfo{CallerIndex: 0, ByteCodeIndex: 12}, RegisterSave: 0x10, RegisterMap: j9meta.GapMap &^ 0x80000000, Bits: []byte{0}},
			},
		},
		Sections: []j9meta.Section{{Kind: j9meta.Other, Bytes: []byte("what the VM alone reads")}},
	}
	j9gen.Lay(b)
	blob, err := j9gen.Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	return b, blob
}

// smallMethods are what is known of its methods; of the one that was unloaded, nothing.
var smallMethods = []jitdump.JavaMethod{
	{Method: j9Outer, Class: []byte("a/Outer"), Name: []byte("run"), Signature: []byte("()V"), File: []byte("a/Outer.java"), Flags: jitdump.UserFunction,
		Lines: []jitdump.JavaLine{{ByteCodeIndex: 0, Line: 10}, {ByteCodeIndex: 3, Line: 11}, {ByteCodeIndex: 9, Line: 13}}},
	{Method: j9CharAt, Class: []byte("java/lang/String"), Name: []byte("charAt"), Signature: []byte("(I)C"), File: []byte("java/lang/String.java"),
		Lines: []jitdump.JavaLine{{ByteCodeIndex: 0, Line: 700}, {ByteCodeIndex: 7, Line: 701}}},
}

// j9Dump is a jitdump with a body's metadata in front of the loads of both its parts.
func j9Dump(t testing.TB, h *jitdump.Header, b *j9meta.Body, blob []byte, methods []jitdump.JavaMethod, warm, cold []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := jitdump.NewWriter(&out, h)
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range []struct {
		addr uint64
		code []byte
	}{{b.Header.StartPC, warm}, {b.Header.StartColdPC, cold}} {
		if len(part.code) == 0 {
			continue
		}
		for _, rec := range []jitdump.Record{
			&jitdump.OpenJ9Metadata{CodeAddr: part.addr, Base: b.Base, PointerSize: uint16(b.Layout.PointerSize), HeaderSize: uint16(b.Layout.HeaderSize), Metadata: blob, Methods: methods},
			&jitdump.Load{PID: 100, TID: 101, VMA: part.addr, CodeAddr: part.addr, CodeIndex: uint64(i + 1), Name: []byte("a.Outer.run()V"), Code: part.code},
		} {
			if err := w.Write(2000+uint64(i), rec); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out.Bytes()
}

func x86Header() *jitdump.Header {
	return &jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: uint32(elf.EM_X86_64), PID: 100}
}

// unames has machines as uname -m calls them, of either pointer size.
var unames = map[elf.Machine]string{
	elf.EM_X86_64: "x86_64", elf.EM_386: "i386", elf.EM_AARCH64: "aarch64", elf.EM_ARM: "arm", elf.EM_PPC64: "ppc64", elf.EM_PPC: "ppc",
	elf.EM_S390: "s390x", elf.EM_RISCV: "riscv64",
}

// putCapture writes the files of a capture into the current directory.
func putCapture(t testing.TB, name string, b *j9meta.Body, blob []byte, methods []jitdump.JavaMethod, warm, cold []byte) {
	t.Helper()
	time := uint64(2000)
	c := &j9meta.Description{Base: j9meta.Address(b.Base), StartPC: j9meta.Address(b.Header.StartPC), Machine: unames[b.Layout.Machine], PID: 100, Time: &time}
	for _, m := range methods {
		method := j9meta.CaptureMethod{Method: j9meta.Address(m.Method), Class: string(m.Class), Name: string(m.Name), Signature: string(m.Signature), File: string(m.File), User: m.Flags&jitdump.UserFunction != 0}
		for _, l := range m.Lines {
			method.Lines = append(method.Lines, [2]uint32{l.ByteCodeIndex, l.Line})
		}
		c.Methods = append(c.Methods, method)
	}
	showtest.Put(t, name+".bin", blob)
	if len(warm) > 0 {
		c.CodeFile = name + ".warm"
		showtest.Put(t, c.CodeFile, warm)
	}
	if len(cold) > 0 {
		c.ColdCodeFile = name + ".cold"
		showtest.Put(t, c.ColdCodeFile, cold)
	}
	text := j9gen.Description(c)
	showtest.Put(t, name+".json", text)
}

// j9Vectors copies the captures of package j9meta into the current directory.
func j9Vectors(t testing.TB) (names []string) {
	t.Helper()
	paths, err := filepath.Glob("../../format/j9meta/testdata/*.bin")
	if err != nil || len(paths) == 0 {
		t.Fatal("no captures", err)
	}
	var contents [][]byte
	for _, bin := range paths {
		for _, path := range []string{bin, strings.TrimSuffix(bin, ".bin") + ".json"} {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			names, contents = append(names, filepath.Base(path)), append(contents, b)
		}
	}
	t.Chdir(t.TempDir())
	for i, name := range names {
		showtest.Put(t, name, contents[i])
	}
	return names
}

// What is shown of OpenJ9's metadata, byte for byte: a body with one of everything in a jitdump and in
// a capture, and captures that others have made.
func TestOpenJ9Golden(t *testing.T) {
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	undecoded := testrec.Hex(t, "../../../jitdump/testdata/openj9.hex")
	j9Vectors(t)
	body, blob := smallBody(t)
	showtest.Put(t, "jit-100.dump", j9Dump(t, x86Header(), body, blob, smallMethods, j9WarmCode, j9ColdCode))
	putCapture(t, "small", body, blob, smallMethods, j9WarmCode, j9ColdCode)
	showtest.Put(t, "undecoded.dump", undecoded)
	showtest.Golden(t, testdata, "dump.txt", showtest.Whole(t, "jit-100.dump", show.Options{Disassemble: true}))
	showtest.Golden(t, testdata, "dump.json", showtest.Whole(t, "jit-100.dump", show.Options{Disassemble: true, JSON: true}))
	showtest.Golden(t, testdata, "small.txt", showtest.Whole(t, "small.bin", show.Options{Hex: true}))
	showtest.Golden(t, testdata, "small.json", showtest.Whole(t, "small.json", show.Options{JSON: true, Hex: true}))
	showtest.Golden(t, testdata, "undecoded.txt", showtest.Shown(t, "undecoded.dump", show.Options{}))
	for _, name := range []string{"epoch-232", "inline-wide-exc", "plain-216"} {
		showtest.Golden(t, testdata, name+".txt", showtest.Whole(t, name+".bin", show.Options{}))
		showtest.Golden(t, testdata, name+".json", showtest.Whole(t, name+".bin", show.Options{JSON: true}))
	}
}

// What docs/dump.md shows of OpenJ9's metadata is what is shown.
func TestOpenJ9Docs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/dump.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## OpenJ9's metadata\n")
	section, _, _ = strings.Cut(section, "\n## ")
	j9Vectors(t)
	body, blob := smallBody(t)
	showtest.Put(t, "jit-100.dump", j9Dump(t, x86Header(), body, blob, smallMethods, j9WarmCode, j9ColdCode))
	out := showtest.Whole(t, "fsd-216.bin", show.Options{}) + showtest.Whole(t, "jit-100.dump", show.Options{Disassemble: true})
	known := make(map[string]bool)
	for line := range strings.Lines(out) {
		known[line] = true
	}
	blocks := strings.Split(section, "```console\n")[1:]
	if len(blocks) != 1 {
		t.Fatalf("%d sessions, not 1", len(blocks))
	}
	for _, b := range blocks {
		b, _, _ = strings.Cut(b, "```")
		for line := range strings.Lines(b) {
			if !strings.HasPrefix(line, "$ ") && line != "...\n" && !known[line] {
				t.Errorf("this is not shown: %s", line)
			}
		}
	}
}

// Files that are not a whole capture are refused with what is missing.
func TestOpenJ9Refused(t *testing.T) {
	t.Chdir(t.TempDir())
	body, blob := smallBody(t)
	putCapture(t, "small", body, blob, nil, j9WarmCode[:10], nil)
	showtest.Put(t, "alone.bin", blob)
	showtest.Put(t, "broken.bin", blob)
	showtest.Put(t, "broken.json", []byte("{\"base\": \"0x7e0000000000\"}"))
	showtest.Put(t, "other.bin", blob)
	showtest.Put(t, "other.json", []byte("{\"base\": \"0x7e0000000000\", \"startPC\": \"0x10\", \"epoch\": 232}"))
	for _, test := range []struct {
		name string
		opts show.Options
		want string
	}{
		{"alone.bin", show.Options{}, "it is no jitdump"},
		{"broken.bin", show.Options{}, "broken.json: it has no \"startPC\""},
		{"other.bin", show.Options{}, "startPC is 0x7f8800001020 in the metadata, and 0x10 in other.json"},
		{"small.bin", show.Options{Disassemble: true}, "no code to disassemble; leave out -d"},
	} {
		var out bytes.Buffer
		if err := showtest.File(&out, test.name, &test.opts); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, and not %s", test.name, err, test.want)
		}
	}
}

// The inline stacks of all captures are those that OpenJ9's own reader answers, as it was written
// down with them: offset, stack, and whether the map is its own.
func TestOpenJ9Stacks(t *testing.T) {
	expected, err := filepath.Glob("../../format/j9meta/testdata/*.expected.txt")
	if err != nil || len(expected) == 0 {
		t.Fatal("nothing is expected", err)
	}
	texts := make(map[string]string)
	for _, path := range expected {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[strings.TrimSuffix(filepath.Base(path), ".expected.txt")] = string(b)
	}
	j9Vectors(t)
	for name, text := range texts {
		_, text, _ := strings.Cut(text, "\n") // inlined sites N
		list := objects(t, showtest.Whole(t, name+".bin", show.Options{JSON: true, Filter: show.Filter{Types: []string{"Inline Stacks"}}}))
		var got strings.Builder
		for _, r := range list[len(list)-1].list("ranges") {
			stack := r.list("stack")
			fmt.Fprintf(&got, "%x: ", r.num(t, "start"))
			for i, f := range stack {
				if method := f["method"].(string); i < len(stack)-1 {
					fmt.Fprintf(&got, "%s@%v < ", method, f["byteCodeIndex"])
				} else {
					fmt.Fprintf(&got, "outer@%v", f["byteCodeIndex"])
				}
			}
			own := 0
			if r["own"] == "yes" {
				own = 1
			}
			fmt.Fprintf(&got, " depth=%d gc=%d\n", len(stack)-1, own)
		}
		if got.String() != text {
			t.Errorf("%s:\n%s\nand not\n%s", name, got.String(), text)
		}
	}
}
