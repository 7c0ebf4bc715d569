package j9meta

import "encoding/binary"

// A ByteCodeInfo names a bytecode of the compiled method or of one that was
// inlined into it. In the blob it is the 32 bits of struct TR_ByteCodeInfo. Its
// bit fields begin at the lowest bit on little-endian machines, and at the highest
// on big-endian ones:
//
//	bits  little endian  big endian
//	 1     0             31          doNotProfile
//	 1     1             30          isSameReceiver
//	13     2 to 14       29 to 17    callerIndex, signed
//	17    15 to 31       16 to 0     byteCodeIndex, signed
type ByteCodeInfo struct {
	// DoNotProfile says of a stack map that it has nothing but its offset and
	// this, see StackMap.Shared.
	DoNotProfile bool
	// SameReceiver says of an inlined site that its monitor mask is not all zeros.
	SameReceiver bool
	// CallerIndex is the inlined site that the bytecode belongs to; -1: to the
	// compiled method itself.
	CallerIndex int `show:"callerIndex"`
	// ByteCodeIndex is the offset of the bytecode in its method; -1 in JNI
	// natives, which have none.
	ByteCodeIndex int `show:"byteCodeIndex"`
}

// Bounds of the fields of a ByteCodeInfo.
const (
	MaxCallerIndex   = 1<<12 - 1
	MaxByteCodeIndex = 1<<16 - 1
)

// byteCodeInfo takes v apart.
func byteCodeInfo(order binary.ByteOrder, v uint32) ByteCodeInfo {
	if order == binary.ByteOrder(binary.BigEndian) {
		return ByteCodeInfo{
			DoNotProfile:  v>>31 != 0,
			SameReceiver:  v>>30&1 != 0,
			CallerIndex:   int(int32(v<<2) >> 19),
			ByteCodeIndex: int(int32(v<<15) >> 15),
		}
	}
	return ByteCodeInfo{
		DoNotProfile:  v&1 != 0,
		SameReceiver:  v&2 != 0,
		CallerIndex:   int(int32(v<<17) >> 19),
		ByteCodeIndex: int(int32(v) >> 15),
	}
}
