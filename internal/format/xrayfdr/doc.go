// Package xrayfdr reads traces that LLVM's XRay makes in flight data recorder mode: who called what,
// and when, call by call. Package xraygen writes them for tests.
//
// The format is described in LLVM's tree as llvm/docs/XRayFDRFormat.rst, which is of version 1
// (2017). This package reads version 5, which LLVM 8 to 22 write and no document describes;
// docs/formats/xray-fdr.md says where the document is wrong about it.
//
// All integers are in the byte order of the machine that ran the program. A file
// is a header
//
//	offset size
//	 0      2   version          5
//	 2      2   type             1: flight data recorder
//	 4      4   bitfield         constant_tsc, nonstop_tsc
//	 8      8   cycle_frequency  ticks of TSC in a second; 10⁹: not TSC, but CLOCK_REALTIME
//	16      8   buffer_size      of a thread's buffer in memory
//	24      8   reserved         real runtimes write garbage
//
// and blocks, one for each buffer that a thread filled. A record in front says how many bytes the
// block has.
//
// A block is a sequence of records without alignment. The lowest bit of the
// first byte is 0 for function records (8 bytes) and 1 for metadata records (16
// bytes):
//
//	bits    little endian         big endian
//	        from the lowest on    from the highest on
//	 1      discriminant          0
//	 3      action                0 enter, 1 exit, 2 tail exit, 3 enter with arguments
//	28      function_id           counted from 1; see the program's xray_instr_map
//	32      tsc_delta             ticks since the record before, unsigned
//
//	 1      discriminant          1
//	 7      record_kind           see below
//	15 × 8  data
//
// The kinds, with their data:
//
//	0 NewBuffer          i32 tid (the document: u16)
//	2 NewCPUId           u16 cpu, u64 tsc
//	3 TSCWrap            u64 tsc
//	4 WallTimeMarker     i64 seconds, i32 microseconds, of CLOCK_MONOTONIC
//	5 CustomEventMarker  i32 size, i32 tsc_delta; size bytes behind the record
//	6 CallArgument       u64 value
//	7 BufferExtents      u64 size of the block behind this record
//	8 TypedEventMarker   i32 size, i32 tsc_delta, u16 type; size bytes behind
//	9 PidEntry           i32 pid
//
// Time is a sum: NewCPUId and TSCWrap set it, function records and events add their delta.
//
// # Reading
//
// A [Reader] goes from block to block with NextBlock, and from record to record
// with Next, which follows the grammar as a state machine (grammar.go).
// A record that the grammar does not allow ends its block, with an error that
// says where; the next block goes on. Reading takes memory for one window of the
// file and none per record: a hundred million records take about a second.
//
// Where a runtime wrote wrong sizes, or the file is damaged, the reader finds the next block, and
// counts that: see [Fix].
//
// [ReadIndex] finds all blocks without reading their records, and [Reader.OpenBlock] goes to one of
// them; any number of readers may share a file.
package xrayfdr
