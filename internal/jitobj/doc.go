// Package jitobj makes ELF objects out of jitted functions. It composes elfgen
// and dwarfgen, which know nothing of each other, and knows nothing of where
// functions come from or objects go to.
//
// An object of one function is a shared object of the function's machine:
//
//	ELF header
//	.note.gnu.build-id   a hash of all that is in the object
//	.text                the code, at TextOffset
//	.eh_frame            how it is unwound, if that is known, and
//	.eh_frame_hdr        where to look that up
//	.debug_*             lines and inlined calls, if the function has any
//	.symtab .strtab .shstrtab
//	program headers      PT_LOAD from the start of the file to the end of .text, PT_NOTE
//	section headers
//
// Addresses in it are file offsets, and that is what makes it work everywhere: a
// mapping of .text at its offset gives the same answer to readers that go by
// program headers, by section headers, or by file offsets.
//
// A function whose bytes nobody knows has a .text that takes no part of the file
// (SHT_NOBITS), and a PT_LOAD of its own for what is behind it in memory.
//
// The unwind tables are an exception where functions lie too close together for them
// to be in memory behind the code: they then have addresses far away, see [Place].
package jitobj
