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
//	.debug_line_str   5        file names, directories, texts of files
//	.debug_rnglists   5        where the code of entries in several pieces lies
//	.debug_ranges     4        the same
//	.debug_str        4, 5     strings used more than once
//	.debug_aranges    4, 5     which unit has which addresses
//
// # Frames
//
// [Frames] writes .eh_frame, and [AppendFrameHeader] .eh_frame_hdr: what the Linux
// Standard Base made of DWARF's call frame information, so that programs can unwind
// themselves. An FDE is given as rows, each of which says all that holds from one
// instruction on; what is written is the difference between a row and the one before
// it. These sections are part of the memory image, and addresses in them are relative
// to where they stand: the caller says where that will be. The header can as well be
// made for an .eh_frame that is there already.
//
// # Inlined calls
//
// A function whose code has others inlined is a tree [3.3.8]: functions without code
// (DW_TAG_subprogram with DW_AT_inline) next to the one with code, and below that an
// entry for each call (DW_TAG_inlined_subroutine) with the function as its
// DW_AT_abstract_origin, the place of the call and the addresses of what came of it.
// Names, files and lines belong to the functions without code; a function that is
// inlined into itself has such a one, too.
//
// Some readers need more than the standard says. eu-addr2line looks for calls at the
// address of the line table's row, not at the one it was asked about: have a row
// begin wherever a call's ranges begin or end. Hundreds of calls in each other are
// deep enough: elfutils needs 10 s for 1000, and gdb crashes at 20000.
//
// References in comments are to sections of the DWARF 5 standard.
package dwarfgen
