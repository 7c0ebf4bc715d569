// Package monolog reads logs of Mono's log profiler: the files, called output.mlpd unless
// told otherwise, that mono --profile=log writes and mprof-report reads.
//
// The format was written down once, for its data version 1, in November 2010; docs/formats/mono-log.md
// has the source, what real files hold beyond it, and what later versions changed. All data versions,
// 1 to 17, are read. All fixed integers are little endian; the file may be compressed by
// gzip as a whole.
//
// A log is a header, with a layout by the profiler's major version,
//
//	size
//	 4    id              01 5a 50 4d
//	 1 1  major, minor    of the profiler
//	 1    data version    of all that follows the header
//	 1    ptrsize         4 or 8
//	 8    startup time    milliseconds since the epoch
//	 8    startup time    major 3: nanoseconds of CLOCK_MONOTONIC
//	 4    timer overhead  nanoseconds
//	 4    flags           0
//	 4    pid
//	 2    port
//	 2    sysid           major 0 only
//	      args, arch, os  major 1 and later: each u32 length, string, NUL (counted in the length)
//
// and buffers, each with events of one thread:
//
//	offset size
//	 0      4   bufid        01 4c 50 4d
//	 4      4   len          bytes of events behind this header
//	 8      8   time_base    nanoseconds of CLOCK_MONOTONIC
//	16      8   ptr_base
//	24      8   obj_base     an address divided by 8
//	32      8   thread id    pthread_self
//	40      8   method_base
//
// An event begins with a byte, type in its lower half and exinfo in its upper half, and with the time
// since the event before, a uleb (unsigned LEB128). The rest, by version ("13+": from version 13 on;
// "<13": before); other.go has the layouts of all other types:
//
//	type       exinfo                      fields
//	2 metadata 0 name, 2 load, 4 unload    byte mtype, ptr, then by mtype:
//	           mtype 1 class               ptr image, flags, name
//	           mtype 2 image               flags, name [16+: mvid]
//	           mtype 3 assembly            [14+: ptr image], flags, name               11+
//	           mtype 4 domain              flags [exinfo 0: name]                      11+
//	           mtype 5 thread              flags [exinfo 0, or <11: name]
//	           mtype 6 context             flags, ptr domain                           11+
//	           mtype 7 vtable              ptr domain, ptr class                       15+
//	3 method   1 leave, 2 enter, 3 by exc  method
//	           4 jit                       method, ptr code, uleb size, name
//	8 runtime  1 jit helper                byte type (<13: uleb), ptr code, uleb size [type 5 (<14: 6): name]   8+
//
// where
//
//	ptr        sleb (signed LEB128), added to ptr_base
//	method     sleb, added to the method before, the first to method_base
//	flags      <13: uleb, 0; none later
//	name …     UTF-8 with a NUL
//	backtrace  [<13: uleb flags 0], uleb n, n times method (<13: ptr); 13+: these, too, are methods that the next one counts from
//
// All sums are modulo 2^64: times can go backwards.
//
// The package knows bytes and no meaning. Its callers assign code to methods, and find the meaning of
// names, the process and the thread. Of events that say nothing about code, calls and metadata, it
// reads the layout only (other.go).
//
// # Reading
//
//	r, err := monolog.NewReader(f)
//	for {
//		b, err := r.NextBuffer()
//		if err == io.EOF {
//			break
//		} else if err != nil { // damage; the next call goes on behind it
//			report(err)
//			continue
//		}
//		for {
//			e, err := r.Next()
//			if err == io.EOF {
//				break
//			} else if err != nil { // the rest of the buffer is lost
//				report(err)
//				break
//			}
//			use(b, e)
//		}
//	}
//
// A [Reader] has a window of fixed size for any claimed lengths and counts, and needs no memory
// for an event: it reads some 400 MB/s. A value that a version does not have ends the buffer, as the
// document demands. A buffer is left by its length, unless the header of another begins before; bytes
// that are no header are searched for the next one. A log that ends in the middle of something, since
// its process was killed or still runs, gives all that is whole and then [ErrCut]. [ReadBufferAt]
// makes readers that go through the buffers of different threads side by side.
package monolog
