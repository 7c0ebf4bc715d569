package jitdump

import (
	"bytes"

	"github.com/jitinject/jitinject/jitdump"
)

// V8 writes the file names of optimized code from freed memory. The allocator's links, with NULs,
// have replaced their first bytes. The length and the rest of the name are still right, and the
// function's own name contains the script's.

// freedBytes is how many bytes of a freed block glibc's allocator overwrites.
const freedBytes = 16

// intactName returns the end of script that freed is the damaged form of. It must have the same
// length and the same bytes after the overwritten ones. The overwritten bytes must be impossible in
// a name: otherwise freed may be another script with the same ending.
func intactName(script, freed []byte) ([]byte, bool) {
	n := len(script) - len(freed)
	if n < 1 || script[n-1] != ' ' || len(freed) > freedBytes && !bytes.Equal(script[n:][freedBytes:], freed[freedBytes:]) {
		return nil, false
	}
	front := freed[:min(freedBytes, len(freed))]
	if !bytes.Equal(script[n:], freed) && !isGarbled(front, true) {
		return nil, false
	}
	return script[n:], true
}

// freedName returns the name in a debug record if NULs were written into its names, or else
// nil. The proof: walking fails, but entries with names of one length fill the area. Each
// name ends in a NUL, and its intact part matches the script's.
func freedName(info *jitdump.DebugInfo, script []byte) ([]byte, freedLayout) {
	if len(script) == 0 || info.Count == 0 || info.Count > uint64(len(info.Area))/jitdump.DebugEntryHead || walks(info) {
		return nil, freedLayout{}
	}
	for i := len(script) - 1; i > 0; i-- {
		if script[i-1] != ' ' {
			continue
		}
		for _, repeats := range []bool{false, true} {
			if fills(info, script, freedLayout{len(script) - i, repeats}) {
				return script[i:], freedLayout{len(script) - i, repeats}
			}
		}
	}
	return nil, freedLayout{}
}

// A freedLayout describes entries with freed names.
type freedLayout struct {
	length  int  // of the names, in bytes
	repeats bool // names after the first may be RepeatName; freed names may begin with its bytes
}

// fills reports whether entries of a layout fill a debug record.
func fills(info *jitdump.DebugInfo, script []byte, l freedLayout) bool {
	area := info.Area
	for n := range info.Count {
		size, ok := freedEntry(area, script, l, n == 0)
		if !ok {
			return false
		}
		area = area[size:]
	}
	return len(area) < 8
}

// freedEntry returns the size of the entry at the start of area, if its name is a freed one
// of a layout. V8 10 repeats names, as the format allows.
func freedEntry(area, script []byte, l freedLayout, first bool) (size int, ok bool) {
	const head = jitdump.DebugEntryHead
	length := l.length
	if l.repeats && !first && len(area) >= head+2 && area[head+1] == 0 && string(area[head:head+1]) == jitdump.RepeatName {
		return head + 2, true
	}
	if len(area) <= head+length || area[head+length] != 0 {
		return 0, false
	}
	_, ok = intactName(script, area[head:head+length])
	return head + length + 1, ok
}

// walks reports whether the entries, read name by name, fill the area up to padding.
func walks(info *jitdump.DebugInfo) bool {
	area := info.Area
	for range info.Count {
		if len(area) < jitdump.DebugEntryHead {
			return false
		}
		end := bytes.IndexByte(area[jitdump.DebugEntryHead:], 0)
		if end < 0 {
			return false
		}
		area = area[jitdump.DebugEntryHead+end+1:]
	}
	return len(area) < 8
}

// entries calls yield for each entry of a debug record, with the intended file name.
func (r *Reader) entries(info *jitdump.DebugInfo, yield func(jitdump.DebugEntry)) error {
	name, _ := r.listing.v8Name(r.fn.Name)
	script := name.script
	if file, layout := freedName(info, script); file != nil {
		r.fixes.fileNames.Add(1)
		order := r.listing.order()
		area := info.Area
		for n := range info.Count {
			yield(jitdump.DebugEntry{Addr: order.Uint64(area), Line: order.Uint32(area[8:]), Discrim: order.Uint32(area[12:]), Name: file})
			size, _ := freedEntry(area, script, layout, n == 0)
			area = area[size:]
		}
		return nil
	}
	repaired := false
	for e, err := range info.Entries() {
		if err != nil {
			return err
		}
		if len(e.Name) > freedBytes && script != nil {
			if file, ok := intactName(script, e.Name); ok && !bytes.Equal(file, e.Name) {
				e.Name, repaired = file, true
			}
		}
		yield(e)
	}
	if repaired {
		r.fixes.fileNames.Add(1)
	}
	return nil
}
