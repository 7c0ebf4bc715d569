// Package elfgen writes ELF files: any class, byte order and machine. It knows
// nothing of DWARF or of what the sections are for.
//
// A file is described first and written afterwards. [File.Add] takes sections
// in the order in which they shall lie in the file, [File.AddSegment] says which
// of them a program header covers, [File.AddSymbol] fills the symbol table.
// [File.AppendTo] then lays everything out and writes it in one pass:
//
//	ELF header        64 bytes, or 52 in 32-bit files
//	sections          each at its alignment; those that are part of the memory
//	                  image (SHF_ALLOC) get their file offset for an address
//	.symtab .strtab   if there are symbols
//	.shstrtab         section names
//	program headers
//	section headers
//
// The program headers do not follow the ELF header, where compilers put them:
// the first section then lies at the same offset however many there are.
package elfgen
