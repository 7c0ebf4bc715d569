package dumptail

import "encoding/binary"

// A buffer is what the FILE of a descriptor says about its bytes that are not written yet.
type buffer struct {
	start  uint64 // address of the first of them
	used   int    // their number
	offset int64  // place in the file where they belong, in bytes; -1 if the library does not note it
}

const (
	// fileSize is the size of the part of a FILE that is read, in bytes.
	fileSize = 0x98

	// fileAlign is the alignment of a FILE: that of memory from malloc.
	fileAlign = 16

	// maxBuffer bounds the size of a buffer, in bytes. Usual are 1,024 (musl) and 4,096 (glibc);
	// setvbuf can set others.
	maxBuffer = 16 << 20
)

// A library is a C library, by the layout of its FILE on 64-bit little-endian machines.
type library struct {
	// fdAt is the offset of the descriptor.
	fdAt int
	// writesMore says that it writes the buffer together with what does not fit into it.
	writesMore bool
	// parse returns the buffer of the FILE at an address, or false if file, its first fileSize
	// bytes, is none that could be written to. The descriptor is not checked.
	parse func(file []byte, addr uint64) (buffer, bool)
}

var libraries = []*library{
	// glibc: libio/bits/types/struct_FILE.h. The fields are unchanged since 1999.
	{fdAt: 0x70, parse: parseGlibc},
	// musl: src/internal/stdio_impl.h
	{fdAt: 0x78, parse: parseMusl, writesMore: true},
}

// descriptor returns the descriptor of what may be a FILE.
func (l *library) descriptor(file []byte) int32 {
	return int32(binary.LittleEndian.Uint32(file[l.fdAt:]))
}

func parseGlibc(file []byte, _ uint64) (buffer, bool) {
	const (
		magic    = 0xfbad // the upper half of _flags
		flags    = 0x00
		base     = 0x20 // _IO_write_base; _IO_write_ptr and _IO_write_end follow
		ptr      = 0x28
		bufBase  = 0x38
		bufEnd   = 0x40
		position = 0x90 // _offset: that of the file after the last write, -1 if unknown
	)
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(file[at:]) }
	if binary.LittleEndian.Uint32(file[flags:])>>16 != magic {
		return buffer{}, false
	}
	start, end := word(base), word(ptr)
	if word(bufBase) > start || start > end || end > word(bufEnd) || word(bufEnd)-word(bufBase) > maxBuffer {
		return buffer{}, false
	}
	return buffer{start: start, used: int(end - start), offset: max(int64(word(position)), -1)}, true
}

func parseMusl(file []byte, addr uint64) (buffer, bool) {
	const (
		closeFunc = 0x18
		writeEnd  = 0x20
		writePos  = 0x28
		mustBe0   = 0x30
		writeBase = 0x38
		readFunc  = 0x40
		writeFunc = 0x48
		seekFunc  = 0x50
		buf       = 0x58
		bufSize   = 0x60

		// own is the distance of a FILE's own buffer, at most: it follows the FILE.
		own = 0x200
	)
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(file[at:]) }
	for _, function := range []int{closeFunc, readFunc, writeFunc, seekFunc} {
		if word(function) == 0 {
			return buffer{}, false
		}
	}
	size := word(bufSize)
	if word(mustBe0) != 0 || size == 0 || size > maxBuffer || word(buf)+size < size {
		return buffer{}, false
	}
	if word(writeBase) == 0 { // nothing is written yet, so there is less to recognise it by
		return buffer{start: word(buf), offset: -1}, word(writePos) == 0 && word(buf)-addr < own
	}
	start, pos, end := word(writeBase), word(writePos), word(writeEnd)
	if start != word(buf) || start > pos || pos > end || end > start+size {
		return buffer{}, false
	}
	return buffer{start: start, used: int(pos - start), offset: -1}, true
}
