package showjitdump

import (
	"bytes"

	"github.com/jitinject/jitinject/jitdump"
)

// debugInfo shows a table of lines.
func (d *dumpViewer) debugInfo(raw *jitdump.Raw, info *jitdump.DebugInfo) error {
	o := d.Out
	stride := misplacedNames(raw, info)
	if stride != 0 {
		o.Word("names", "overwritten")
	}
	o.List("entries")
	defer o.EndList()
	var name []byte
	row := func(e *jitdump.DebugEntry) {
		o.Row()
		o.At("addr", e.Addr)
		// The last number has no fixed meaning; most write columns there.
		o.Place(e.Name, uint64(e.Line), uint64(e.Discrim))
	}
	if stride != 0 {
		for i := range int(info.Count) {
			e := info.Area[i*stride : (i+1)*stride]
			row(&jitdump.DebugEntry{
				Addr: raw.Order.Uint64(e), Line: raw.Order.Uint32(e[8:]), Discrim: raw.Order.Uint32(e[12:]),
				Name: e[jitdump.DebugEntryHead : stride-1],
			})
		}
		return nil
	}
	for e, err := range info.Entries() {
		if err != nil {
			return err
		}
		if string(e.Name) == jitdump.RepeatName {
			e.Name = name
		}
		name = e.Name
		row(&e)
	}
	return nil
}

// maxFunction is more than the code of any function has, in bytes.
const maxFunction = 1 << 28

// misplacedNames returns the length of each entry of a table that cannot be walked from
// name to name, because there are NULs in the names. All entries have one length then:
// the addresses are the function's. V8 writes names out of memory that it has
// given back, and in which its allocator has written since. It returns 0 for tables that
// are sound, or cannot be read in this way either.
func misplacedNames(raw *jitdump.Raw, info *jitdump.DebugInfo) int {
	area, n := info.Area, info.Count
	if n < 2 || n > uint64(len(area))/(jitdump.DebugEntryHead+1) || walks(raw, info) {
		return 0
	}
	for stride := len(area) / int(n); stride > jitdump.DebugEntryHead && (int(n)*stride+7)&^7 >= len(area); stride-- {
		ok := true
		for i := 0; ok && i < int(n); i++ {
			e := area[i*stride : (i+1)*stride]
			ok = e[stride-1] == 0 && near(raw, e, info.CodeAddr)
		}
		if ok {
			return stride
		}
	}
	return 0
}

// walks reports whether all entries can be walked from name to name, and are about the
// function.
func walks(raw *jitdump.Raw, info *jitdump.DebugInfo) bool {
	area := info.Area
	for range info.Count {
		if len(area) < jitdump.DebugEntryHead || !near(raw, area, info.CodeAddr) {
			return false
		}
		end := bytes.IndexByte(area[jitdump.DebugEntryHead:], 0)
		if end < 0 {
			return false
		}
		area = area[jitdump.DebugEntryHead+end+1:]
	}
	return true
}

// near reports whether an entry can be about a function at an address.
func near(raw *jitdump.Raw, entry []byte, addr uint64) bool {
	return raw.Order.Uint64(entry)-addr+maxFunction < 2*maxFunction
}
