package jitelf

import "debug/elf"

// Types of relocations, by machine: those that compilers use in debugging information and unwind
// tables. The sources are the psABI supplements of the machines.

// A fix is the way to apply a type of relocation to a field of size bytes.
type fix struct {
	action action
	size   uint8
}

// An action is a kind of relocation. S is the address of the symbol, A the addend and P the address
// of the field.
type action uint8

const (
	ignore       action = iota // of linkers and variables only
	absolute                   // S + A
	relative                   // S + A - P
	set                        // the low bits of S + A
	add                        // the field + S + A
	subtract                   // the field - S - A
	setLow6                    // the lowest six bits of S + A
	addLow6                    // likewise, the field + S + A
	subtractLow6               // likewise, the field - S - A
	setULEB                    // S + A as ULEB128
	addULEB                    // likewise, the field + S + A
	subtractULEB               // likewise, the field - S - A
)

// Types that debug/elf does not have [RISC-V psABI, MIPS psABI, Linux for S/390 psABI].
const (
	riscvSetULEB      = 60
	riscvSubtractULEB = 61
	ppc64DTPRel64     = 78
	armTLSLDO32       = 106
	s390TLSLDO64      = 50
	s390TLSLDO32      = 49
	aarch64PLT32      = 314
)

// machineTypes returns the types of a machine. It is empty for unknown machines.
func machineTypes(m elf.Machine) map[uint32]fix { return fixes[m] }

var fixes = map[elf.Machine]map[uint32]fix{
	elf.EM_X86_64: {
		uint32(elf.R_X86_64_NONE):     {ignore, 0},
		uint32(elf.R_X86_64_64):       {absolute, 8},
		uint32(elf.R_X86_64_32):       {absolute, 4},
		uint32(elf.R_X86_64_32S):      {absolute, 4},
		uint32(elf.R_X86_64_16):       {absolute, 2},
		uint32(elf.R_X86_64_8):        {absolute, 1},
		uint32(elf.R_X86_64_PC64):     {relative, 8},
		uint32(elf.R_X86_64_PC32):     {relative, 4},
		uint32(elf.R_X86_64_PLT32):    {relative, 4},
		uint32(elf.R_X86_64_PC16):     {relative, 2},
		uint32(elf.R_X86_64_PC8):      {relative, 1},
		uint32(elf.R_X86_64_DTPOFF64): {ignore, 0},
		uint32(elf.R_X86_64_DTPOFF32): {ignore, 0},
	},
	elf.EM_386: {
		uint32(elf.R_386_NONE):       {ignore, 0},
		uint32(elf.R_386_32):         {absolute, 4},
		uint32(elf.R_386_16):         {absolute, 2},
		uint32(elf.R_386_8):          {absolute, 1},
		uint32(elf.R_386_PC32):       {relative, 4},
		uint32(elf.R_386_PLT32):      {relative, 4},
		uint32(elf.R_386_PC16):       {relative, 2},
		uint32(elf.R_386_PC8):        {relative, 1},
		uint32(elf.R_386_TLS_LDO_32): {ignore, 0},
	},
	elf.EM_AARCH64: {
		uint32(elf.R_AARCH64_NONE):         {ignore, 0},
		uint32(elf.R_AARCH64_NULL):         {ignore, 0},
		uint32(elf.R_AARCH64_ABS64):        {absolute, 8},
		uint32(elf.R_AARCH64_ABS32):        {absolute, 4},
		uint32(elf.R_AARCH64_ABS16):        {absolute, 2},
		uint32(elf.R_AARCH64_PREL64):       {relative, 8},
		uint32(elf.R_AARCH64_PREL32):       {relative, 4},
		uint32(elf.R_AARCH64_PREL16):       {relative, 2},
		aarch64PLT32:                       {relative, 4},
		uint32(elf.R_AARCH64_TLS_DTPREL64): {ignore, 0},
	},
	elf.EM_ARM: {
		uint32(elf.R_ARM_NONE):      {ignore, 0},
		uint32(elf.R_ARM_ABS32):     {absolute, 4},
		uint32(elf.R_ARM_TARGET1):   {absolute, 4},
		uint32(elf.R_ARM_ABS32_NOI): {absolute, 4},
		uint32(elf.R_ARM_ABS16):     {absolute, 2},
		uint32(elf.R_ARM_ABS8):      {absolute, 1},
		uint32(elf.R_ARM_REL32):     {relative, 4},
		uint32(elf.R_ARM_TARGET2):   {ignore, 0}, // of a personality routine
		armTLSLDO32:                 {ignore, 0},
	},
	elf.EM_RISCV: {
		uint32(elf.R_RISCV_NONE):         {ignore, 0},
		uint32(elf.R_RISCV_RELAX):        {ignore, 0},
		uint32(elf.R_RISCV_64):           {absolute, 8},
		uint32(elf.R_RISCV_32):           {absolute, 4},
		uint32(elf.R_RISCV_32_PCREL):     {relative, 4},
		uint32(elf.R_RISCV_ADD64):        {add, 8},
		uint32(elf.R_RISCV_ADD32):        {add, 4},
		uint32(elf.R_RISCV_ADD16):        {add, 2},
		uint32(elf.R_RISCV_ADD8):         {add, 1},
		uint32(elf.R_RISCV_SUB64):        {subtract, 8},
		uint32(elf.R_RISCV_SUB32):        {subtract, 4},
		uint32(elf.R_RISCV_SUB16):        {subtract, 2},
		uint32(elf.R_RISCV_SUB8):         {subtract, 1},
		uint32(elf.R_RISCV_SUB6):         {subtractLow6, 1},
		uint32(elf.R_RISCV_SET6):         {setLow6, 1},
		uint32(elf.R_RISCV_SET8):         {set, 1},
		uint32(elf.R_RISCV_SET16):        {set, 2},
		uint32(elf.R_RISCV_SET32):        {set, 4},
		riscvSetULEB:                     {setULEB, 1},
		riscvSubtractULEB:                {subtractULEB, 1},
		uint32(elf.R_RISCV_TLS_DTPREL32): {ignore, 0},
		uint32(elf.R_RISCV_TLS_DTPREL64): {ignore, 0},
	},
	elf.EM_LOONGARCH: {
		uint32(elf.R_LARCH_NONE):         {ignore, 0},
		uint32(elf.R_LARCH_RELAX):        {ignore, 0},
		uint32(elf.R_LARCH_64):           {absolute, 8},
		uint32(elf.R_LARCH_32):           {absolute, 4},
		uint32(elf.R_LARCH_64_PCREL):     {relative, 8},
		uint32(elf.R_LARCH_32_PCREL):     {relative, 4},
		uint32(elf.R_LARCH_ADD64):        {add, 8},
		uint32(elf.R_LARCH_ADD32):        {add, 4},
		uint32(elf.R_LARCH_ADD24):        {add, 3},
		uint32(elf.R_LARCH_ADD16):        {add, 2},
		uint32(elf.R_LARCH_ADD8):         {add, 1},
		uint32(elf.R_LARCH_ADD6):         {addLow6, 1},
		uint32(elf.R_LARCH_SUB64):        {subtract, 8},
		uint32(elf.R_LARCH_SUB32):        {subtract, 4},
		uint32(elf.R_LARCH_SUB24):        {subtract, 3},
		uint32(elf.R_LARCH_SUB16):        {subtract, 2},
		uint32(elf.R_LARCH_SUB8):         {subtract, 1},
		uint32(elf.R_LARCH_SUB6):         {subtractLow6, 1},
		uint32(elf.R_LARCH_ADD_ULEB128):  {addULEB, 1},
		uint32(elf.R_LARCH_SUB_ULEB128):  {subtractULEB, 1},
		uint32(elf.R_LARCH_TLS_DTPREL32): {ignore, 0},
		uint32(elf.R_LARCH_TLS_DTPREL64): {ignore, 0},
	},
	elf.EM_PPC64: {
		uint32(elf.R_PPC64_NONE):   {ignore, 0},
		uint32(elf.R_PPC64_ADDR64): {absolute, 8},
		uint32(elf.R_PPC64_ADDR32): {absolute, 4},
		uint32(elf.R_PPC64_REL64):  {relative, 8},
		uint32(elf.R_PPC64_REL32):  {relative, 4},
		ppc64DTPRel64:              {ignore, 0},
	},
	elf.EM_S390: {
		uint32(elf.R_390_NONE): {ignore, 0},
		uint32(elf.R_390_64):   {absolute, 8},
		uint32(elf.R_390_32):   {absolute, 4},
		uint32(elf.R_390_16):   {absolute, 2},
		uint32(elf.R_390_8):    {absolute, 1},
		uint32(elf.R_390_PC64): {relative, 8},
		uint32(elf.R_390_PC32): {relative, 4},
		uint32(elf.R_390_PC16): {relative, 2},
		s390TLSLDO32:           {ignore, 0},
		s390TLSLDO64:           {ignore, 0},
	},
}
