// Package elfgen writes ELF files: any class, byte order and machine. It does not depend on DWARF,
// or on the purpose of the sections.
//
// A file is described first and written afterwards. [File.Add] adds sections in their order in the
// file. [File.AddSegment] adds a program header for some of them, and [File.AddSymbol] a symbol.
// [File.AppendTo] then computes the layout and writes it in one pass:
//
//	ELF header        64 bytes, or 52 in 32-bit files
//	sections          each at its alignment; in sections of the memory
//	                  image (SHF_ALLOC), addresses are file offsets
//	.symtab .strtab   if there are symbols
//	.shstrtab         section names
//	program headers
//	section headers
//
// The program headers do not follow the ELF header, where compilers put them. So the first section
// has the same offset for any number of them.
package elfgen
