// Package gaps finds addresses for unwind tables that are free in all processes of a dump.
//
// libunwind (perf up to 6.12) reads the tables of an object from the memory of the process. It
// does so through the mappings of the recording, at the address in the object's headers, counted
// from the object's first mapping. Jitted functions lie close together, with no space for tables
// between them. But an object may be mapped in several pieces. So its tables get free addresses,
// and a mapping of their own. libdw (perf 7) finds them in the file.
package gaps
