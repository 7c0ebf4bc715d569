// Package jitobj makes ELF objects from JIT functions. It combines elfgen and dwarfgen, which do
// not depend on each other. It does not depend on the origin of functions, or on the destination of
// objects.
//
// An object of one function is a shared object of the function's machine:
//
//	ELF header
//	.note.gnu.build-id   a hash of the object's content
//	.text                the code, at TextOffset
//	.eh_frame            unwind tables, if known, and
//	.eh_frame_hdr        their index
//	.debug_*             lines and inlined calls, if the function has any
//	.symtab .strtab .shstrtab
//	program headers      PT_LOAD from the start of the file to the end of .text, PT_NOTE
//	section headers
//
// Its addresses are file offsets. So a mapping of .text at its offset gives the same result to
// readers of program headers, of section headers, and of file offsets.
//
// The .text of a function without code bytes takes no space in the file (SHT_NOBITS). The memory
// after it has a PT_LOAD of its own.
//
// If functions are too close together, the unwind tables do not fit after the code in memory. Then
// they have addresses far away, see [Place].
package jitobj
