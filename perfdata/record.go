package perfdata

import (
	"encoding/binary"
	"io"
	"iter"
)

// Bits of a record's misc field.
const (
	MiscUser        = 2       // PERF_RECORD_MISC_USER: the record is about user space
	MiscCommExec    = 1 << 13 // the COMM comes from an exec
	MiscMmapData    = 1 << 13 // the MMAP is of non-executable memory
	MiscForkExec    = 1 << 13 // the FORK is perf record's own: the child may be another program by now
	MiscMmapBuildID = 1 << 14 // the MMAP2 has a build id, not device and inode

	miscBuildIDSize = 1 << 15 // an entry of the build-id table has its id's length
)

// recordHead is the length of the header of every record.
const recordHead = 8

// A Record is one record as in the file.
type Record struct {
	Type RecordType
	Misc uint16
	Data []byte // with its header; aliases the block it came from
}

// A Block is a run of the data section: whole records, or opaque bytes that belong to the last
// record of the block before (trace data).
type Block struct {
	Data   []byte
	Offset int64 // of Data in the file, or of the compressed record with Data
	Pos    int64 // of Data in the stream of all records, uncompressed
	File   int   // source file in a directory: 0 for data, n for the nth of Dir.Names
	// Data is the payload of a record
	Opaque bool
	Packed bool // Data was compressed

	order  binary.ByteOrder
	little bool // order is little-endian, for the hot path
}

// BlockOf returns whole records as a block.
func BlockOf(data []byte, order binary.ByteOrder) Block {
	return Block{Data: data, order: order, little: order == binary.LittleEndian}
}

// Records yields the records of a block with their positions in Data. An opaque
// block has none.
func (b *Block) Records() iter.Seq2[int, Record] {
	return func(yield func(int, Record) bool) {
		if b.Opaque {
			return
		}
		for pos := 0; pos < len(b.Data); {
			rec := recordAt(b.Data[pos:], b.order, b.little)
			if !yield(pos, rec) {
				return
			}
			pos += len(rec.Data)
		}
	}
}

// Records yields the records of a stream, without payloads. Each is valid in its iteration of the
// loop. An error of the stream comes last.
//
// A record that the end of the input cuts is not yielded, and is no error: see Cut of [Stream].
func Records(s Stream) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for {
			block, err := s.Next()
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(Record{}, err)
				return
			}
			for _, rec := range block.Records() {
				if !yield(rec, nil) {
					return
				}
			}
		}
	}
}

// recordAt returns the record at the start of b, which contains all of it.
func recordAt(b []byte, order binary.ByteOrder, little bool) Record {
	if little { // without the interface, for speed: this is the hot path
		le := binary.LittleEndian
		size := le.Uint16(b[6:])
		return Record{RecordType(le.Uint32(b)), le.Uint16(b[4:]), b[:size:size]}
	}
	size := order.Uint16(b[6:])
	return Record{RecordType(order.Uint32(b)), order.Uint16(b[4:]), b[:size:size]}
}
