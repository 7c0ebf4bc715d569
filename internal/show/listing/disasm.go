package listing

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/x86/x86asm"

	"github.com/jitinject/jitinject/internal/cfi"
)

// A disassembler decodes the instruction at the start of code, which is at pc. Size is what it takes, at
// most what is there; text is empty for bytes that are none, and size how many to step over.
type disassembler func(code []byte, pc uint64) (size int, text string)

// disassemblerFor returns the disassembler of a machine, or nil. Those of further machines would be a tenth of the whole
// program. objdump reads the objects of all.
func disassemblerFor(machine uint32) disassembler {
	switch elf.Machine(machine) {
	case elf.EM_X86_64:
		return guarded(x86(64), 1)
	case elf.EM_386:
		return guarded(x86(32), 1)
	case elf.EM_AARCH64:
		return guarded(disassembleARM64, 4)
	}
	return nil
}

// guarded makes bytes that are no instruction data, and so those that its library cannot deal with.
func guarded(decode disassembler, step int) disassembler {
	return func(code []byte, pc uint64) (size int, text string) {
		defer func() {
			if recover() != nil || size <= 0 || size > len(code) || text == "" {
				size, text = min(step, len(code)), ""
			}
		}()
		return decode(code, pc)
	}
}

// disassembleARM64 gives branches and pc-relative addresses their targets.
func disassembleARM64(code []byte, pc uint64) (int, string) {
	inst, err := arm64asm.Decode(code)
	if err != nil {
		return 0, ""
	}
	text := arm64asm.GNUSyntax(inst)
	for _, arg := range inst.Args {
		if rel, ok := arg.(arm64asm.PCRel); ok {
			if inst.Op == arm64asm.ADRP {
				pc &^= 0xfff
			}
			return 4, fmt.Sprintf("%s%#x", text[:strings.LastIndexAny(text, " ,")+1], pc+uint64(rel)) // for a distance
		}
	}
	return 4, text
}

func x86(mode int) disassembler {
	return func(code []byte, pc uint64) (int, string) {
		for begins, text := range misread {
			if bytes.HasPrefix(code, []byte(begins)) {
				return len(begins), text
			}
		}
		inst, err := x86asm.Decode(code, mode)
		if mode == 64 {
			if n := x86Length(code); n > 0 && (err != nil || n != inst.Len) { // AMD's own
				return n, fmt.Sprintf(".bytes %x", code[:n])
			}
		}
		if err != nil {
			return 0, ""
		}
		return inst.Len, negative(todays(inst, x86asm.GNUSyntax(inst, pc, nil)))
	}
}

// misread are the instructions that the library takes for prefixes, or for longer ones.
var misread = map[string]string{
	"\xf3\x0f\x1e\xfa": "endbr64", "\xf3\x0f\x1e\xfb": "endbr32", // Intel's CET
	"\xc5\xf8\x77": "vzeroupper", "\xc5\xfc\x77": "vzeroall",
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

// negative gives a distance of 32 bits in front of a parenthesis its sign, which the
// library takes for a bit like the others.
func negative(text string) string {
	end := strings.IndexByte(text, '(')
	if end < 10 || text[end-10:end-8] != "0x" {
		return text
	}
	n, err := strconv.ParseUint(text[end-8:end], 16, 32)
	if err != nil || n < 1<<31 {
		return text
	}
	return fmt.Sprintf("%s-%#x%s", text[:end-10], 1<<32-n, text[end:])
}

// noIndex leaves out what follows r12 and rsp only because something must.
var noIndex = strings.NewReplacer(",%riz)", ")", ",%eiz)", ")")

// todays is an instruction as objdump spells it now: the library does as objdump did
// before 2.36.
func todays(inst x86asm.Inst, text string) string {
	text = noIndex.Replace(text) // what follows r12 is there only because it must be
	mnemonic, rest, _ := strings.Cut(text, " ")
	switch mnemonic {
	case "retq", "callq", "jmpq", "leaveq", "retl", "calll", "leavel":
		mnemonic = mnemonic[:len(mnemonic)-1]
	case "cdqe":
		mnemonic = "cltq"
	case "cwde":
		mnemonic = "cwtl"
	case "cdq":
		mnemonic = "cltd"
	case "movsxd":
		mnemonic = "movslq"
	case "mov":
		if inst.Len < 10 {
			return text
		}
		if _, wide := inst.Args[1].(x86asm.Imm); !wide || inst.DataSize != 64 {
			return text
		}
		mnemonic = "movabs"
	default:
		return text
	}
	if rest == "" {
		return mnemonic
	}
	return mnemonic + " " + rest
}

// dataText is how bytes are shown that are no instruction.
func dataText(b []byte, order binary.ByteOrder) string {
	switch len(b) {
	case 4:
		return fmt.Sprintf(".word %#08x", order.Uint32(b))
	case 2:
		return fmt.Sprintf(".short %#04x", order.Uint16(b))
	}
	if len(b) == 1 {
		return fmt.Sprintf(".byte %#02x", b[0])
	}
	return fmt.Sprintf(".bytes %x", b)
}
