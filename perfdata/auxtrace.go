package perfdata

import "encoding/binary"

// MapAuxtraceIndex returns a copy of an AUXTRACE feature with every file offset mapped by move. The
// feature lists the AUXTRACE records of the file: a u64 count, and for each the u64 offset of the
// record and the u64 size of the record with its payload [perf, struct auxtrace_index_entry].
// Content of another form is returned unchanged.
func MapAuxtraceIndex(order binary.ByteOrder, index []byte, move func(offset uint64) uint64) []byte {
	index = append([]byte(nil), index...)
	if len(index) < 8 || order.Uint64(index) != uint64(len(index)-8)/16 {
		return index
	}
	for at := 8; at+16 <= len(index); at += 16 {
		order.PutUint64(index[at:], move(order.Uint64(index[at:])))
	}
	return index
}
