// Package perfdata reads and writes perf.data, the output of perf record: files, pipes and
// directories, compressed or not.
//
// The format is described in the Linux tree in tools/perf/Documentation/perf.data-file-format.txt,
// its records in include/uapi/linux/perf_event.h and tools/lib/perf/include/perf/event.h. All
// integers are in the byte order of the recording machine. A file is
//
//	header          "PERFILE2" (before perf 3.5, "PERFFILE"), sizes, places of attrs and data, a bit for each feature
//	ids             for each attr, the kernel's ids of its events, u64 each
//	attrs           one perf_event_attr for each event, and the place of its ids
//	data            records, one after the other
//	feature table   one {offset, size} for each feature bit of the header, in bit order
//	features        host name, CPU topology, build ids, ...
//
// A pipe (perf record -o -) has a header of 16 bytes and then only records. Some of them replace a
// file's header: pipe.go has the list. A directory (perf record --threads) has a file, and a
// further file for each ring buffer, with records and no header: dir.go.
//
// A record begins with a header of 8 bytes: u32 type, u16 misc, u16 size (of the record with its
// header). Types below 64 come from the kernel, the others are perf's own. This package decodes
// these:
//
//	 1 MMAP      u32 pid, tid; u64 addr, len, pgoff; filename
//	 3 COMM      u32 pid, tid; comm
//	 4 EXIT      u32 pid, ppid, tid, ptid; u64 time
//	 7 FORK      as EXIT
//	 9 SAMPLE    the fields of the attr's sample_type
//	10 MMAP2     as MMAP up to pgoff; then u32 maj, min, u64 ino, ino_generation or
//	             u8 size and 20 bytes of build id; u32 prot, flags; filename
//	16 NAMESPACES  u32 pid, tid; u64 nr; nr times u64 dev, inode
//	22 CALLCHAIN_DEFERRED  u64 cookie, nr; u64 ips[nr]
//	64 HEADER_ATTR, 66 TRACING_DATA, 67 HEADER_BUILD_ID, 80 HEADER_FEATURE   in pipes
//	68 FINISHED_ROUND  everything up to the round before the last may be sorted and used
//	71 AUXTRACE  u64 size, ...; the payload of that size follows the record
//	81 COMPRESSED   a piece of one zstd stream, in which there are other records;
//	             any of them may begin in one piece and end in the next
//	83 COMPRESSED2  the same, padded: u64 size, data
//
// Kernel records other than SAMPLE end in a trailer, the sample id, if their attr has
// sample_id_all; [Layouts] has the places of its fields.
//
// # Reading
//
// [Open], [OpenPipe] and [OpenDir] read the data around the records. [Records] yields the records,
// and the methods of [Layouts] decode them: [Layouts.DecodeSample], [Layouts.Mmap], [Layouts.Comm],
// [Layouts.Task] and others.
//
// # Copying
//
// The package never decodes a record to copy it. Every form of recording gives a [Stream]. It
// returns blocks of whole records as in the file, or as before compression. Attrs, ids and features
// are kept raw beside the typed views. If perf wrote a file, then reading and writing it without
// changes gives the same file, byte for byte.
package perfdata
