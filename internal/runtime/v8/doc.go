// Package v8 gives meaning to V8's log: exact lines and inlined calls of optimized code.
//
// A jitdump of V8 has code and lines without the calls that were inlined. The log has both, for the
// same code ([v8log]). [Attach] finds the logs of dumps, and has them describe functions of the
// dumps. These functions then get their lines and inlined calls from the log, as if the dump had
// records of inlined calls. Functions that the log does not describe keep what the dump says.
//
// A log is also a [Log], a dump of its own, for the code that no jitdump has: that of a process without
// a dump (logfind.go), and what a cut dump lacks. It has no bytes of code, as a perf map.
//
// # Pairing
//
// Code in the log and a load in the dump are one if address, size and name are equal, and if their
// times differ by the same as in the other pairs. The log counts its times from its own beginning,
// so this difference proves that the log is of the dump's process (pair.go).
//
// # Identity of functions
//
// The log names inlined functions by the address of their SharedFunctionInfo. The collector moves
// these, and frees some. So an address is resolved when its line is read (functions.go).
//
// # Memory
//
// A log is read once as a stream. The index has a bound (index.go): for each function its place
// in the log, for each script the lengths of its lines, and for each paired code object the offsets
// of its lists. Lists are read when the object of the function is made (tree.go).
package v8
