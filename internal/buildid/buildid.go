package buildid

import (
	"debug/elf"
	"encoding/binary"
)

// Of returns the build id of a file, its bytes as a string, or "" if it has none. Sections
// that claim more than a kilobyte are no notes of build ids.
func Of(f *elf.File) string {
	s := f.Section(".note.gnu.build-id")
	if s == nil || s.Type == elf.SHT_NOBITS || s.Flags&elf.SHF_COMPRESSED != 0 || s.FileSize > 1<<10 {
		return ""
	}
	note, err := s.Data()
	if err != nil || len(note) < 12 {
		return ""
	}
	name, desc := f.ByteOrder.Uint32(note), f.ByteOrder.Uint32(note[4:])
	at := 12 + (uint64(name)+3)&^3
	if at+uint64(desc) > uint64(len(note)) {
		return ""
	}
	return string(note[at : at+uint64(desc)])
}

// InNotes returns the build id in a segment of notes, its bytes as a string, or "" if it has none.
func InNotes(notes []byte, order binary.ByteOrder) string {
	const header, gnu, buildID = 12, "GNU\x00", 3 // NT_GNU_BUILD_ID
	for len(notes) >= header {
		name, desc, kind := uint64(order.Uint32(notes)), uint64(order.Uint32(notes[4:])), order.Uint32(notes[8:])
		at := header + (name+3)&^3
		end := at + (desc+3)&^3
		if at+desc > uint64(len(notes)) {
			return ""
		}
		if kind == buildID && name == uint64(len(gnu)) && string(notes[header:header+len(gnu)]) == gnu {
			return string(notes[at : at+desc])
		}
		notes = notes[min(end, uint64(len(notes))):]
	}
	return ""
}
