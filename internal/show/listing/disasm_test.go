package listing

import (
	"bufio"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// disassembled are instructions such as compilers write, for llvm-mc, and the mnemonics
// that are expected of them, as objdump calls them.
var disassembled = []struct {
	name     string
	machine  elf.Machine
	order    binary.ByteOrder
	triple   string
	features string
	code     string // a line each
}{
	{"x86-64", elf.EM_X86_64, binary.LittleEndian, "x86_64", "", `
push %rbp
mov %rsp, %rbp
sub $0x28, %rsp
movabs $0x7f0000001000, %r10
cmp %r10, (%rax)
lea 0x8(%rdi,%rsi,4), %rax
movsd 0x10(%rax), %xmm0
cvtsi2sd %rcx, %xmm1
imul -0x20(%rbp), %rax
jmp *%rcx
call *0x18(%r13)
nopw 0(%rax,%rax,1)
endbr64
mov %r11, -0xb0(%rbp)
vmovsd 0x10(%rax), %xmm9
vmovsd %xmm3, -0x200(%rbp)
vmovapd %xmm1, %xmm2
vaddsd %xmm1, %xmm2, %xmm3
vsubsd 0x8(%r9,%r10,8), %xmm12, %xmm0
vcvtsi2sd %rcx, %xmm15, %xmm1
vcvttsd2si %xmm1, %rdx
vucomisd %xmm1, %xmm0
vxorps %xmm0, %xmm0, %xmm0
vpxor %ymm4, %ymm5, %ymm6
vmovdqu (%rsi), %ymm1
vmovq %rax, %xmm3
vpshufd $0x4e, %xmm1, %xmm2
vroundsd $0x9, %xmm0, %xmm1, %xmm2
vmovsd %xmm0, %xmm1, %xmm2
vfmadd213sd %xmm1, %xmm2, %xmm3
vfnmadd231pd (%rax), %ymm1, %ymm2
vfmsubadd132ps %xmm8, %xmm9, %xmm10
vmovsd %xmm3, (%r12)
vzeroupper
movslq %esi, %rsi
cltq
leave
ret
`},
	{"i386", elf.EM_386, binary.LittleEndian, "i386", "", `
push %ebp
mov %esp, %ebp
sub $0x28, %esp
mov $0x2a, %eax
lea 0x8(%edi,%esi,4), %eax
imul -0x20(%ebp), %eax
jmp *%ecx
leave
ret
`},
	{"arm64", elf.EM_AARCH64, binary.LittleEndian, "aarch64", "", `
stp x29, x30, [sp, #-16]!
mov x29, sp
mov x16, #0x1000
movk x16, #0x7f00, lsl #16
ldr x0, [x1, #8]
ldrb w2, [x3]
add x0, x0, x1, lsl #3
cmp w0, #42
madd x0, x1, x2, x3
fadd d0, d1, d2
scvtf d0, x1
cbz x0, 8
b.ne 8
blr x16
ldp x29, x30, [sp], #16
ret
`},
	{"arm", elf.EM_ARM, binary.LittleEndian, "armv7", "", `
push {r11, lr}
mov r11, sp
movw r12, #4096
movt r12, #32512
ldr r0, [r1, #8]
ldrb r2, [r3]
add r0, r0, r1, lsl #3
cmp r0, #42
mul r0, r1, r2
vadd.f64 d0, d1, d2
blx r12
bx lr
`},
	{"riscv64", elf.EM_RISCV, binary.LittleEndian, "riscv64", "+m,+a,+f,+d,+c", `
addi sp, sp, -32
sd ra, 24(sp)
lui t0, 4096
auipc t1, 1
ld a0, 8(a1)
lbu a2, 0(a3)
add a0, a0, a1
mul a0, a1, a2
fadd.d fa0, fa1, fa2
beq a0, a1, 8
jalr ra, 0(t0)
ld ra, 24(sp)
ret
`},
	{"ppc64le", elf.EM_PPC64, binary.LittleEndian, "powerpc64le", "", ppcCode},
	{"ppc64", elf.EM_PPC64, binary.BigEndian, "powerpc64", "", ppcCode},
	{"s390x", elf.EM_S390, binary.BigEndian, "s390x", "", `
stmg %r14, %r15, 112(%r15)
aghi %r15, -160
lghi %r2, 42
lgr %r3, %r2
lg %r1, 8(%r2)
llgc %r4, 0(%r3)
agr %r2, %r3
msgr %r2, %r4
adbr %f0, %f2
cgr %r2, %r3
basr %r14, %r1
lmg %r14, %r15, 272(%r15)
br %r14
`},
}

const ppcCode = `
mflr 0
std 0, 16(1)
stdu 1, -64(1)
li 3, 42
lis 4, 4096
ori 4, 4, 52
ld 5, 8(3)
lbz 6, 0(5)
add 3, 3, 4
mulld 3, 3, 5
fadd 1, 2, 3
cmpd 3, 4
mtctr 12
bctrl
addi 1, 1, 64
mtlr 0
blr
`

// assemble returns the encodings of instructions by llvm-mc, one for each line.
func assemble(t *testing.T, triple, features, code string) (encoded [][]byte) {
	t.Helper()
	cmd := testrec.Command(t, t.TempDir(), testrec.Tool(t, "llvm-mc-14", "llvm-mc"), "-triple="+triple, "-mattr="+features, "-show-encoding")
	cmd.Stdin = strings.NewReader(strings.TrimSpace(code) + "\n")
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("llvm-mc: %v\n%s", err, complaints.String())
	}
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	for lines.Scan() {
		_, list, ok := strings.Cut(lines.Text(), "encoding: [")
		if !ok {
			continue
		}
		var b []byte
		for c := range strings.SplitSeq(strings.TrimSuffix(list, "]"), ",") {
			n, err := strconv.ParseUint(strings.TrimSpace(c), 0, 8)
			if err != nil {
				t.Fatalf("llvm-mc: %s", lines.Text())
			}
			b = append(b, byte(n))
		}
		encoded = append(encoded, b)
	}
	return encoded
}

// Instructions of all machines have the sizes and the mnemonics that they were
// assembled from.
func TestDisassemblers(t *testing.T) {
	for _, m := range disassembled {
		t.Run(m.name, func(t *testing.T) {
			source := strings.Split(strings.TrimSpace(m.code), "\n")
			encoded := assemble(t, m.triple, m.features, m.code)
			if len(encoded) != len(source) {
				t.Fatalf("%d lines, %d instructions", len(source), len(encoded))
			}
			decode := disassemblerFor(uint32(m.machine), m.order, false)
			pc := uint64(0x1000)
			var code []byte
			for _, e := range encoded {
				code = append(code, e...)
			}
			for i, want := range encoded {
				size, text := decode(code, pc)
				asked, _, _ := strings.Cut(source[i], " ")
				got, _, _ := strings.Cut(strings.TrimSpace(text), " ")
				got, _, _ = strings.Cut(got, "\t")
				if size != len(want) || got != asked || strings.HasPrefix(asked, "v") && m.machine == elf.EM_X86_64 && strings.ReplaceAll(source[i], ", ", ",") != text {
					t.Errorf("% x: %d bytes %q; assembled from %d bytes %q", want, size, text, len(want), source[i])
				}
				code, pc = code[len(want):], pc+uint64(len(want))
			}
		})
	}
}

// LLVM 14 knows no LoongArch: words from the listing of GNU objdump.
func TestDisassembleLoongArch(t *testing.T) {
	decode := disassemblerFor(uint32(elf.EM_LOONGARCH), binary.LittleEndian, false)
	for _, c := range []struct {
		word uint32
		want string
	}{
		{0x02ffc063, "addi.d"}, {0x29c02061, "st.d"}, {0x0380a804, "ori"}, {0x28c02061, "ld.d"}, {0x02c04063, "addi.d"}, {0x4c000020, "jirl"},
	} {
		size, text := decode(binary.LittleEndian.AppendUint32(nil, c.word), 0x1000)
		mnemonic, _, _ := strings.Cut(text, " ")
		if size != 4 || mnemonic != c.want && !(c.want == "jirl" && mnemonic == "ret") {
			t.Errorf("%#x: %q, want %s", c.word, text, c.want)
		}
	}
}

// Branches show the address that they lead to.
func TestBranchTargets(t *testing.T) {
	for _, c := range []struct {
		machine elf.Machine
		order   binary.ByteOrder
		code    []byte
		want    string
	}{
		{elf.EM_X86_64, binary.LittleEndian, []byte{0xeb, 0x0e}, "jmp 0x1010"},
		{elf.EM_AARCH64, binary.LittleEndian, []byte{0x04, 0, 0, 0x14}, "b 0x1010"},
		{elf.EM_ARM, binary.LittleEndian, []byte{0x02, 0, 0, 0xea}, "b 0x1010"},
		{elf.EM_S390, binary.BigEndian, []byte{0xa7, 0xf4, 0, 0x08}, "0x1010"},
		{elf.EM_PPC64, binary.BigEndian, []byte{0x48, 0, 0, 0x10}, "0x1010"},
		{elf.EM_RISCV, binary.LittleEndian, []byte{0x6f, 0, 0, 0x01}, "0x1010"},
		{elf.EM_LOONGARCH, binary.LittleEndian, []byte{0, 0x10, 0, 0x50}, "0x1010"},
	} {
		_, text := disassemblerFor(uint32(c.machine), c.order, false)(c.code, 0x1000)
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: % x is %q, want %q", c.machine, c.code, text, c.want)
		}
	}
}

// Whatever the bytes are, something is shown of all of them, and nothing panics.
func TestDisassembleAnything(t *testing.T) {
	code := make([]byte, 1<<16)
	state := uint64(1)
	for i := range code {
		state = state*6364136223846793005 + 1442695040888963407
		code[i] = byte(state >> 56)
	}
	for _, m := range []elf.Machine{elf.EM_X86_64, elf.EM_386, elf.EM_AARCH64, elf.EM_ARM, elf.EM_PPC64, elf.EM_S390, elf.EM_RISCV, elf.EM_LOONGARCH} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			decode := disassemblerFor(uint32(m), order, false)
			for rest, pc := code, uint64(0); len(rest) > 0; {
				size, text := decode(rest, pc)
				if size <= 0 || size > len(rest) {
					t.Fatalf("%s: %d of %d bytes, %q", m, size, len(rest), text)
				}
				rest, pc = rest[size:], pc+uint64(size)
			}
			for n := range 8 { // what the end cuts
				if size, _ := decode(code[:n+1:n+1], 0); size <= 0 || size > n+1 {
					t.Fatalf("%s: %d of %d bytes", m, size, n+1)
				}
			}
		}
	}
}

// The system's library of mathematics has instructions of all kinds. They are as long as
// objdump says, and but for a few are called the same.
func TestDisassembleLibm(t *testing.T) {
	const library = "/lib/x86_64-linux-gnu/libm.so.6"
	if _, err := os.Stat(library); err != nil {
		testrec.Skip(t, "%v", err)
	}
	decode := disassemblerFor(uint32(elf.EM_X86_64), binary.LittleEndian, false)
	total, sizes, names := 0, 0, 0
	var differ []string
	for line := range strings.Lines(testrec.Run(t, t.TempDir(), testrec.Tool(t, "objdump"), "-dw", library)) {
		parts := strings.Split(strings.TrimSpace(line), "\t")
		if len(parts) < 3 {
			continue
		}
		pc, err := strconv.ParseUint(strings.TrimSuffix(parts[0], ":"), 16, 64)
		code, err2 := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(parts[1]), " ", ""))
		if err != nil || err2 != nil {
			t.Fatalf("objdump: %q", line)
		}
		total++
		size, text := decode(append(code, 0x90, 0x90, 0x90, 0x90), pc)
		name, _, _ := strings.Cut(text, " ")
		switch want, _, _ := strings.Cut(parts[2], " "); {
		case size != len(code):
			sizes++
			differ = append(differ, fmt.Sprintf("%s: %d bytes, %s", strings.TrimSpace(line), size, text))
		case name != want && want != "cs" && want != "data16" && want != "xchg": // padding
			names++
		}
	}
	if total < 10_000 || sizes > total/1000 || names > total/50 {
		t.Errorf("of %d instructions, %d have other sizes and %d other names:\n%s", total, sizes, names, strings.Join(differ[:min(len(differ), 20)], "\n"))
	}
}
