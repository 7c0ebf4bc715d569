// Package gdbjit makes dumps of the code that processes register for debuggers, with GDB's JIT
// interface. LLVM registers all that it compiles, if the program asks for that: lli, PostgreSQL
// (jit_debugging_support), Julia and others.
//
// The objects come from core dumps, or from processes that still run (package registered). A dump has
// all objects of a process. An object has symbols, lines, inlined calls and unwind tables (package
// format/jitelf). The code comes from the memory of the process.
//
// # Times
//
// The list has no times: it has the code that was registered when it was read. So functions count from
// the start of the program on. Code that was removed before is missing. A function is dropped if its
// memory is not executable, or if the recording has a file or another function at its address.
//
// # Combination with dumps
//
// A process may also have written a jitdump. Then that has the times, and code that is gone. [Attach]
// lets the objects describe the dump's functions of the same address, size and code. The rest of the
// objects stays a dump of its own.
package gdbjit
