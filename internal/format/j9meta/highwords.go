package j9meta

import (
	"debug/elf"
	"slices"

	"github.com/jitinject/jitinject/internal/wire"
)

// How many words a full stack map has on s390, which nothing but the maps themselves can tell.

// stackAtlas reads the atlas and its maps. On s390 it finds out how many words a
// full map has, unless the header is of a VM that is too new to write high words.
func (d *decoder) stackAtlas(c *wire.Cursor) {
	d.atlas(c)
	a := d.body.Atlas
	start, other := *c, *c
	a.Maps = d.maps(c, a)
	if d.layout.Machine != elf.EM_S390 || d.layout.HighWords || d.layout.HeaderSize > d.layout.minHeaderSize() {
		return
	}
	d.layout.HighWords = true
	maps := d.maps(&other, a)
	three, four := d.likely(c, a.Maps), d.likely(&other, maps)
	if three == allRight && four == allRight { // both end at the right place: the contents decide
		odd, otherOdd := d.oddities(a, a.Maps), d.oddities(a, maps)
		if odd == otherOdd && !d.sameRanges(a.Maps, maps) {
			start.Fail("stack maps", "%d of them may have three words each, or four, and their byte code is unknown", a.NumberOfMaps)
			*c = start
			return
		}
		three, four = -odd, -otherOdd
	}
	if four > three {
		*c, a.Maps = other, maps
		return
	}
	d.layout.HighWords = false
}

// allRight is the result of likely for maps without a contradiction.
const allRight = 3

// oddities counts contents that no compiler writes: registers that the machine does not
// have (there are 16, and the bit for internal pointers), and live monitors in slots
// without a monitor.
func (d *decoder) oddities(a *StackAtlas, maps []StackMap) (n int) {
	const registers = 1<<17 - 1
	slots := slices.Clone(a.Monitors)
	for i := range d.body.Sites {
		for k, b := range d.body.Sites[i].Monitors {
			if k < len(slots) {
				slots[k] |= b
			}
		}
	}
	for i := range maps {
		m := &maps[i]
		if m.HighWord > registers {
			n++
		}
		if m.RegisterMap != GapMap && m.RegisterMap&^(registers|d.layout.internalPointerBit()) != 0 {
			n++
		}
		for k, live := range m.LiveMonitors {
			if k < len(slots) && live&^slots[k] != 0 {
				n++
			}
		}
	}
	return n
}

// sameRanges reports whether two lists of maps agree on byte codes.
func (d *decoder) sameRanges(a, b []StackMap) bool {
	return slices.EqualFunc(a, b, func(x, y StackMap) bool { return x.Low == y.Low && x.Info == y.Info && x.Gap() == y.Gap() })
}

// likely scores whether maps were read with the right number of words: such maps end where
// the next section begins. Maps read with the wrong number may end there as well. But their
// offsets rarely grow within the code, and rarely match the sites.
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
	return allRight
}
