package showjitdump

import (
	"bytes"
	"iter"

	"github.com/jitinject/jitinject/jitdump"
)

func (d *dumpViewer) debugInfo(raw *jitdump.Raw, info *jitdump.DebugInfo) error {
	o, entries := d.Out, info.Entries()
	if size := overwritten(raw, info); size > 0 {
		o.Word("names", "overwritten") // -d has the right ones
		entries = entriesOf(raw, info, size)
	}
	o.List("entries")
	defer o.EndList()
	var name []byte
	for e, err := range entries {
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

// maxEntry bounds the size of an entry with an overwritten name, in bytes: no path is longer.
const maxEntry = jitdump.DebugEntryHead + 4096

// overwritten returns the size of an entry, in a table that cannot be walked from name to name because
// its names have NULs in them. It returns 0 for other tables. V8 writes names out of memory that it has
// given back, and in which its allocator has written NULs since. All names have one length then, but for
// repeated ones.
func overwritten(raw *jitdump.Raw, info *jitdump.DebugInfo) int {
	area, n := info.Area, info.Count
	if n < 2 || n > uint64(len(area))/(jitdump.DebugEntryHead+1) || fill(raw, info, 0) {
		return 0
	}
	for size := jitdump.DebugEntryHead + 1; size <= min(maxEntry, len(area)); size++ {
		if fill(raw, info, size) {
			return size
		}
	}
	return 0
}

// fill reports whether entries of a size, see entrySize, fill a table and are about its function.
func fill(raw *jitdump.Raw, info *jitdump.DebugInfo, size int) bool {
	area := info.Area
	for i := range info.Count {
		n := entrySize(area, size, i == 0)
		if n == 0 || raw.Order.Uint64(area)-info.CodeAddr+maxFunction >= 2*maxFunction {
			return false
		}
		area = area[n:]
	}
	return size == 0 || len(area) < 8
}

// maxFunction is more than the code of any function has, in bytes.
const maxFunction = 1 << 28

// entrySize returns the size of the entry at the start of area, or 0 if there is none. Size is that of
// entries which do not repeat a name, or 0 if their names end at the first NUL.
func entrySize(area []byte, size int, first bool) int {
	const head = jitdump.DebugEntryHead
	if size == 0 && len(area) > head {
		size = head + 1 + bytes.IndexByte(area[head:], 0)
	} else if !first && len(area) > head+1 && string(area[head:head+2]) == jitdump.RepeatName+"\x00" {
		size = head + 2
	}
	if size <= head || size > len(area) || area[size-1] != 0 {
		return 0
	}
	return size
}

func entriesOf(raw *jitdump.Raw, info *jitdump.DebugInfo, size int) iter.Seq2[jitdump.DebugEntry, error] {
	return func(yield func(jitdump.DebugEntry, error) bool) {
		area := info.Area
		for i := range info.Count {
			n := entrySize(area, size, i == 0)
			e := jitdump.DebugEntry{Addr: raw.Order.Uint64(area), Line: raw.Order.Uint32(area[8:]), Discrim: raw.Order.Uint32(area[12:]), Name: area[jitdump.DebugEntryHead : n-1]}
			if area = area[n:]; !yield(e, nil) {
				return
			}
		}
	}
}
