package main

import (
	"bytes"
	"debug/elf"
	"math"
	"slices"
)

// Demanded outcomes: what the specification and the promise of docs/security.md say, not what the
// program does.
const (
	allThree = "f0 f1 f2"
	lost1    = "f0 - f2" // f1 was in the damaged record
	lost2    = "f0 f1 -"
	noneLeft = "none of the functions could be injected"
)

// dumpVectors are the vectors with a sound recording, and a changed dump.
var dumpVectors = []vector{
	{name: "sound", rule: "jitdump", comment: "three functions, a sample in each", functions: allThree},

	// The file header.
	{name: "magic-bad", rule: "jitdump III", comment: "the magic is none of the two", exit: exitFailed, message: "not a jitdump file",
		dump: func(d *vectorDump) { put(d.header, 0, uint32(0x4A695445)) }},
	{name: "order-other", rule: "jitdump III", comment: "valid: recording and dump are of a big-endian machine", functions: allThree, swapped: "perf.data jit-4711.dump",
		dump: func(d *vectorDump) { put(d.header, atMachine, uint32(elf.EM_PPC64)) }},
	{name: "order-of-dump-other", rule: "jitdump III", comment: "valid: the dump describes its own byte order, which is not the recording's", functions: allThree, swapped: "jit-4711.dump",
		dump: func(d *vectorDump) { put(d.header, atMachine, uint32(elf.EM_PPC64)) }},
	{name: "version-2", rule: "jitdump III", comment: "valid: the current version of the specification", functions: allThree,
		dump: func(d *vectorDump) { put(d.header, atVersion, uint32(2)) }},
	{name: "version-3", rule: "jitdump III", comment: "a version that no specification describes", exit: exitFailed, message: "version",
		dump: func(d *vectorDump) { put(d.header, atVersion, uint32(3)) }},
	{name: "header-size-small", rule: "jitdump III", comment: "valid to readers: total_size is 16, but the header has a fixed size and all of its fields are there", functions: allThree,
		dump: func(d *vectorDump) { put(d.header, atHeaderSize, uint32(16)) }},
	{name: "header-size-large", rule: "jitdump III", comment: "valid: total_size counts 8 bytes after the known fields; records begin after them", functions: allThree,
		dump: func(d *vectorDump) {
			put(d.header, atHeaderSize, uint32(48))
			d.header = append(d.header, 1, 2, 3, 4, 5, 6, 7, 8)
		}},
	{name: "header-size-beyond-end", rule: "jitdump III", comment: "total_size is 65536, larger than the file", exit: exitFailed, message: "total_size",
		dump: func(d *vectorDump) { put(d.header, atHeaderSize, uint32(1<<16)) }},
	{name: "empty", rule: "jitdump III", comment: "a file of 0 bytes", exit: exitFailed, message: "it is empty",
		dump: func(d *vectorDump) { d.header, d.records = nil, nil }},
	{name: "header-cut", rule: "jitdump III", comment: "the file ends inside the file header", exit: exitFailed, message: noneLeft,
		dump: func(d *vectorDump) { d.header, d.records = d.header[:20], nil }},
	{name: "header-only", rule: "jitdump III", comment: "valid: the process ended before it compiled a function", functions: "- - -",
		dump: func(d *vectorDump) { d.records = nil }},
	{name: "machine-narrow", rule: "jitdump III", comment: "valid: code of 32-bit x86 below 4 GiB; the recording is of a 64-bit kernel", functions: "f0 f1 f2",
		recording: narrowRecording,
		dump: func(d *vectorDump) {
			put(d.header, atMachine, uint32(elf.EM_386))
			for i, rec := range d.records {
				put(rec, atVMA, uint64(narrowBase+vectorSize*i))
				put(rec, atCodeAddr, uint64(narrowBase+vectorSize*i))
			}
		}},
	{name: "machine-narrow-address-wide", rule: "jitdump III", comment: "elf_mach is 32-bit x86, and the code is beyond 4 GiB: names are right all the same", functions: allThree,
		dump: func(d *vectorDump) { put(d.header, atMachine, uint32(elf.EM_386)) }},
	{name: "machine-large", rule: "jitdump III", comment: "elf_mach is 0x1003e; e_machine has 16 bits", exit: exitFailed, message: "elf_mach",
		dump: func(d *vectorDump) { put(d.header, atMachine, uint32(0x1003e)) }},
	{name: "flag-arch-timestamp", rule: "jitdump III", comment: "times are counts of the processor's clock, and the recording cannot convert them; no address was used twice, so no time is needed", functions: allThree,
		dump: func(d *vectorDump) { put(d.header, atFlags, uint64(1)) }},
	{name: "header-pid-other", rule: "promise", comment: "the dump is of process 4712, says its header", exit: exitFailed, message: "4712",
		dump: func(d *vectorDump) { put(d.header, atHeaderPID, uint32(4712)) }},

	// Framing.
	{name: "prefix-cut", rule: "jitdump IV", comment: "the file ends inside the prefix of f2's record", exit: exitIncomplete, message: "ends inside a record", functions: lost2,
		dump: func(d *vectorDump) { d.records[2] = d.records[2][:8] }},
	{name: "body-cut", rule: "jitdump IV", comment: "the file ends inside the code of f2", exit: exitIncomplete, message: "ends inside a record", functions: lost2,
		dump: func(d *vectorDump) { d.records[2] = d.records[2][:100] }},
	{name: "body-cut-unsampled", rule: "promise", comment: "valid: the producer was killed inside f2's record, and no sample needs it", functions: "f0 f1",
		recording: func() []byte { return sampledRecording(8, vectorSize+8).Bytes() },
		dump:      func(d *vectorDump) { d.records[2] = d.records[2][:100] }},
	{name: "record-size-0", rule: "promise", comment: "total_size of f1's record is 0", exit: exitIncomplete, message: "at offset 0xa3", functions: lost1,
		dump: func(d *vectorDump) { put(d.records[1], atSize, uint32(0)) }},
	{name: "record-size-8", rule: "promise", comment: "total_size of f1's record is less than its prefix", exit: exitIncomplete, message: "total_size", functions: lost1,
		dump: func(d *vectorDump) { put(d.records[1], atSize, uint32(8)) }},
	{name: "record-size-beyond-end", rule: "promise", comment: "f1's record claims 65536 bytes, more than the file has", exit: exitIncomplete, message: "65536", functions: lost1,
		dump: func(d *vectorDump) { put(d.records[1], atSize, uint32(1<<16)) }},
	{name: "record-unknown", rule: "jitdump IV", comment: "valid: a record of type 99 is skipped by its size", functions: allThree,
		dump: func(d *vectorDump) { d.insert(1, dumpRecord(99, 2000, "of another producer")) }},
	{name: "close-in-the-middle", rule: "jitdump VIII", comment: "records after a close record count: it marks the end of one runtime, and others may share the file", functions: allThree,
		dump: func(d *vectorDump) { d.insert(1, dumpRecord(3, 2000)) }},
	{name: "close-too-large", rule: "jitdump VIII", comment: "the close record has 8 bytes more than its prefix, which total_size counts", functions: allThree,
		dump: func(d *vectorDump) { d.insert(1, dumpRecord(3, 2000, uint64(1))) }},

	// Loads.
	{name: "code-size-beyond-record", rule: "jitdump V", comment: "code_size of f1 is larger than its record", exit: exitIncomplete, message: "JIT_CODE_LOAD", functions: lost1,
		dump: func(d *vectorDump) { put(d.records[1], atCodeSize, uint64(1000)) }},
	{name: "code-size-max", rule: "jitdump V", comment: "code_size of f1 is 2^64-1", exit: exitIncomplete, message: "JIT_CODE_LOAD", functions: lost1,
		dump: func(d *vectorDump) { put(d.records[1], atCodeSize, uint64(math.MaxUint64)) }},
	{name: "code-size-0", rule: "jitdump V", comment: "valid: f1 has no code; no sample can be in it", functions: lost1,
		dump: func(d *vectorDump) {
			put(d.records[1], atCodeSize, uint64(0))
			d.records[1] = d.records[1][:len(d.records[1])-vectorSize]
			put(d.records[1], atSize, uint32(len(d.records[1])))
		}},
	{name: "name-unterminated", rule: "jitdump V", comment: "the record of f1 has no NUL after the name", exit: exitIncomplete, message: "name", functions: lost1,
		dump: func(d *vectorDump) { d.records[1][atName+2] = 'x' }},
	{name: "name-empty", rule: "jitdump V", comment: "valid: the name of f1 is empty; perf needs one, which the reader chooses", functions: "f0 * f2",
		dump: func(d *vectorDump) {
			d.records[1] = slices.Delete(d.records[1], atName, atName+2)
			put(d.records[1], atSize, uint32(len(d.records[1])))
		}},
	{name: "code-index-again", rule: "jitdump V", comment: "f1 has the code_index of f0; only moves need it", functions: allThree,
		dump: func(d *vectorDump) { put(d.records[1], atCodeIndex, uint64(0)) }},
	{name: "load-of-unknown-process", rule: "promise", comment: "f1 is of process 4712, which is not in the recording", exit: exitIncomplete, message: "4712", functions: lost1,
		dump: func(d *vectorDump) { put(d.records[1], atPID, uint32(4712)) }},
	{name: "load-of-other-process", rule: "promise", comment: "f1 is of process 4712, which has a sample there, and neither mapped the dump nor descends from the process that did", exit: exitIncomplete, message: "4712", functions: "f0 - f2 -",
		recording: func() []byte {
			r := soundRecording()
			r.Comm(4712, 950, "victim", true)
			r.Sample(4712, 1000003, vectorBase+vectorSize+8)
			return r.Bytes()
		},
		dump: func(d *vectorDump) { put(d.records[1], atPID, uint32(4712)) }},
	{name: "address-overflow", rule: "promise", comment: "code_addr + code_size of f1 is beyond 2^64", exit: exitIncomplete, message: "beyond the end of all addresses", functions: lost1,
		dump: func(d *vectorDump) {
			put(d.records[1], atVMA, ^uint64(15))
			put(d.records[1], atCodeAddr, ^uint64(15))
		}},
	{name: "times-backwards", rule: "jitdump II", comment: "valid: f1 was loaded before f0, and written after it", functions: allThree,
		dump: func(d *vectorDump) { put(d.records[1], atTime, uint64(1800)) }},
	{name: "address-again", rule: "jitdump II", comment: "valid: times decide which function is at an address, not the order of the records", functions: "f0 g",
		recording: func() []byte {
			r := sampledRecording(8)
			r.Sample(vectorPID, 4000000, vectorBase+8)
			return r.Bytes()
		},
		dump: func(d *vectorDump) { d.records = [][]byte{loadRecord(3000000, "g", vectorBase, 3), d.records[0]} }},
	{name: "load-too-late", rule: "jitdump IV", comment: "valid: f1 was loaded after its sample", functions: lost1,
		dump: func(d *vectorDump) { put(d.records[1], atTime, uint64(9000000)) }},

	// Moves.
	{name: "move", rule: "jitdump VI", comment: "valid: f2 moves, and is sampled before and after", functions: "f2 f2 -",
		recording: movedRecording(2*vectorSize+8, 1024+8),
		dump:      func(d *vectorDump) { d.insert(3, moveRecord(2000000, vectorBase+2*vectorSize, vectorBase+1024, 2)) }},
	{name: "move-of-unknown-index", rule: "jitdump VI", comment: "no load has the code_index of the move", exit: exitIncomplete, message: "code_index", functions: allThree,
		dump: func(d *vectorDump) { d.insert(3, moveRecord(2100, vectorBase, vectorBase+1024, 9)) }},
	{name: "move-before-load", rule: "jitdump VI", comment: "the move of f2 comes before its load", exit: exitIncomplete, message: "code_index", functions: allThree,
		dump: func(d *vectorDump) { d.insert(2, moveRecord(2001, vectorBase+1024, vectorBase+2*vectorSize, 2)) }},
	{name: "move-overlapping", rule: "jitdump VI", comment: "valid: f0 moves by half its size: it leaves its first half, and covers the first half of f1", functions: "- f0 f0 f1",
		recording: func() []byte { return sampledRecording(8, vectorSize/2+8, vectorSize+8, vectorSize*3/2+8).Bytes() },
		dump:      func(d *vectorDump) { d.insert(3, moveRecord(2100, vectorBase, vectorBase+vectorSize/2, 0)) }},
	{name: "move-size-other", rule: "jitdump VI", comment: "the move says that f0 has 16 bytes, its load says 64: the code size cannot change", exit: exitIncomplete, message: "it was loaded with 64", functions: "- f0",
		recording: func() []byte { return sampledRecording(8, 1024+60).Bytes() },
		dump: func(d *vectorDump) {
			move := moveRecord(2100, vectorBase, vectorBase+1024, 0)
			put(move, atMoveSize, uint64(16))
			d.insert(3, move)
		}},
	{name: "move-address-overflow", rule: "promise", comment: "f0 moves to the end of all addresses: it is where it was", exit: exitIncomplete, message: "beyond the end of all addresses", functions: allThree,
		dump: func(d *vectorDump) { d.insert(3, moveRecord(2100, vectorBase, ^uint64(15), 0)) }},
	{name: "move-cut", rule: "jitdump VI", comment: "the move's record is smaller than its fields", exit: exitIncomplete, message: "JIT_CODE_MOVE", functions: allThree,
		dump: func(d *vectorDump) { d.insert(3, dumpRecord(1, 2100, uint64(0))) }},

	// Lines.
	{name: "lines", rule: "jitdump VII", comment: "valid: f1 has a line", functions: allThree,
		dump: func(d *vectorDump) { d.insert(1, debugRecord(2000, vectorBase+vectorSize)) }},
	{name: "lines-too-many", rule: "jitdump VII", comment: "nr_entry is 2^32, and one entry is there", exit: exitIncomplete, message: "JIT_CODE_DEBUG_INFO", functions: allThree,
		dump: func(d *vectorDump) {
			d.insert(1, debugRecord(2000, vectorBase+vectorSize))
			put(d.records[1], atEntries, uint64(1<<32))
		}},
	{name: "lines-name-unterminated", rule: "jitdump VII", comment: "the file name of the entry has no NUL", exit: exitIncomplete, message: "JIT_CODE_DEBUG_INFO", functions: allThree,
		dump: func(d *vectorDump) {
			d.insert(1, debugRecord(2000, vectorBase+vectorSize))
			d.records[1][len(d.records[1])-1] = 'x'
		}},
	{name: "lines-without-load", rule: "jitdump VII", comment: "lines for an address where no function is loaded: no function lacks anything, and the summary counts them", message: "repaired 1 fault of prog's dump", functions: allThree,
		dump: func(d *vectorDump) { d.insert(1, debugRecord(2000, vectorBase+4096)) }},
	{name: "lines-number-0", rule: "jitdump VII", comment: "lines start at 1; 0 is no line, and the function has its name", functions: allThree,
		dump: func(d *vectorDump) {
			d.insert(1, debugRecord(2000, vectorBase+vectorSize))
			put(d.records[1], atLine, uint32(0))
		}},
	{name: "lines-outside", rule: "jitdump VII", comment: "the address of an entry is beyond f1: the line is left out, f1 has its name", functions: allThree,
		dump: func(d *vectorDump) {
			d.insert(1, debugRecord(2000, vectorBase+vectorSize))
			put(d.records[1], atLineAddr, vectorBase+1<<20)
		}},

	// Unwind tables.
	{name: "unwind", rule: "jitdump IX", comment: "valid: f1 has an unwind table", functions: allThree,
		dump: func(d *vectorDump) { d.insert(1, unwindRecord(2000)) }},
	{name: "unwind-size-beyond-record", rule: "jitdump IX", comment: "unwind_data_size is larger than the record", exit: exitIncomplete, message: "JIT_CODE_UNWINDING_INFO", functions: allThree,
		dump: func(d *vectorDump) {
			d.insert(1, unwindRecord(2000))
			put(d.records[1], atUnwindSize, uint64(1<<40))
		}},
	{name: "unwind-header-size-beyond-data", rule: "jitdump IX", comment: "eh_frame_hdr_size is larger than unwind_data_size", exit: exitIncomplete, message: "eh_frame_hdr_size", functions: allThree,
		dump: func(d *vectorDump) {
			d.insert(1, unwindRecord(2000))
			put(d.records[1], atUnwindHeaderSize, uint64(math.MaxUint64))
		}},
	{name: "unwind-mapped-size-other", rule: "jitdump IX", comment: "valid to readers: mapped_size is neither 0 nor unwind_data_size, which it is \"generally\"", functions: allThree,
		dump: func(d *vectorDump) {
			d.insert(1, unwindRecord(2000))
			put(d.records[1], atMappedSize, uint64(1<<20))
		}},
	{name: "unwind-garbage", rule: "jitdump IX", comment: "the unwind data are no table: f1 has its name", exit: exitIncomplete, message: "JIT_CODE_UNWINDING_INFO", functions: allThree,
		dump: func(d *vectorDump) {
			d.insert(1, dumpRecord(4, 2000, uint64(64), uint64(20), uint64(64), bytes.Repeat([]byte{0xee}, 64)))
		}},
}
