// Package dwarfline checks headers of DWARF line tables before debug/dwarf reads them.
//
// debug/dwarf allocates as many directories and files as a header of version 5 claims: up
// to 2^64, of any bytes. Older versions have lists that end with an empty entry.
package dwarfline
