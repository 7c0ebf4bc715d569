// Package dwarfgen writes DWARF debugging information, versions 4 and 5, in
// either byte order, for 4- and 8-byte addresses, in the 32-bit format. It knows
// nothing of ELF or of just-in-time compilers.
//
// A [Builder] holds one set of sections. A [Unit] is described in memory: its
// entries form a tree, each with attributes; its [LineTable] says where code
// comes from. [Builder.Add] lays the unit out and appends it to the sections;
// nothing is patched afterwards, and a unit can be reset and described anew for
// the next function.
//
//	section           version  holds
//	.debug_abbrev     4, 5     shapes of entries, shared by all units
//	.debug_info       4, 5     the entries
//	.debug_line       4, 5     line programs
//	.debug_line_str   5        file names, directories
//	.debug_str        4, 5     strings used more than once
//	.debug_aranges    4, 5     which unit has which addresses
//
// References in comments are to sections of the DWARF 5 standard.
package dwarfgen
