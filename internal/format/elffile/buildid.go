package elffile

import (
	"debug/elf"
	"encoding/binary"
)

// BuildID returns the build id, by which two files are known to be of one build: its bytes as a string,
// or "" if the file has none. Sections that claim more than a kilobyte are no notes of build ids.
func (f *File) BuildID() string {
	s := f.Section(".note.gnu.build-id")
	if s == nil || s.Flags&elf.SHF_COMPRESSED != 0 || s.FileSize > 1<<10 {
		return ""
	}
	notes, err := s.Data()
	if err != nil {
		return ""
	}
	return BuildIDIn(notes, f.ByteOrder)
}

// BuildIDIn returns the build id in notes, its bytes as a string, or "" if it has none. A build id is the
// description of a note, in the byte order of the file [gABI, Note Section; NT_GNU_BUILD_ID]:
//
//	u32 name size, u32 description size, u32 type, name (padded to 4), description
func BuildIDIn(notes []byte, order binary.ByteOrder) string {
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
