// Package callframe reads call frame information as .eh_frame and .eh_frame_hdr have it: the
// tables that tell unwinders where a caller's registers are [LSB Core 10.5, 10.6; DWARF5 6.4].
//
// An .eh_frame is a sequence of CIEs and FDEs. A CIE has what several FDEs have in common, an FDE is
// about a range of code. Both end with instructions that make the rows of a table. [Reader] reads
// the entries, [Place.Instructions] the instructions, and [Place.Rows] carries them out. [ReadHeader]
// reads the sorted index in front.
//
// The package reads the bytes. Its callers decide about their use: package ehframe takes tables of
// producers, the checks report violations, and the display shows everything.
package callframe
