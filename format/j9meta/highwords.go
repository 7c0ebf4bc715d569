package j9meta

import (
	"debug/elf"

	"github.com/jitinject/jitinject/internal/wire"
)

// How many words a full stack map has on s390, which nothing but the maps themselves can tell.

// stackAtlas reads the atlas and its maps. On s390 it finds out how many words a
// full map has, unless the header is of a VM that is too new to write high words.
func (d *decoder) stackAtlas(c *wire.Cursor) {
	d.atlas(c)
	a := d.body.Atlas
	other := *c
	a.Maps = d.maps(c, a)
	if d.layout.Machine != elf.EM_S390 || d.layout.HighWords || d.layout.HeaderSize > d.layout.minHeaderSize() {
		return
	}
	d.layout.HighWords = true
	if maps := d.maps(&other, a); d.likely(&other, maps) > d.likely(c, a.Maps) {
		*c, a.Maps = other, maps
		return
	}
	d.layout.HighWords = false
}

// likely says how much maps look as if they were read with the right number of
// words: then they end where the next section begins. With the wrong one they may
// do so, too, once reading has fallen into step again; but hardly with offsets that
// grow, within the code, and sites that there are.
func (d *decoder) likely(c *wire.Cursor, maps []StackMap) int {
	if c.Err() != nil {
		return 0
	}
	h := &d.body.Header
	last := uint32(0)
	for i := range maps {
		m := &maps[i]
		site := m.Info.CallerIndex
		if m.Gap() {
			site = -1
		}
		if m.Low < last || uint64(m.Low) >= h.EndPC-h.StartPC || site < -1 || site >= len(d.body.Sites) {
			return 1
		}
		last = m.Low
	}
	if c.Len() != 0 {
		return 2
	}
	return 3
}
