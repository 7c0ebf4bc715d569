package jitdump

import (
	"bytes"

	"github.com/jitinject/jitinject/jitdump"
)

// loadFields is the size of a load's prefix and fixed fields, which precede its name, in bytes.
const loadFields = 16 + 2*4 + 4*8

// maxCutName bounds the names that nameAtEnd looks for, in bytes.
const maxCutName = 64 << 10

// pageSize is the smallest size of a page of memory, in bytes.
const pageSize = 4096

// stubBlock begins the names of .NET's blocks of stubs (PerfMap::LogStubs of perfmap.cpp).
const stubBlock = "stub "

// nameAtEnd returns the name of the function of the load at an offset, if the runtime stopped there
// because it could not read the code: the file ends with the name's NUL, or, for a block of .NET's
// stubs, where a page of the code ends. Otherwise nameAtEnd returns "". .NET 10.0 up to 10.0.11 ends
// dumps so: it writes a block of stubs that is not all in memory yet, writev(2) fails, and it closes
// the dump (perfjitdump.cpp).
func (s *scanner) nameAtEnd(at int64) string {
	b := make([]byte, loadFields+maxCutName)
	n, _ := s.src.ReadAt(b, at)
	left := int64(n) // of the file, in bytes
	if n == len(b) {
		left = s.size - at
	}
	if b = b[:n]; n <= loadFields {
		return ""
	}
	o := s.order()
	name, _, whole := bytes.Cut(b[loadFields:], []byte{0})
	if jitdump.RecordID(o.Uint32(b)) != jitdump.IDLoad || len(name) == 0 || !whole {
		return ""
	}
	before := int64(loadFields + len(name) + 1)
	addr, size, written := o.Uint64(b[32:]), o.Uint64(b[40:]), left-before
	if size == 0 || uint64(o.Uint32(b[4:])) != uint64(before)+size || written < 0 || uint64(written) >= size {
		return ""
	}
	if written > 0 && !(bytes.HasPrefix(name, []byte(stubBlock)) && (addr+uint64(written))%pageSize == 0) {
		return ""
	}
	return string(name)
}
