package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// The bytes of a sound recording and its dump, in parts that a vector may damage. They are written
// without the packages jitdump and perfdata: those refuse to write what is damaged, and a fault in
// them must not be in the vectors as well.

const (
	vectorPID  = 4711
	vectorBase = uint64(0x7f1200000000) // address of f0; f1 and f2 follow
	vectorSize = 64                     // bytes of code of each function

	// vectorMarker is the dump's path in the recording. Readers find the dump by its base name.
	vectorMarker = "/DIR/jit-4711.dump"
)

// Offsets in the parts of a dump.
const (
	// of the file header
	atVersion, atHeaderSize, atMachine, atHeaderPID, atFlags = 4, 8, 12, 20, 32
	// of all records
	atSize, atTime = 4, 8
	// of a load
	atPID, atVMA, atCodeAddr, atCodeSize, atCodeIndex, atName = 16, 24, 32, 40, 48, 56
	// of a move
	atMoveSize = 48
	// of debug information and its first entry
	atEntries, atLineAddr, atLine = 24, 32, 40
	// of an unwind table
	atUnwindSize, atUnwindHeaderSize, atMappedSize = 16, 24, 32
)

// A vectorDump is a dump in parts: the header, and the loads of f0, f1 and f2.
type vectorDump struct {
	header  []byte
	records [][]byte
}

func newVectorDump() *vectorDump {
	d := &vectorDump{header: le(uint32(0x4A695444), uint32(1), uint32(40), uint32(elf.EM_X86_64), uint32(0), uint32(vectorPID), uint64(1500), uint64(0))}
	for i := range uint64(3) {
		d.records = append(d.records, loadRecord(2000+i, fmt.Sprintf("f%d", i), vectorBase+vectorSize*i, i))
	}
	return d
}

// le returns numbers and bytes one after the other, little-endian.
func le(fields ...any) (b []byte) {
	for _, f := range fields {
		if s, ok := f.(string); ok {
			f = []byte(s)
		}
		var err error
		if b, err = binary.Append(b, binary.LittleEndian, f); err != nil {
			panic(err)
		}
	}
	return b
}

// put writes a number at an offset of b.
func put(b []byte, at int, v any) { copy(b[at:], le(v)) }

// dumpRecord returns a record: its prefix and its body.
func dumpRecord(id uint32, time uint64, fields ...any) []byte {
	body := le(fields...)
	return append(le(id, uint32(16+len(body)), time), body...)
}

// loadRecord returns the load of a function of vectorSize bytes.
func loadRecord(time uint64, name string, addr, index uint64) []byte {
	code := append(bytes.Repeat([]byte{0x90}, vectorSize-2), 0xb0+byte(index), 0xc3) // no two are the same
	return dumpRecord(0, time, uint32(vectorPID), uint32(vectorPID), addr, addr, uint64(len(code)), index, name+"\x00", code)
}

// moveRecord returns the move of a function.
func moveRecord(time, from, to, index uint64) []byte {
	return dumpRecord(1, time, uint32(vectorPID), uint32(vectorPID), to, from, to, uint64(vectorSize), index)
}

// debugRecord returns the line 7 of f.c for a function.
func debugRecord(time, addr uint64) []byte {
	return dumpRecord(2, time, addr, uint64(1), addr, uint32(7), uint32(0), "f.c\x00")
}

// unwindRecord returns the unwind table of a function of vectorSize bytes that keeps no frame, with
// the header after the frames, as V8 and CPython write it. The frames are where mapped code ends.
func unwindRecord(time uint64) []byte {
	const cie = "\x14\x00\x00\x00\x00\x00\x00\x00\x01zR\x00\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\x00\x00"
	fde := le(uint32(20), uint32(28), int32(-vectorSize-32), uint32(vectorSize), "\x00\x00\x00\x00\x00\x00\x00\x00")
	frames := le(cie, fde, uint32(0))
	header := le("\x01\x1b\x03\x3b", int32(-len(frames)-4), uint32(1), int32(-vectorSize-len(frames)), int32(24-len(frames)))
	return dumpRecord(4, time, uint64(len(frames)+len(header)), uint64(len(header)), uint64(len(frames)+len(header)), frames, header)
}

// insert puts records before the record at index i.
func (d *vectorDump) insert(i int, records ...[]byte) {
	d.records = slices.Insert(d.records, i, records...)
}

func (d *vectorDump) bytes() []byte {
	return append(bytes.Clone(d.header), bytes.Join(d.records, nil)...)
}

// newVectorRecording returns a recording of the program, without samples.
func newVectorRecording() *testrec.Recording {
	r := testrec.NewRecording()
	r.Comm(vectorPID, 900, "prog", true)
	r.Marker(vectorPID, 1000, vectorMarker)
	return r
}

// sampledRecording returns a recording with a sample at each offset from vectorBase.
func sampledRecording(offsets ...uint64) *testrec.Recording {
	r := newVectorRecording()
	for i, off := range offsets {
		r.Sample(vectorPID, 1000000+uint64(i), vectorBase+off)
	}
	return r
}

// soundRecording returns a recording with a sample in each of f0, f1 and f2.
func soundRecording() *testrec.Recording { return sampledRecording(8, vectorSize+8, 2*vectorSize+8) }

// Offsets in a recording that testrec makes, and the size of its samples in bytes.
const (
	atRecAttrSize, atRecAttrsSize, atRecDataOffset, atRecDataSize = 16, 32, 40, 48
	atRecAttr                                                     = 112
	sampleSize                                                    = 40
)

// dataEnd returns the offset of the end of a recording's records.
func dataEnd(rec []byte) int {
	return int(binary.LittleEndian.Uint64(rec[atRecDataOffset:]) + binary.LittleEndian.Uint64(rec[atRecDataSize:]))
}

// zstdFrame returns a zstd frame with one block (RFC 8878, 3.1.1): blockType 0 is stored data, 3 is
// reserved.
func zstdFrame(content []byte, blockType uint32) []byte {
	block := le(uint32(len(content))<<3 | blockType<<1 | 1)[:3]
	return le(uint32(0xFD2FB528), uint8(0x60), uint16(len(content)-256), block, content)
}

// compressedRecording returns a recording with all its records in one COMPRESSED record.
func compressedRecording(blockType uint32) []byte {
	const typeCompressed = 81
	plain, r := soundRecording().Data(), testrec.NewRecording()
	r.Raw(typeCompressed, 0, zstdFrame(plain, blockType))
	return withFeature(r.Bytes(), 27, le(uint32(1), uint32(1), uint32(1), uint32(1), uint32(1<<16))) // version, zstd, level, ratio, size of buffers
}

// pipeRecording returns the head of a recording for a pipe, with its event, and then data.
func pipeRecording(data []byte) []byte {
	const headerAttr, attrEntrySize, idsSize = 64, 16, 8
	rec := soundRecording().Bytes()
	at := int(binary.LittleEndian.Uint64(rec[atRecAttrsSize-8:]))
	attr := rec[at : at+int(binary.LittleEndian.Uint64(rec[atRecAttrSize:]))-attrEntrySize]
	ids := rec[at-idsSize : at]
	return le("PERFILE2", uint64(16), uint32(headerAttr), uint16(0), uint16(8+len(attr)+len(ids)), attr, ids, data)
}

// withFeature adds a feature to a recording that testrec makes. bit is larger than those of its
// features.
func withFeature(rec []byte, bit int, content []byte) []byte {
	const atFeatures, entry = 72, 16
	set := binary.LittleEndian.Uint64(rec[atFeatures:])
	table, count := dataEnd(rec), bits.OnesCount64(set)
	for i := range count {
		at := table + entry*i
		put(rec, at, binary.LittleEndian.Uint64(rec[at:])+entry)
	}
	put(rec, atFeatures, set|1<<bit)
	return slices.Concat(rec[:table+entry*count], le(uint64(len(rec)+entry), uint64(len(content))), rec[table+entry*count:], content)
}

// swappedFile returns the file that a machine of the other byte order would have written.
func swappedFile(t testing.TB, b []byte) []byte {
	t.Helper()
	b, err := testrec.SwapFile(b)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
