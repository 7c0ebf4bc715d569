package jitdump

import (
	"bytes"

	"github.com/jitinject/jitinject/jitdump"
)

// loadFields is the size of a load's prefix and fixed fields, which precede its name, in bytes.
const loadFields = 16 + 2*4 + 4*8

// maxCutName bounds the names that nameAtEnd looks for, in bytes.
const maxCutName = 64 << 10

// nameAtEnd returns the name of the function of the load at an offset. The file must end with
// the name's NUL, without any code; otherwise nameAtEnd returns "". .NET 10.0 up to 10.0.11 ends
// dumps so: it writes a block of stubs that is not in memory yet, writev(2) fails, and it closes
// the dump (perfjitdump.cpp).
func (s *scanner) nameAtEnd(at int64) string {
	b := make([]byte, loadFields+maxCutName)
	n, _ := s.src.ReadAt(b, at)
	if b = b[:n]; n <= loadFields || n == cap(b) || b[n-1] != 0 {
		return ""
	}
	name, o := b[loadFields:n-1], s.order()
	if jitdump.RecordID(o.Uint32(b)) != jitdump.IDLoad || len(name) == 0 || bytes.IndexByte(name, 0) >= 0 {
		return ""
	}
	if size := o.Uint64(b[40:]); size == 0 || uint64(o.Uint32(b[4:])) != uint64(n)+size {
		return ""
	}
	return string(name)
}
