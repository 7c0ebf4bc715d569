package engine_test

import (
	"debug/elf"
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
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

// machines have a function that returns 42, as their compilers write it, and words
// from the listing of a disassembler.
var machines = []struct {
	name    string
	machine elf.Machine
	order   testrec.Order
	addr    uint64
	code    []byte
	second  uint64 // offset of the second instruction
	listing string // "" where LLVM 14 has no disassembler
}{
	{"x86-64", elf.EM_X86_64, binary.LittleEndian, 0x7f0000001000, []byte{0xb8, 0x2a, 0, 0, 0, 0xc3}, 5, "movl $42, %eax; retq"},
	{"i386", elf.EM_386, binary.LittleEndian, 0xf7001000, []byte{0xb8, 0x2a, 0, 0, 0, 0xc3}, 5, "movl $42, %eax; retl"},
	{"arm64", elf.EM_AARCH64, binary.LittleEndian, 0x7f0000001000, words(binary.LittleEndian, 0x52800540, 0xd65f03c0), 4, "mov w0, #42; ret"},
	{"arm64, big-endian data", elf.EM_AARCH64, binary.BigEndian, 0x7f0000001000, words(binary.LittleEndian, 0x52800540, 0xd65f03c0), 4, "mov w0, #42; ret"},
	{"arm", elf.EM_ARM, binary.LittleEndian, 0xb6001000, words(binary.LittleEndian, 0xe3a0002a, 0xe12fff1e), 4, "mov r0, #42; bx lr"},
	{"arm, T32", elf.EM_ARM, binary.LittleEndian, 0xb6001001, []byte{0x2a, 0x20, 0x70, 0x47}, 2, "movs r0, #42; bx lr"},
	{"arm, big-endian data", elf.EM_ARM, binary.BigEndian, 0xb6001000, words(binary.LittleEndian, 0xe3a0002a, 0xe12fff1e), 4, "mov r0, #42; bx lr"},
	{"riscv64", elf.EM_RISCV, binary.LittleEndian, 0x3f00001000, append(words(binary.LittleEndian, 0x02a00513), 0x82, 0x80), 4, "li a0, 42; ret"},
	{"s390x", elf.EM_S390, binary.BigEndian, 0x3ff00001000, []byte{0xa7, 0x29, 0, 42, 7, 0xfe}, 4, "lghi %r2, 42; br %r14"},
	{"ppc64le", elf.EM_PPC64, binary.LittleEndian, 0x7f0000001000, words(binary.LittleEndian, 0x3860002a, 0x4e800020), 4, "li 3, 42; blr"},
	{"ppc64", elf.EM_PPC64, binary.BigEndian, 0x7f0000001000, words(binary.BigEndian, 0x3860002a, 0x4e800020), 4, "li 3, 42; blr"},
	{"ppc", elf.EM_PPC, binary.BigEndian, 0xf7001000, words(binary.BigEndian, 0x3860002a, 0x4e800020), 4, "li 3, 42; blr"},
	{"loong64", elf.EM_LOONGARCH, binary.LittleEndian, 0x7ff000001000, words(binary.LittleEndian, 0x0380a804, 0x4c000020), 4, ""},
	{"mips", elf.EM_MIPS, binary.BigEndian, 0x77001000, words(binary.BigEndian, 0x2402002a, 0x03e00008, 0), 4, "addiu $2, $zero, 42; jr $ra"},
	{"mipsel", elf.EM_MIPS, binary.LittleEndian, 0x77001000, words(binary.LittleEndian, 0x2402002a, 0x03e00008, 0), 4, "addiu $2, $zero, 42; jr $ra"},
	{"mips64el", elf.EM_MIPS, binary.LittleEndian, 0xfff0001000, words(binary.LittleEndian, 0x2402002a, 0x03e00008, 0), 4, "addiu $2, $zero, 42; jr $ra"},
	{"sparc64", elf.EM_SPARCV9, binary.BigEndian, 0xfff8000100001000, words(binary.BigEndian, 0x9010202a, 0x81c3e008, 0x01000000), 4, "mov 42, %o0; retl"},
}

// What other machines recorded gives objects of those machines: tools of all
// vendors find no problems found, the disassembler finds the instructions,
// addr2line the lines, and perf on this machine the names.
func TestObjects_OfOtherMachines(t *testing.T) {
	readelf, lint, verify := testrec.Tool(t, "readelf"), testrec.Tool(t, "eu-elflint"), testrec.Tool(t, "llvm-dwarfdump-14", "llvm-dwarfdump")
	objdump := testrec.Tool(t, "llvm-objdump-14", "llvm-objdump")
	for _, m := range machines {
		t.Run(m.name, func(t *testing.T) {
			w := newWorld(t)
			w.Order = m.order
			w.opts.Objects = w.path("objects")
			start := m.addr
			if m.machine == elf.EM_ARM {
				start &^= 1
			}
			w.mark(100, 1000, "jit-100.dump")
			w.expect(100, 2500, start, "answer+0x0")
			lines := []jitdump.DebugEntry{
				{Addr: m.addr, Line: 10, Name: []byte("/src/a.x")},
				{Addr: m.addr + m.second, Line: 11, Name: []byte("/src/a.x")},
			}
			h := jitdump.Header{Order: m.order, Version: 1, Machine: uint32(m.machine), PID: 100}
			w.dump("jit-100.dump", h, timed{2000, jitdump.NewDebugInfo(m.order, m.addr, lines)}, load(2000, 100, 1, m.addr, "answer", m.code))
			w.check()

			made, err := filepath.Glob(w.path("objects/*.so"))
			if err != nil || len(made) != 1 {
				t.Fatalf("got %+v, %v; want no error, 1 object", made, err)
			}
			so := made[0]
			f, err := elf.Open(so)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			wide := m.addr > 1<<32
			if f.Machine != m.machine || f.ByteOrder != binary.ByteOrder(m.order) || (f.Class == elf.ELFCLASS64) != wide {
				t.Errorf("header %+v", f.FileHeader)
			}
			if _, errs := testrec.RunBoth(t, w.dir, readelf, "-aW", so); errs != "" {
				t.Errorf("readelf complains: %s", errs)
			}
			if m.machine != elf.EM_MIPS && m.machine != elf.EM_LOONGARCH { // elfutils 0.188 does not know their flags
				if out := testrec.Run(t, w.dir, lint, "--gnu-ld", so); out != "No errors\n" {
					t.Errorf("eu-elflint complains: %s", out)
				}
			}
			if out, errs := testrec.RunBoth(t, w.dir, verify, "--verify", so); !strings.Contains(out, "No errors.") || errs != "" {
				t.Errorf("llvm-dwarfdump complains: %s%s", out, errs)
			}
			if m.listing == "" {
				return
			}
			out := testrec.Run(t, w.dir, objdump, "-d", "-l", "--no-show-raw-insn", so)
			flat := strings.Join(strings.Fields(out), " ")
			for _, want := range append(strings.Split(m.listing, "; "), "<answer>:", "/src/a.x:10", "/src/a.x:11") {
				if !strings.Contains(flat, want) {
					t.Errorf("llvm-objdump does not show %q:\n%s", want, out)
				}
			}
		})
	}
}
