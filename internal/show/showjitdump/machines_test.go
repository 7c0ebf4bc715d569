package showjitdump_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
	"github.com/jitinject/jitinject/jitdump"
)

// words are instructions of 32 bits.
func words(order binary.ByteOrder, ws ...uint32) (b []byte) {
	for _, w := range ws {
		b = append(b, 0, 0, 0, 0)
		order.PutUint32(b[len(b)-4:], w)
	}
	return b
}

// machines have a function that returns 42, and what is shown of it.
var machines = []struct {
	name    string
	machine elf.Machine
	order   binary.ByteOrder
	code    []byte
	second  uint64 // offset of the second instruction
	listing string
}{
	{"x86-64", elf.EM_X86_64, binary.LittleEndian, []byte{0xb8, 0x2a, 0, 0, 0, 0xc3}, 5, "a.x:10 first line; mov $0x2a,%eax; a.x:11 second line; ret"},
	{"i386", elf.EM_386, binary.LittleEndian, []byte{0xb8, 0x2a, 0, 0, 0, 0xc3}, 5, "a.x:10 first line; mov $0x2a,%eax; a.x:11 second line; ret"},
	{"arm64", elf.EM_AARCH64, binary.LittleEndian, words(binary.LittleEndian, 0x52800540, 0xd65f03c0), 4, "a.x:10; mov w0, #0x2a; a.x:11; ret"},
	{"arm64, big-endian data", elf.EM_AARCH64, binary.BigEndian, words(binary.LittleEndian, 0x52800540, 0xd65f03c0), 4, "a.x:10; mov w0, #0x2a; a.x:11; ret"},
	{"arm", elf.EM_ARM, binary.LittleEndian, words(binary.LittleEndian, 0xe3a0002a, 0xe12fff1e), 4, "a.x:10; .word 0xe3a0002a; a.x:11; .word 0xe12fff1e"},
	{"riscv64", elf.EM_RISCV, binary.LittleEndian, append(words(binary.LittleEndian, 0x02a00513), 0x82, 0x80), 4, "a.x:10; .word 0x02a00513; a.x:11; .short 0x8082"},
	{"s390x", elf.EM_S390, binary.BigEndian, []byte{0xa7, 0x29, 0, 42, 7, 0xfe}, 4, "a.x:10; .word 0xa729002a; a.x:11; .short 0x07fe"},
	{"ppc64le", elf.EM_PPC64, binary.LittleEndian, words(binary.LittleEndian, 0x3860002a, 0x4e800020), 4, "a.x:10; .word 0x3860002a; a.x:11; .word 0x4e800020"},
	{"ppc64", elf.EM_PPC64, binary.BigEndian, words(binary.BigEndian, 0x3860002a, 0x4e800020), 4, "a.x:10; .word 0x3860002a; a.x:11; .word 0x4e800020"},
	{"loong64", elf.EM_LOONGARCH, binary.LittleEndian, words(binary.LittleEndian, 0x0380a804, 0x4c000020), 4, "a.x:10; .word 0x0380a804; a.x:11; .word 0x4c000020"},
	{"mips", elf.EM_MIPS, binary.BigEndian, words(binary.BigEndian, 0x2402002a, 0x03e00008), 4,
		"instructions of machine 8 mips are shown by objdump -d; a.x:10; .word 0x2402002a; a.x:11; .word 0x03e00008"},
}

// Code of all machines is shown with the lines that a dump has for it, and their text.
func TestMachines(t *testing.T) {
	text := func(name string) ([]byte, error) {
		if name != "/src/a.x" {
			return nil, fs.ErrNotExist
		}
		return []byte(strings.Repeat("\n", 9) + "first line\nsecond line\x1b[1m\n"), nil
	}
	for _, m := range machines {
		t.Run(m.name, func(t *testing.T) {
			const addr = 0x10000
			var b bytes.Buffer
			w, err := jitdump.NewWriter(&b, &jitdump.Header{Order: m.order, Version: 1, Machine: uint32(m.machine), PID: 100})
			if err != nil {
				t.Fatal(err)
			}
			for _, rec := range []jitdump.Record{
				jitdump.NewDebugInfo(m.order, addr, []jitdump.DebugEntry{
					{Addr: addr, Line: 10, Name: []byte("/src/a.x")}, {Addr: addr + m.second, Line: 11, Name: []byte("/src/a.x")},
				}),
				&jitdump.Load{PID: 100, TID: 100, VMA: addr, CodeAddr: addr, CodeIndex: 1, Name: []byte("answer"), Code: m.code},
			} {
				if err := w.Write(2000, rec); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(t.TempDir(), "jit-100.dump")
			showtest.Put(t, path, b.Bytes())
			out := showtest.Whole(t, path, show.Options{Disassemble: true, Sources: text})
			_, code, _ := strings.Cut(out, "JIT_CODE_LOAD")
			flat := strings.Join(strings.Fields(code), " ")
			for _, want := range strings.Split(m.listing, "; ") {
				_, rest, ok := strings.Cut(flat, want)
				if !ok {
					t.Fatalf("%q is not shown, or not in its place:\n%s", want, out)
				}
				flat = rest
			}
			if strings.Contains(out, "\x1b") {
				t.Errorf("an escape sequence of the source in %q", out)
			}
		})
	}
}
