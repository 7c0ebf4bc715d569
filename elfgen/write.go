package elfgen

import (
	"io"

	"github.com/jitinject/jitinject/internal/wire"
)

// WriteTo writes the file to w, except for fixed sections and those with Room. The caller writes these to w at
// their Offset, before or after. Long padding is not written, so w must be empty. The File has to
// be Reset after that.
func (f *File) WriteTo(w io.WriterAt) error {
	l, err := f.lay()
	if err != nil {
		return err
	}
	out := &f.out
	out.Reset(w, 0)
	defer out.Reset(nil, 0) // f must not keep w
	b := wire.NewBuffer(f.target.Order)
	f.header(b, &l)
	out.Bytes(b.Data)
	for i := range f.sections {
		s := &f.sections[i]
		if i == 0 || s.Fixed {
			continue
		}
		out.SkipTo(int64(s.offset))
		if s.Room > 0 && len(s.Data) == 0 {
			out.Leave(int64(s.Room))
			continue
		}
		out.Bytes(s.Data)
		for _, p := range s.Pieces {
			out.Bytes(p)
		}
	}
	out.SkipTo(int64(l.phoff))
	b.Reset(f.target.Order)
	f.headers(b)
	out.Bytes(b.Data)
	return out.Flush()
}

// Offset returns the file offset of a section, in bytes. All sections before it must have been
// added. The offset is also the section's address, if that is part of the memory image and its Away
// is 0.
func (f *File) Offset(id SectionID) uint64 {
	f.place()
	return f.sections[id].offset
}
