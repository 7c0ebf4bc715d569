package perfdata

import (
	"bytes"
	"encoding/binary"
	"iter"

	"github.com/jitinject/jitinject/internal/wire"
)

// A BuildIDEntry is one entry of the build-id table (the BUILD_ID feature): a file that the
// recording refers to, and the id of its content.
//
// In the file it is a record without a sample id [perf, struct perf_record_header_build_id]: i32
// pid, u8 build_id[24], and the filename, padded with NULs. Byte 20 of build_id is the length if
// misc has the bit for it.
type BuildIDEntry struct {
	PID      int32 // -1 for the host
	Misc     uint16
	BuildID  []byte
	Filename []byte
}

// BuildIDs yields the entries of a build-id table. An inconsistent entry ends it with an error.
func BuildIDs(order binary.ByteOrder, table []byte) iter.Seq2[BuildIDEntry, error] {
	return func(yield func(BuildIDEntry, error) bool) {
		for pos := 0; pos < len(table); {
			c := wire.NewCursor(FormatName, "build-id table", table[pos:], order, int64(pos))
			c.U32("type")
			e := BuildIDEntry{Misc: c.U16("misc")}
			size := int(c.U16("size"))
			e.PID = int32(c.U32("pid"))
			id := c.Bytes("build_id", 24)
			if c.Err() == nil && (size < c.Pos() || size > len(table)-pos) {
				c.Fail("size", "an entry of %d bytes, with %d left", size, len(table)-pos)
			}
			if err := c.Err(); err != nil {
				yield(BuildIDEntry{}, err)
				return
			}
			n := 20
			if e.Misc&miscBuildIDSize != 0 {
				n = min(int(id[20]), 20)
			}
			e.BuildID = id[:n]
			e.Filename = table[pos+c.Pos() : pos+size]
			if n := bytes.IndexByte(e.Filename, 0); n >= 0 {
				e.Filename = e.Filename[:n]
			}
			if !yield(e, nil) {
				return
			}
			pos += size
		}
	}
}

// filenameAlign is perf's alignment of file names in the table (NAME_ALIGN).
const filenameAlign = 64

// AppendBuildID appends to dst the entry of a file of user space on the host.
func AppendBuildID(dst []byte, order binary.ByteOrder, filename, id []byte) []byte {
	b := wire.AppendTo(dst, order)
	padded := (len(filename) + filenameAlign) &^ (filenameAlign - 1)
	id = id[:min(len(id), 20)]
	b.U32(0)
	b.U16(MiscUser | miscBuildIDSize)
	b.U16(uint16(recordHead + 4 + 24 + padded))
	b.U32(0xffffffff)
	b.Bytes(id)
	b.Zeros(20 - len(id))
	b.U8(uint8(len(id)))
	b.Zeros(3)
	b.Bytes(filename)
	b.Zeros(padded - len(filename))
	return b.Data
}
