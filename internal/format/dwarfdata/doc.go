// Package dwarfdata lets debug/dwarf read debugging information that anybody may have written.
//
// debug/dwarf trusts its input. Its time and memory are not bounded by the size of that: an attribute copies
// its string, an abbreviation may have any number of attributes without bytes, tables of abbreviations may
// overlap, and units may share a line table. (Go 1.26)
//
// [New] checks the headers of units, the abbreviations and the strings first, and a [Reader] counts the
// memory of each entry. [CheckLineHeader] checks the header of a line table: debug/dwarf allocates as many
// directories and files as a header of version 5 claims, up to 2^64 of any bytes.
package dwarfdata
