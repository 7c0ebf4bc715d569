package plan

// Unwind tables get addresses that are free in all processes of a dump.
//
// libunwind (perf up to 6.12) reads the tables of an object from the memory of the process. It
// does so through the mappings of the recording, at the address in the object's headers, counted
// from the object's first mapping. Jitted functions lie close together, with no space for tables
// between them. But an object may be mapped in several pieces. So its tables get free addresses,
// and a mapping of their own. libdw (perf 7) finds them in the file.

// tableRoom returns how many bytes are reserved for the tables of a function of size bytes, for
// which its producer sent some. That is more than they need.
func tableRoom(size, sent uint64) uint64 { return (1<<10 + 4*size + 2*sent + 7) &^ 7 }

// blankRoom bounds the size of unwind tables without an entry, in bytes.
const blankRoom = 64

// maxBlankGap bounds the distance from code to its blank table, in bytes.
const maxBlankGap = 1 << 20
