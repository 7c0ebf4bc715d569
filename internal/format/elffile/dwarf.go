package elffile

import "github.com/jitinject/jitinject/internal/format/dwarfdata"

// DWARF reads the debugging information, or returns nil if the file has none.
// Relocations of an ET_REL file are not applied.
func (f *File) DWARF() (d *dwarfdata.Data, err error) {
	sections := make(map[string][]byte)
	for _, name := range dwarfdata.Names {
		s := f.Section(name)
		if s == nil {
			continue
		}
		if sections[name], err = s.Data(); err != nil {
			return nil, err
		}
	}
	return dwarfdata.New(f.ByteOrder, sections)
}
