package checkj9

import (
	"debug/elf"
	"fmt"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/verify"
)

// Inlined call sites and stack maps of OpenJ9's metadata.

// extent says where the code is, in offsets.
func (c *Metadata) extent() string {
	if c.Code.cold < c.Code.end {
		return fmt.Sprintf("[0, %#x) and [%#x, %#x)", c.Code.Warm, c.Code.cold, c.Code.end)
	}
	return fmt.Sprintf("[0, %#x)", c.Code.end)
}

// sites checks the inlined call sites.
func (c *Metadata) sites() {
	pointer := c.Body.Layout.PointerSize
	var flags quirk
	for i := range c.Body.Sites {
		s := &c.Body.Sites[i]
		if s.Method == 0 {
			c.Violation("j9/site-method", c.place(s.Offset), "call site %d has no method", i)
		}
		info := c.place(s.Offset + pointer)
		if caller := s.Info.CallerIndex; caller < -1 || caller >= i {
			c.Violation("j9/site-caller", info, "the caller of call site %d is %d", i, caller)
		}
		if index := s.Info.ByteCodeIndex; index < 0 || index > maxIndex {
			c.Violation("j9/site-index", info, "call site %d is at byte code index %d", i, index)
		}
		// The bit has another meaning in the compiler, and may be there without monitors.
		if !s.Info.SameReceiver && !verify.IsZero(s.Monitors) {
			flags.add(info, "isSameReceiver of call site %d is not set, its monitor mask is %#x", i, s.Monitors)
		}
		if highest(s.Monitors) {
			c.highBits.add(c.place(s.Offset+pointer+pointer), "the monitor mask of call site %d is %#x", i, s.Monitors)
		}
	}
	if flags.n > 0 {
		c.Violation("j9/site-monitors", flags.at, "%s", flags.String())
	}
}

// highest reports whether a mask has its highest bit, which no slot has.
func highest(bits []byte) bool { return len(bits) > 0 && bits[len(bits)-1]&0x80 != 0 }

// A habit is what a writer does again and again: one complaint is enough for a body.
type quirk struct {
	n    int
	at   int64
	text string // of the first
}

func (h *quirk) add(at int64, format string, args ...any) {
	if h.n++; h.n == 1 {
		h.at, h.text = at, fmt.Sprintf(format, args...)
	}
}

func (h *quirk) String() string {
	if h.n > 1 {
		return fmt.Sprintf("%s, and so on: %d in all", h.text, h.n)
	}
	return h.text
}

// atlas checks the stack atlas and its maps.
func (c *Metadata) atlas() {
	a := c.Body.Atlas
	if a == nil {
		c.Violation("j9/no-atlas", c.field(14), "gcStackAtlas is 0")
		return
	}
	bytes := int(a.NumberOfMapBytes)
	counts := c.place(a.Offset + 2*c.Body.Layout.PointerSize)
	switch {
	case int(a.NumberOfParmSlots) > 8*bytes-1:
		c.Violation("j9/atlas-counts", counts, "%d slots of parameters have no place in %s", a.NumberOfParmSlots, verify.Counted(bytes, "map byte"))
	case c.Body.Layout.Machine == elf.EM_ARM && bytes%4 != 0:
		c.Violation("j9/atlas-counts", counts, "%s, on ARM", verify.Counted(bytes, "map byte"))
	}
	if highest(a.Monitors) {
		c.highBits.add(c.place(a.Offset), "the monitor mask of the method is %#x", a.Monitors)
	}
	if len(a.Maps) == 0 {
		c.Violation("j9/no-maps", counts, "there are no maps")
		return
	}
	c.firstMap(a)
	c.maps(a)
	first := c.address(a.Maps[0].Offset)
	if m := c.Body.StackAlloc; m != nil && m.FirstMap != first {
		c.Violation("j9/first-map-pointer", c.place(m.Offset), "the stack alloc map points to %#x, the first map is at %#x", m.FirstMap, first)
	}
	if m := c.Body.InternalPointers; m != nil {
		if m.FirstMap != first {
			c.Violation("j9/first-map-pointer", c.place(m.Offset), "the internal pointer map points to %#x, the first map is at %#x", m.FirstMap, first)
		}
		if len(m.Extra) > 0 {
			c.Violation("j9/internal-pointers", c.place(m.Offset), "its %s have %d bytes of the %d that its size says", verify.Counted(len(m.Arrays), "array"), int(m.Size)-len(m.Extra), m.Size)
		}
	}
}

// firstMap checks the map of the parameters.
func (c *Metadata) firstMap(a *j9meta.StackAtlas) {
	m := &a.Maps[0]
	switch {
	case m.Shared:
		c.Violation("j9/first-shared", c.place(m.Offset), "the first map shares that of the one before it")
	case m.Low != 0:
		c.Violation("j9/first-map", c.place(m.Offset), "the first map begins at %#x", m.Low)
	case m.Info.CallerIndex != -1 && !m.Gap():
		c.Violation("j9/first-map", c.place(m.Offset), "the caller index of the first map is %d", m.Info.CallerIndex)
	}
}

// maps checks the maps one by one.
func (c *Metadata) maps(a *j9meta.StackAtlas) {
	h := &c.Body.Header
	low := 2
	if h.Flags&j9meta.GCMap32BitOffsets != 0 || c.Body.Layout.Machine == elf.EM_ARM {
		low = 4
	}
	arrays := make(map[uint8]bool)
	if c.Body.InternalPointers != nil {
		for _, array := range c.Body.InternalPointers.Arrays {
			arrays[array.Index] = true
		}
	}
	masks, shared := c.masks(a), 0
	var live quirk
	for i := range a.Maps {
		m := &a.Maps[i]
		at := c.place(m.Offset)
		if i > 0 {
			switch before := a.Maps[i-1].Low; {
			case m.Low < before:
				c.Violation("j9/map-order", at, "map %d begins at %#x, the one before it at %#x", i, m.Low, before)
			case m.Low == before:
				c.Violation("j9/map-empty", at, "maps %d and %d begin at %#x", i-1, i, m.Low)
			}
		}
		if c.Code.Known && !c.Code.has(uint64(m.Low)) {
			c.Violation("j9/map-outside", at, "map %d begins at %#x, the code is %s", i, m.Low, c.extent())
		}
		if m.Shared {
			shared++
		}
		if !m.Gap() {
			if caller := m.Info.CallerIndex; caller < -1 || caller >= len(c.Body.Sites) {
				c.Violation("j9/map-site", at+int64(low), "the caller index of map %d is %d, and there are %s", i, caller, verify.Counted(len(c.Body.Sites), "call site"))
			}
			if index := m.Info.ByteCodeIndex; index < -1 || index > maxIndex {
				c.Violation("j9/map-index", at+int64(low), "map %d is at byte code index %d", i, index)
			}
		}
		c.pointers(i, m, arrays)
		c.liveMonitors(i, m, masks, &live)
	}
	if live.n > 0 {
		c.Violation("j9/live-monitors", live.at, "%s", live.String())
	}
	if shared > 0 && (h.Flags&j9meta.IsFSDComp != 0 || h.ExceptionBytecodes()) {
		c.Violation("j9/map-debug", c.place(a.Offset), "%d of the %s of a method that was compiled for debugging share another's", shared, verify.Counted(len(a.Maps), "map"))
	}
}

// pointers checks the registers of a map that point into arrays.
func (c *Metadata) pointers(i int, m *j9meta.StackMap, arrays map[uint8]bool) {
	if m.Pointers == nil {
		return
	}
	if n := len(m.Pointers.Extra); n > 0 || m.Pointers.Size == 0 {
		c.Violation("j9/map-pointers", c.place(m.Offset), "the arrays that registers of map %d point into have %d bytes of the %d that their size says", i, int(m.Pointers.Size)-n, m.Pointers.Size)
		return
	}
	for _, array := range m.Pointers.Arrays {
		if !arrays[array.Index] {
			c.Violation("j9/map-pointers", c.place(m.Offset), "a register of map %d points into array %d, which the internal pointer map does not have", i, array.Index)
			return
		}
	}
}

// masks returns the slots that hold monitors of the method or of an inlined one.
func (c *Metadata) masks(a *j9meta.StackAtlas) []byte {
	all := make([]byte, a.NumberOfMapBytes)
	or := func(mask []byte) {
		for i := range min(len(all), len(mask)) {
			all[i] |= mask[i]
		}
	}
	or(a.Monitors)
	for i := range c.Body.Sites {
		or(c.Body.Sites[i].Monitors)
	}
	return all
}

// liveMonitors checks the monitors that are live at a map.
func (c *Metadata) liveMonitors(i int, m *j9meta.StackMap, masks []byte, unknown *quirk) {
	if m.LiveMonitors == nil {
		return
	}
	if highest(m.LiveMonitors) {
		c.highBits.add(c.place(m.Offset), "the live monitors of map %d are %#x", i, m.LiveMonitors)
	}
	for j, live := range m.LiveMonitors {
		if j == len(m.LiveMonitors)-1 {
			live &^= 0x80
		}
		if j < len(masks) && live&^masks[j] != 0 {
			unknown.add(c.place(m.Offset), "the live monitors of map %d are %#x, and only %#x are monitors", i, m.LiveMonitors, masks)
			return
		}
	}
}
