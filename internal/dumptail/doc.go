// Package dumptail reads what a running process has not yet written to its jitdump.
//
// Most producers write their dump with fwrite(3). The C library keeps the last bytes, at most 4,096
// with glibc's usual buffer, in the memory of the process until the buffer is full. On the disk, the
// dump then ends inside a record, and the functions that were compiled last are missing. They stay
// missing if a signal ends the process, because only exit(3) writes the buffer.
//
// [Dumps] finds the dumps that a process writes. [Dump.Tail] finds the FILE of a dump's descriptor in
// the memory of the process, and returns what its buffer holds.
//
// Nothing stops the process, and nothing is written to its memory. So the state is read twice, and
// counts if both reads agree and if the file has not grown in between.
//
// All of this also works while a tracer holds the process at PTRACE_EVENT_EXIT, even after SIGKILL:
// its memory and its descriptors are still there. Then no more is written, and the bytes can be
// appended to the dump itself.
//
// The layouts are those of 64-bit little-endian programs on x86-64 and arm64. For other processes, Tail
// fails with [errMachine] if something is missing. glibc and musl have one declaration of FILE for all machines;
// only x86-64 was tried.
package dumptail
