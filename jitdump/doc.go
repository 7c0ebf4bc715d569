// Package jitdump reads and writes jitdump files: the side files in which a
// just-in-time compiler tells profilers what code it made, and where, and when.
//
// The format is specified in the Linux tree as
// tools/perf/Documentation/jitdump-specification.txt (version 2 of 2016). All
// integers are in the byte order of the file's magic. A file is a header
//
//	offset size
//	 0      4   magic       "JiTD": 0x4A695444 read in the file's byte order
//	 4      4   version     0, 1 and 2 are in use and mean the same
//	 8      4   total_size  of this header: 40, or more with a producer's own fields
//	12      4   elf_mach    the ELF e_machine of the code
//	16      4   pad1        zero; V8 writes 0xDEADBEEF
//	20      4   pid         of the producer, in its own pid namespace
//	24      8   timestamp   of the file's creation, in any clock
//	32      8   flags       bit 0: timestamps count in the machine's own units (TSC)
//
// and records, each with a prefix of 16 bytes:
//
//	0      4   id          see below
//	4      4   total_size  of the record with this prefix
//	8      8   timestamp   nanoseconds of CLOCK_MONOTONIC, unless flags says otherwise
//
// The bodies, with offsets from the end of the prefix:
//
//	0 JIT_CODE_LOAD            u32 pid, u32 tid, u64 vma, u64 code_addr, u64 code_size,
//	                           u64 code_index, name NUL, code
//	1 JIT_CODE_MOVE            u32 pid, u32 tid, u64 vma, u64 old_code_addr,
//	                           u64 new_code_addr, u64 code_size, u64 code_index
//	2 JIT_CODE_DEBUG_INFO      u64 code_addr, u64 nr_entry, nr_entry times
//	                           { u64 addr, u32 line, u32 discrim, name NUL }
//	3 JIT_CODE_CLOSE           nothing
//	4 JIT_CODE_UNWINDING_INFO  u64 unwind_data_size, u64 eh_frame_hdr_size,
//	                           u64 mapped_size, unwind data
//
// Three records of samply and one of jitinject go beyond the specification; their
// layouts are in docs/formats/jitdump-extensions.md:
//
//	827346259 SAMPLY_JIT_CODE_DEBUG_INFO2  lines and the tree of inlined calls
//	827346260 SAMPLY_JIT_TIER              name and color of a compiler's tier
//	827346261 SAMPLY_EMBEDDED_SOURCE_FILE  the text of a source file
//	827346262 JITINJECT_OPENJ9_METADATA    what OpenJ9 knows of a compiled body
//
// The package knows bytes and no meaning: what a debug record says about a
// load, and what producers get wrong, is for its callers. It keeps everything a
// record holds, so that decoding and encoding gives the same bytes, and records
// with other ids pass through as [Unknown].
//
// # Writing
//
// A [Writer] appends records. A runtime that inlines describes its functions
// through an [InlineBuilder], as code is emitted; docs/producers.md tells a
// runtime's author all that profilers want.
//
// # Reading
//
// A [Reader] frames first: [Reader.Next] returns a [Raw] record, [Reader.Records] all
// of them, and [Raw.Decode] looks inside when asked. One bad body therefore costs one
// record. Records lie one behind the other without alignment, but files with
// zero bytes between them exist, and the reader steps over those. A record
// after JIT_CODE_CLOSE is read like any other.
//
// A record that the end of the file cuts is usual: the producer is still
// writing, or was killed. Next returns [ErrCut] for it and does not move, so
// that calling it again later reads the record once it is whole.
package jitdump
