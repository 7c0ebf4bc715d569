// Package jitdump reads and writes jitdump files. A just-in-time compiler writes these side files
// for profilers: the code that it made, with addresses and times.
//
// The format is specified in the Linux tree as tools/perf/Documentation/jitdump-specification.txt
// (version 2 of 2016). All integers are in the byte order of the file's magic. A file is a header
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
// Three records of samply and one of jitinject go beyond the specification; their layouts are in
// docs/formats/jitdump-extensions.txt and .md:
//
//	827346259 SAMPLY_JIT_CODE_DEBUG_INFO2  lines and the tree of inlined calls
//	827346260 SAMPLY_JIT_TIER              name and color of a compiler's tier
//	827346261 SAMPLY_EMBEDDED_SOURCE_FILE  the text of a source file
//	827346262 JITINJECT_OPENJ9_METADATA    OpenJ9's metadata of a compiled body
//
// The package handles bytes, not their meaning. Its callers pair debug records with loads, and
// handle the quirks of producers. It keeps the whole content of a record, so that decoding and
// encoding gives the same bytes. Records with other ids pass through as [Unknown].
//
// # Writing
//
// A [Writer] appends records. A runtime that inlines describes its functions through an
// [InlineBuilder] while it emits code. docs/producers.md describes for authors of runtimes what
// profilers need.
//
// # Reading
//
// A [Reader] first frames records: [Reader.Next] returns a [Raw] record, [Reader.Records] all of
// them. [Raw.Decode] decodes the body on request. So one bad body costs one record. Records follow
// each other without alignment. Some files have zero bytes between them, which the reader skips. A
// record after JIT_CODE_CLOSE is read like any other.
//
// A record that the end of the file cuts is usual: the producer is still writing, or was killed.
// Next returns [ErrCut] for it and does not move. A later call returns the record once it is
// complete.
//
// Tags with the key show say how jitinject dump prints a field.
package jitdump
