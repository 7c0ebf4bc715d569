package elfgen

import (
	"debug/elf"
	"encoding/binary"

	"github.com/jitinject/jitinject/internal/wire"
)

// armAttributesType is SHT_ARM_ATTRIBUTES.
const armAttributesType = elf.SHT_LOPROC + 3

// ARMAttributes appends to dst the build attributes of code for ARM of unknown architecture, and
// returns their section. They allow all features of ARMv8-A in its 32-bit state. Without them,
// LLVM's disassembler assumes ARMv4 [Addenda to the ABI for the Arm Architecture, 3].
func ARMAttributes(dst []byte, order binary.ByteOrder) Section {
	attributes := []byte{
		6, 14, // Tag_CPU_arch: v8-A
		7, 'A', // Tag_CPU_arch_profile: application
		8, 1, // Tag_ARM_ISA_use: A32
		9, 2, // Tag_THUMB_ISA_use: T32 with 32-bit instructions
		10, 7, // Tag_FP_arch: that of v8-A
		12, 3, // Tag_Advanced_SIMD_arch: that of v8-A
	}
	const vendor, fileTag = "aeabi\x00", 1
	size := 1 + 4 + len(attributes)
	b := wire.AppendTo(dst, order)
	b.U8('A') // version of the format
	b.U32(uint32(4 + len(vendor) + size))
	b.Bytes([]byte(vendor))
	b.U8(fileTag)
	b.U32(uint32(size))
	b.Bytes(attributes)
	return Section{Name: ".ARM.attributes", Type: armAttributesType, Data: b.Data[len(dst):]}
}
