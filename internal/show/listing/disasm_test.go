package listing

import (
	"bufio"
	"debug/elf"
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
	name    string
	machine elf.Machine
	triple  string
	code    string // a line each
}{
	{"x86-64", elf.EM_X86_64, "x86_64", `
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
	{"i386", elf.EM_386, "i386", `
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
	{"arm64", elf.EM_AARCH64, "aarch64", `
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
}

// assemble returns the encodings of instructions by llvm-mc, one for each line.
func assemble(t *testing.T, triple, code string) (encoded [][]byte) {
	t.Helper()
	cmd := testrec.Command(t, t.TempDir(), testrec.Tool(t, "llvm-mc-14", "llvm-mc"), "-triple="+triple, "-show-encoding")
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
			encoded := assemble(t, m.triple, m.code)
			if len(encoded) != len(source) {
				t.Fatalf("%d lines, %d instructions", len(source), len(encoded))
			}
			decode := disassemblerFor(uint32(m.machine))
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

// Branches show the address that they lead to. Code of other machines is shown as numbers, and the reason is said.
func TestBranchTargets(t *testing.T) {
	if _, text := disassemblerFor(uint32(elf.EM_X86_64))([]byte{0xeb, 0x0e}, 0x1000); text != "jmp 0x1010" {
		t.Errorf("got %q; want jmp 0x1010", text)
	}
	if _, text := disassemblerFor(uint32(elf.EM_AARCH64))([]byte{4, 0, 0, 0x14}, 0x1000); text != "b 0x1010" {
		t.Errorf("got %q; want b 0x1010", text)
	}
	if got := Unsupported(uint32(elf.EM_X86_64)); got != "" {
		t.Errorf("got %q; want x86-64 disassembled", got)
	}
	if got := Unsupported(uint32(elf.EM_RISCV)); !strings.Contains(got, "riscv") {
		t.Errorf("got %q; want the machine", got)
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
	for _, m := range []elf.Machine{elf.EM_X86_64, elf.EM_386, elf.EM_AARCH64} {
		decode := disassemblerFor(uint32(m))
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

// The system's library of mathematics has instructions of all kinds. They are as long as
// objdump says, and but for a few are called the same.
func TestDisassembleLibm(t *testing.T) {
	const library = "/lib/x86_64-linux-gnu/libm.so.6"
	if _, err := os.Stat(library); err != nil {
		testrec.Skip(t, "%v", err)
	}
	decode := disassemblerFor(uint32(elf.EM_X86_64))
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
