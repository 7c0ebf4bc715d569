package buildid

import "debug/elf"

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
