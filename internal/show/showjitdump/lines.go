package showjitdump

import (
	"bytes"

	"github.com/jitinject/jitinject/jitdump"
)

// debugInfo shows a table of lines.
func (d *dumpViewer) debugInfo(raw *jitdump.Raw, info *jitdump.DebugInfo) error {
	o := d.Out
	if fits := uint64(len(info.Area)) / (jitdump.DebugEntryHead + 1); info.Count > 1 && info.Count <= fits && !walks(raw, info) {
		o.Word("names", "overwritten") // -d has the lines
		return nil
	}
	o.List("entries")
	defer o.EndList()
	var name []byte
	for e, err := range info.Entries() {
		if err != nil {
			return err
		}
		if string(e.Name) == jitdump.RepeatName {
			e.Name = name
		}
		name = e.Name
		o.Row()
		o.At("addr", e.Addr)
		// The last number has no fixed meaning; most write columns there.
		o.Place(e.Name, uint64(e.Line), uint64(e.Discrim))
	}
	return nil
}

// maxFunction is more than the code of any function has, in bytes.
const maxFunction = 1 << 28

// walks reports whether all entries can be walked from name to name, and are about the function. V8
// writes names out of memory that it has given back, and in which its allocator has written NULs since.
func walks(raw *jitdump.Raw, info *jitdump.DebugInfo) bool {
	area := info.Area
	for range info.Count {
		if len(area) < jitdump.DebugEntryHead || raw.Order.Uint64(area)-info.CodeAddr+maxFunction >= 2*maxFunction {
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
