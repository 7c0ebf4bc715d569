// Package jitelf reads the ELF objects that programs register for debuggers with GDB's JIT
// interface: the symfiles in the list of __jit_debug_descriptor ("JIT Interface" in GDB's manual).
//
// [Open] reads the headers and finds the functions ([Object.Functions]). A [Reader] describes a
// function: its lines, inlined calls and unwind tables. The code is not in the object: it is in the
// memory of the process, at the function's address.
//
// Producers write these objects:
//
//	LLVM (MCJIT, ORC,   ET_REL, a copy of the compiler's output with load addresses in the headers
//	JITLink)            of the sections that were loaded; relocations are not applied
//	LuaJIT, PHP, V8     ET_REL by hand: one function, a line, .eh_frame relative to .text
//	CPython 3.15        one function and .eh_frame
//	wasmtime            ET_DYN: load addresses in .text's header and the DWARF; symbols are offsets
//	ART, Mono, .NET     ET_REL or ET_DYN, with .debug_frame or without DWARF
//
// Relocation adds the load address of a symbol's section, which debug/elf leaves out. A relocation
// of an unknown type makes its section unusable. Sections of one name are joined.
//
// Lines are the rows of the line table. Of several rows at an address, the last one counts, as in
// addr2line and llvm-symbolizer; gdb prefers one that begins a statement. Names of inlined functions
// are linkage names, as in addr2line -f. Calls lose code that is outside their callers or in other
// calls, and the loss is a problem.
//
// Objects are not trusted. Memory and time are bounded by the size of the object: by some hundred
// bytes for each byte, and a constant. See units.go for the limits of debug/dwarf. Sections that
// are too large after decompression, types of DWARF (.debug_types) and other files (.dwo) are not
// read.
package jitelf
