// Package elffile reads ELF files that anybody may have written: programs that a recording names,
// objects of earlier runs, files from a server.
//
//	ELF header       class, byte order, type, machine, places of the two tables
//	program headers  segments: what is mapped from where in the file
//	section headers  sections: names, kinds and places of their content
//	content          symbol tables, string tables, notes, DWARF
//
// It is what debug/elf is, with bounds: memory is at most some times the size that [Open] was told,
// and time is linear in it. Names of sections are slices of one string, and names of symbols are
// read one by one, because headers may share a long one. [File.DWARF] checks what debug/dwarf trusts.
// (Go 1.26)
package elffile
