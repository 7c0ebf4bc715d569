package j9meta

import (
	"fmt"
	"strings"

	"github.com/jitinject/jitinject/internal/wire"
)

// A Header holds the fields of struct J9JITExceptionTable, in its order and with
// its names. Pointers are addresses in the process. Those to what follows in the
// blob are 0 where there is no such section.
//
// Where the garbage collector reclaims a body that was compiled again, it leaves
// a stub in its place (IsStub): a copy of the header alone. Pointers to sections
// are 0 there, but NumExceptionRanges and Size are those of the body that is gone.
type Header struct {
	ClassName       uint64 `show:"className,hex"` // of the class's name, a J9UTF8; not in the blob, as the next four
	MethodName      uint64 `show:"methodName,hex"`
	MethodSignature uint64 `show:"methodSignature,hex"`
	ConstantPool    uint64 `show:"constantPool,hex"`
	RAMMethod       uint64 `show:"ramMethod,hex,known"` // the J9Method that was compiled
	StartPC         uint64 `show:"startPC,hex"`         // where offsets into the code count from
	EndWarmPC       uint64 `show:"endWarmPC,hex"`       // of the byte behind the warm part of the code
	StartColdPC     uint64 `show:"startColdPC,hex"`     // 0: there is no cold part
	EndPC           uint64 `show:"endPC,hex"`           // of the byte behind the code

	TotalFrameSize  uint64 `show:"totalFrameSize"` // in slots
	Slots           int16  `show:"slots"`          // of parameters
	ScalarTempSlots int16  `show:"scalarTempSlots"`
	ObjectTempSlots int16  `show:"objectTempSlots"`
	ProloguePushes  uint16 `show:"prologuePushes"`
	TempOffset      int16  `show:"tempOffset"`
	// NumExceptionRanges (the VM: numExcptionRanges) has flags in its two highest bits.
	NumExceptionRanges uint16 `show:"numExcptionRanges,hex"`
	Size               int32  `show:"size"` // of the blob in bytes; of a stub, of what it was
	Flags              Flags  `show:"flags,set"`

	RegisterSaveDescription uint64  `show:"registerSaveDescription,hex"`
	GCStackAtlas            uint64  `show:"gcStackAtlas,hex"` // into the blob, section Stack Atlas
	InlinedCalls            uint64  `show:"inlinedCalls,hex"` // into the blob, section Inline Info
	BodyInfo                uint64  `show:"bodyInfo,hex"`
	NextMethod              uint64  `show:"nextMethod,hex"`
	PrevMethod              uint64  `show:"prevMethod,hex"`
	DebugSlot1              uint64  `show:"debugSlot1,hex"`
	DebugSlot2              uint64  `show:"debugSlot2,hex"`
	OSRInfo                 uint64  `show:"osrInfo,hex"` // into the blob, section OSR Info
	RuntimeAssumptionList   uint64  `show:"runtimeAssumptionList,hex"`
	Hotness                 int32   `show:"hotness"`
	HotnessPad              [4]byte // with 8-byte pointers; what was in memory
	CodeCacheAlloc          uint64  `show:"codeCacheAlloc,hex"`
	GPUCode                 uint64  `show:"gpuCode,hex"` // into the blob, section GPU Info
	RIData                  uint64  `show:"riData,hex"`  // into the blob, section Bytecode PC to Instruction Address Map

	// InvokeBasicCallInfo points to the last section. Headers of 216 (116) bytes
	// do not have it, nor the next.
	InvokeBasicCallInfo uint64 `show:"invokeBasicCallInfo,hex,opt"`
	ConstRefArrays      uint64 `show:"constRefArrays,hex,opt"` // headers of 232 (124) bytes have it
	Extra               []byte `show:"extra,id,opt"`           // what headers of VMs to come have behind
}

// Bits of Header.NumExceptionRanges.
const (
	wideExceptions     = 0x8000 // entries have 4-byte offsets and a method
	exceptionBytecodes = 0x4000 // entries have a bytecode index, as full speed debug needs it
)

// exceptionCount is the number of entries of the exception table, which stubs have
// no longer.
func (h *Header) exceptionCount() int { return int(h.NumExceptionRanges & 0x3fff) }

// exceptionSize is the size of an entry of the exception table in bytes.
func (l Layout) exceptionSize(h *Header) int {
	n := 8
	if h.NumExceptionRanges&wideExceptions != 0 {
		n = 16 + l.PointerSize
	}
	if h.NumExceptionRanges&exceptionBytecodes != 0 {
		n += 4
	}
	return n
}

// ExceptionsSize is the size of the exception table in bytes.
func (l Layout) ExceptionsSize(h *Header) int { return h.exceptionCount() * l.exceptionSize(h) }

// Warm returns where the warm part of the code is: all of it, unless the
// compiler split it.
func (h *Header) Warm() (start, end uint64) { return h.StartPC, h.EndWarmPC }

// Cold returns where the cold part of the code is; 0, 0 where there is none.
func (h *Header) Cold() (start, end uint64) {
	if h.StartColdPC == 0 {
		return 0, 0
	}
	return h.StartColdPC, h.EndPC
}

// Flags are the flags of a Header.
type Flags uint64

// The flags, by the names that OpenJ9 has for them.
const (
	FlagsUsedForSize   Flags = 0x1
	GCMap32BitOffsets  Flags = 0x2 // stack maps have 4-byte offsets
	IsStub             Flags = 0x4 // the body is gone, see Header
	NotInitialized     Flags = 0x8
	IsRemoteComp       Flags = 0x10 // a JITServer compiled it
	IsDeserializedComp Flags = 0x20 // from a JITServer's cache
	IsPrecheckpoint    Flags = 0x40 // compiled before a CRIU checkpoint
	IsFSDComp          Flags = 0x80 // full speed debug
	UsesVectors        Flags = 0x100
)

var flagNames = [...]string{
	"FLAGS_USED_FOR_SIZE", "GC_MAP_32_BIT_OFFSETS", "IS_STUB", "NOT_INITIALIZED", "IS_REMOTE_COMP",
	"IS_DESERIALIZED_COMP", "IS_PRECHECKPOINT_COMP", "IS_FSD_COMP", "USES_VECTORS",
}

// String returns the names of the flags that are set, divided by |, as OpenJ9
// has them without JIT_METADATA_; what it has no name for is a number.
func (f Flags) String() string {
	if f == 0 {
		return "0"
	}
	var names []string
	for i, name := range flagNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
			f &^= 1 << i
		}
	}
	if f != 0 {
		names = append(names, fmt.Sprintf("%#x", uint64(f)))
	}
	return strings.Join(names, "|")
}

// header reads the fields up to riData, which all makes have.
func (d *decoder) header(c *wire.Cursor) (h Header) {
	h.ClassName = d.pointer(c, "className")
	h.MethodName = d.pointer(c, "methodName")
	h.MethodSignature = d.pointer(c, "methodSignature")
	h.ConstantPool = d.pointer(c, "constantPool")
	h.RAMMethod = d.pointer(c, "ramMethod")
	h.StartPC = d.pointer(c, "startPC")
	h.EndWarmPC = d.pointer(c, "endWarmPC")
	h.StartColdPC = d.pointer(c, "startColdPC")
	h.EndPC = d.pointer(c, "endPC")
	h.TotalFrameSize = d.pointer(c, "totalFrameSize")
	h.Slots = int16(c.U16("slots"))
	h.ScalarTempSlots = int16(c.U16("scalarTempSlots"))
	h.ObjectTempSlots = int16(c.U16("objectTempSlots"))
	h.ProloguePushes = c.U16("prologuePushes")
	h.TempOffset = int16(c.U16("tempOffset"))
	h.NumExceptionRanges = c.U16("numExcptionRanges")
	h.Size = int32(c.U32("size"))
	size := *c
	h.Flags = Flags(d.pointer(c, "flags"))
	if c.Err() == nil && h.Flags&IsStub == 0 && (h.Size < int32(d.layout.minHeaderSize()) || int(h.Size) > len(d.blob)) {
		size.Bad("size", "%d bytes, expected %d to %d, which there are", h.Size, d.layout.minHeaderSize(), len(d.blob))
		*c = size
	}
	h.RegisterSaveDescription = d.pointer(c, "registerSaveDescription")
	h.GCStackAtlas = d.pointer(c, "gcStackAtlas")
	h.InlinedCalls = d.pointer(c, "inlinedCalls")
	h.BodyInfo = d.pointer(c, "bodyInfo")
	h.NextMethod = d.pointer(c, "nextMethod")
	h.PrevMethod = d.pointer(c, "prevMethod")
	h.DebugSlot1 = d.pointer(c, "debugSlot1")
	h.DebugSlot2 = d.pointer(c, "debugSlot2")
	h.OSRInfo = d.pointer(c, "osrInfo")
	h.RuntimeAssumptionList = d.pointer(c, "runtimeAssumptionList")
	h.Hotness = int32(c.U32("hotness"))
	if d.layout.PointerSize == 8 {
		copy(h.HotnessPad[:], c.Bytes("padding", 4))
	}
	h.CodeCacheAlloc = d.pointer(c, "codeCacheAlloc")
	h.GPUCode = d.pointer(c, "gpuCode")
	h.RIData = d.pointer(c, "riData")
	return h
}

// headerTail reads the fields that later makes have behind riData.
func (d *decoder) headerTail(c *wire.Cursor, h *Header) {
	if c.Len() > 0 {
		h.InvokeBasicCallInfo = d.pointer(c, "invokeBasicCallInfo")
	}
	if c.Len() > 0 {
		h.ConstRefArrays = d.pointer(c, "constRefArrays")
	}
	if c.Len() > 0 {
		h.Extra = c.Rest()
	}
}
