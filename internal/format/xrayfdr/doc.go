// Package xrayfdr reads and writes traces that LLVM's XRay makes in flight data
// recorder mode: who called what, and when, call by call.
//
// The format is described in LLVM's tree as llvm/docs/XRayFDRFormat.rst, which
// still is of version 1 (2017). Versions 2 to 5 are in no document; what files
// of real runtimes hold, and where the document is wrong, is in
// docs/formats/xray-fdr.md.
//
// All integers are in the byte order of the machine that ran the program. A file
// is a header
//
//	offset size
//	 0      2   version          1 to 5
//	 2      2   type             1: flight data recorder
//	 4      4   bitfield         constant_tsc, nonstop_tsc
//	 8      8   cycle_frequency  ticks of TSC in a second; 10⁹: not TSC, but CLOCK_REALTIME
//	16      8   buffer_size      of a thread's buffer in memory
//	24      8   reserved         real runtimes write garbage
//
// and blocks, one for each buffer that a thread filled. In version 1 each has
// buffer_size bytes; from version 2 on a record in front says how many.
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
// The kinds, with the versions that have them and their data:
//
//	0 NewBuffer          1-5  i32 tid (the document: u16)
//	1 EndOfBuffer        1    nothing; the rest of the block means nothing
//	2 NewCPUId           1-5  u16 cpu, u64 tsc
//	3 TSCWrap            1-5  u64 tsc
//	4 WallTimeMarker     1-5  i64 seconds, i32 microseconds, of CLOCK_MONOTONIC
//	5 CustomEventMarker  1-3  i32 size, u64 tsc; size bytes behind the record
//	                     4    i32 size, u64 tsc, u16 cpu
//	                     5    i32 size, i32 tsc_delta
//	6 CallArgument       1-5  u64 value
//	7 BufferExtents      2-5  u64 size of the block behind this record
//	8 TypedEventMarker   3-4  i32 size, u64 tsc, u16 type; size bytes behind
//	                     5    i32 size, i32 tsc_delta, u16 type
//	9 PidEntry           3-5  i32 pid
//
// Time is a sum: NewCPUId and TSCWrap set it, function records and the events of
// version 5 add their delta. Events of earlier versions have their own time and
// leave the sum alone.
//
// # Reading
//
// A [Reader] goes from block to block with NextBlock, and from record to record
// with Next, which follows the document's grammar as a state machine (grammar.go).
// A record that the grammar does not allow ends its block, with an error that
// says where; the next block goes on. Reading takes memory for one window of the
// file and none per record: a hundred million records take about a second.
//
// Real runtimes differ from the document in ways that would end most blocks.
// The reader recognizes them by what the file holds, never by its version alone,
// sets them right and counts them: see [Repair].
//
// Threads are best gone through one by one: [ReadIndex] finds all blocks without
// reading what they hold, [Index.Threads] puts each thread's in order of time,
// and [ReadBlocks] reads them; any number of readers may share a file.
//
// # Writing
//
// A [Writer] writes all versions, in both byte orders, wrapping TSC where a
// delta does not fit. What a Reader returns, [Writer.Record] writes as it was.
package xrayfdr
