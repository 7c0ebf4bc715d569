// Package showelf shows ELF files. Of objects of jitted code it shows unwind tables, and functions
// with lines, inlined calls and code. Of core dumps it shows the process, its threads, files and
// memory, and of other files the sections. The package knows no other format.
package showelf
