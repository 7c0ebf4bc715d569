// Package showelf shows ELF files. Of objects of jitted code it shows functions, with lines, inlined
// calls and code, and unwind tables; of core dumps the process, its threads, files and memory; of
// other files the sections. The package knows no other format.
package showelf
