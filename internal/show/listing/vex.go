package listing

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"github.com/jitinject/jitinject/internal/cfi"
)

// x86asm knows nothing of AVX, which compilers for x86-64 use wherever they can. Most of
// its instructions are those of SSE in another coding, so they are written in that one,
// decoded, and the third operand is put in. Of the others only the length is known.

// A vexCode is the coding of an instruction with a VEX or EVEX prefix [Intel SDM 2, 2.3.5
// and 2.7.1].
type vexCode struct {
	evex       bool
	r, x, b, w bool // as in REX
	opcodes    int  // which map of opcodes: 1, 2, 3
	vvvv       int  // a register
	wide       bool // 256 bits
	prefix     byte // 0, 0x66, 0xf3, 0xf2
	head       int  // bytes in front of the opcode
}

// parseVEX reads the prefix at the start of 64-bit code. ok is false for anything else.
func parseVEX(code []byte) (v vexCode, ok bool) {
	if len(code) < 3 {
		return v, false
	}
	var last byte // WvvvvLpp, or RvvvvLpp
	switch {
	case code[0] == 0xc5:
		v.opcodes, v.r, v.head, last = 1, code[1]&0x80 == 0, 2, code[1]
	case code[0] == 0xc4 && len(code) >= 4:
		v.r, v.x, v.b = code[1]&0x80 == 0, code[1]&0x40 == 0, code[1]&0x20 == 0
		v.opcodes, v.w, v.head, last = int(code[1]&0x1f), code[2]&0x80 != 0, 3, code[2]
	case code[0] == 0x62 && len(code) >= 6:
		v.evex, v.opcodes, v.head, last = true, int(code[1]&7), 4, code[2]
	default:
		return v, false
	}
	v.vvvv = int(^last >> 3 & 15)
	v.wide = last&4 != 0
	v.prefix = [4]byte{0, 0x66, 0xf3, 0xf2}[last&3]
	return v, v.opcodes >= 1 && v.opcodes <= 3 && v.head < len(code)
}

// x86Length is the length of the instruction at the start of 64-bit code, or 0.
func x86Length(code []byte) int {
	var starts [1]uint64 // a bit for each byte
	reached := cfi.X86Starts(starts[:], code[:min(len(code), 15)])
	if behind := starts[0] >> 1; behind != 0 {
		return 1 + bits.TrailingZeros64(behind)
	}
	return reached
}

// twoOperands begin the names of instructions of SSE that AVX adds no operand to.
var twoOperands = []string{
	"mova", "movu", "movd", "movq", "movnt", "movmsk", "movsh", "movsl", "ucomis", "comis", "cvtt", "cvtsd2si", "cvtss2si", "cvtp", "cvtdq", "pshufd", "pshuflw",
	"pshufhw", "sqrtp", "rsqrtp", "rcpp", "pmovmskb", "pmovzx", "pmovsx", "ptest", "pabs", "lddqu", "roundp", "pextr", "extractps", "maskmov", "ldmxcsr", "stmxcsr",
	"pcmpestr", "pcmpistr", "aesimc", "aeskeygen", "phminposuw",
}

// disassembleVEX decodes an instruction with such a prefix.
func disassembleVEX(code []byte, pc uint64) (size int, text string) {
	v, ok := parseVEX(code)
	if !ok {
		return 0, ""
	}
	if size = x86Length(code); size == 0 {
		return 0, ""
	}
	if op := code[v.head]; v.opcodes == 1 && op == 0x77 && !v.evex {
		if v.wide {
			return size, "vzeroall"
		}
		return size, "vzeroupper"
	}
	if !v.evex {
		if text = v.likeSSE(code[:size], pc); text != "" {
			return size, text
		}
	}
	return size, fmt.Sprintf("(AVX) .bytes %x", code[:size])
}

// likeSSE decodes what SSE has, too, or returns "".
func (v *vexCode) likeSSE(code []byte, pc uint64) string {
	var sse []byte
	if v.prefix != 0 {
		sse = append(sse, v.prefix)
	}
	fused := v.fused(code[v.head])
	rex := byte(0x40)
	for i, bit := range []bool{v.b, v.x, v.r, v.w && fused == ""} {
		if bit {
			rex |= 1 << i
		}
	}
	if rex != 0x40 {
		sse = append(sse, rex)
	}
	sse = append(sse, 0x0f)
	switch v.opcodes {
	case 2:
		sse = append(sse, 0x38)
	case 3:
		sse = append(sse, 0x3a)
	}
	op := len(sse)
	sse = append(sse, code[v.head:]...)
	if fused != "" {
		sse[op] = 0x40 // pmulld, which has the same operands
	}
	inst, err := x86asm.Decode(sse, 64)
	if err != nil || inst.Len != len(sse) {
		return ""
	}
	// What counts from the instruction's end counts from the end of this one.
	text := x86asm.GNUSyntax(inst, pc+uint64(len(code)-len(sse)), nil)
	mnemonic, rest, _ := strings.Cut(text, " ")
	if fused != "" {
		mnemonic = fused
	}
	if strings.HasPrefix(mnemonic, "rex") || mnemonic == "repne" || mnemonic == "rep" || mnemonic == "data16" || !strings.Contains(text, "%xmm") && !strings.HasSuffix(mnemonic, "mxcsr") {
		return ""
	}
	operands := splitOperands(rest)
	two := slices.ContainsFunc(twoOperands, func(s string) bool { return strings.HasPrefix(mnemonic, s) }) && mnemonic != "movsd"
	if mnemonic == "movss" || mnemonic == "movsd" || strings.HasPrefix(mnemonic, "movlp") || strings.HasPrefix(mnemonic, "movhp") {
		stores := len(operands) == 2 && strings.Contains(operands[1], "(")
		loads := len(operands) == 2 && strings.Contains(operands[0], "(") && (mnemonic == "movss" || mnemonic == "movsd")
		two = stores || loads
	}
	if !two && len(operands) >= 2 {
		last := len(operands) - 1
		operands = slices.Insert(operands, last, fmt.Sprintf("%%xmm%d", v.vvvv))
	}
	text = "v" + mnemonic + " " + strings.ReplaceAll(strings.Join(operands, ","), ",%riz)", ")")
	if v.wide {
		text = strings.ReplaceAll(text, "%xmm", "%ymm")
	}
	return text
}

// fused returns the name of an instruction that multiplies and adds, without its v, or "".
func (v *vexCode) fused(op byte) string {
	if v.opcodes != 2 || v.prefix != 0x66 || op < 0x96 || op > 0xbf || op&15 < 6 {
		return ""
	}
	name := [...]string{"fmaddsub", "fmsubadd", "fmadd", "fmadd", "fmsub", "fmsub", "fnmadd", "fnmadd", "fnmsub", "fnmsub"}[op&15-6]
	form := [...]string{"132", "213", "231"}[op>>4-9]
	packed := "p"
	if op&15 > 7 && op&1 != 0 {
		packed = "s"
	}
	if v.w {
		return name + form + packed + "d"
	}
	return name + form + packed + "s"
}

// splitOperands parts operands at commas that are in no parentheses.
func splitOperands(s string) (list []string) {
	depth, from := 0, 0
	for i, c := range s {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				list, from = append(list, s[from:i]), i+1
			}
		}
	}
	return append(list, s[from:])
}
