// Package jitelf reads the ELF objects that programs register for debuggers with GDB's JIT
// interface: the symfiles in the list of __jit_debug_descriptor.
//
// [Open] reads the headers and finds the functions ([Object.Functions]). A [Reader] describes a
// function: its lines, inlined calls and unwind tables.
package jitelf
