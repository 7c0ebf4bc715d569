package checkrecording

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/perfdata"
)

// attrIDs is where, from the end of an entry of the attr table, it says where its ids
// are: a u64 offset and a u64 size.
const attrIDs = 16

// sections checks where the parts of the file are.
func (c *checker) sections() {
	f := c.rec.Seekable
	h := f.Header
	if h.Unfinished {
		c.Violation("recording/unfinished", 0, "the header does not say how much data there is")
	}
	if c.rec.IsDir {
		return // perfdata has its files
	}
	type part struct {
		perfdata.Section
		name string
	}
	head := uint64(h.Order.Uint64(c.read(8, 8)))
	parts := []part{
		{perfdata.Section{Offset: 0, Size: head}, "the header"},
		{h.Attrs, "the attrs"}, {h.Data, "the data"}, {h.EventTypes, "the event types"},
	}
	if h.AttrSize > attrIDs {
		for i := uint64(0); i < h.Attrs.Size/h.AttrSize; i++ {
			entry := c.read(int64(h.Attrs.Offset+(i+1)*h.AttrSize-attrIDs), attrIDs)
			parts = append(parts, part{perfdata.Section{Offset: h.Order.Uint64(entry), Size: h.Order.Uint64(entry[8:])}, "the ids of an event"})
		}
	}
	if n := uint64(len(f.Features)); n > 0 {
		table := perfdata.Section{Offset: h.Data.Offset + h.Data.Size, Size: 16 * n}
		parts = append(parts, part{table, "the table of features"})
		b := c.read(int64(table.Offset), int(table.Size))
		for i := range f.Features {
			parts = append(parts, part{perfdata.Section{Offset: h.Order.Uint64(b[16*i:]), Size: h.Order.Uint64(b[16*i+8:])}, "a feature"})
		}
	}
	parts = slices.DeleteFunc(parts, func(p part) bool { return p.Size == 0 })
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.Offset, b.Offset) })
	for i, p := range parts {
		end := p.Offset + p.Size
		if end < p.Offset || end > uint64(c.rec.Size) {
			c.Violation("recording/sections", int64(p.Offset), "%s has %d bytes at %#x; the file has %d", p.name, p.Size, p.Offset, c.rec.Size)
		} else if i > 0 && parts[i-1].Offset+parts[i-1].Size > p.Offset {
			c.Violation("recording/sections", int64(p.Offset), "%s begins inside %s", p.name, parts[i-1].name)
		}
	}
	if ids := f.Feature(perfdata.FeatureBuildID); ids != nil {
		b, err := ids.Bytes()
		if err == nil {
			for _, e := range perfdata.BuildIDs(h.Order, b) {
				err = e
			}
		}
		if err != nil {
			c.Violation("recording/sections", -1, "the table of build ids: %v", err)
		}
	}
}

// read returns n bytes of the file, zeros where it has none.
func (c *checker) read(at int64, n int) []byte {
	b := make([]byte, n)
	if at >= 0 {
		_, _ = c.rec.Src.ReadAt(b, at)
	}
	return b
}
