// Package checkobject checks ELF files: sections, segments and symbols of all of them, and of
// objects of jitted functions also the build id, the unwind tables and the DWARF. It reads with
// debug/elf and debug/dwarf, and may not know what writes objects.
package checkobject
