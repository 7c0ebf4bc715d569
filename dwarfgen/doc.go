// Package dwarfgen writes DWARF debugging information, versions 4 and 5, in either byte order, for
// 4- and 8-byte addresses, in the 32-bit format. It does not depend on ELF or on just-in-time
// compilers.
//
// A [Builder] has one set of sections. A [Unit] is described in memory: its entries form a tree,
// each with attributes, and its [LineTable] has the source positions of code. [Builder.Add] appends
// the unit to the sections. Nothing is patched afterwards, and a unit can be reset for the next
// function.
//
//	section           version  content
//	.debug_abbrev     4, 5     shapes of entries, shared by all units
//	.debug_info       4, 5     the entries
//	.debug_line       4, 5     line programs
//	.debug_line_str   5        file names, directories, texts of files
//	.debug_rnglists   5        code ranges of entries with several
//	.debug_ranges     4        the same
//	.debug_str        4, 5     strings used more than once
//	.debug_aranges    4, 5     addresses of each unit
//
// # Frames
//
// [Frames] writes .eh_frame, and [AppendFrameHeader] .eh_frame_hdr. The Linux Standard Base derived
// them from DWARF's call frame information, so that programs can unwind themselves. An FDE is given
// as rows. Each row has all rules from one instruction on, and only the difference to the row
// before is written. These sections are part of the memory image, and their addresses are relative
// to their own place, which the caller gives. The header can also be made for an existing
// .eh_frame.
//
// # Inlined calls
//
// A function with inlined calls is a tree [3.3.8]. Functions without code (DW_TAG_subprogram with
// DW_AT_inline) are next to the one with code. Below that is an entry for each call
// (DW_TAG_inlined_subroutine). It has the function as its DW_AT_abstract_origin, the place of the
// call and the addresses of its code. Names, files and lines belong to the functions without code.
// A function that is inlined into itself has one, too.
//
// Some readers need more than the standard requires. eu-addr2line searches calls at the address of
// the line table's row, not at the requested one. So a row should begin wherever a call's ranges
// begin or end. Limit the depth of calls to some hundreds: elfutils needs 10 s for 1000, and gdb
// crashes at 20000.
//
// References in comments are to sections of the DWARF 5 standard.
package dwarfgen
