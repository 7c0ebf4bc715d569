package j9meta

import "github.com/jitinject/jitinject/internal/wire"

// An InlinedSite is a call that the compiler replaced by the code of what it
// calls: struct TR_InlinedCallSite with its monitors.
type InlinedSite struct {
	Offset int    `show:"offset,offset,row:index"` // of the site in the blob
	Method uint64 `show:"methodInfo,hex,known"`    // the J9Method that was inlined; see Layout.Unloaded
	// Info is the call: its CallerIndex the site that it is in, its ByteCodeIndex
	// the bytecode that calls.
	Info ByteCodeInfo `show:""`
	Pad  [4]byte      // with 8-byte pointers; what was in memory
	// Monitors has a bit for each slot of the stack maps that holds an object which
	// the inlined method synchronizes on; numberOfMapBytes, lowest bit first.
	Monitors []byte `show:"monitor_autos_map,id"`
}

// sites reads as many sites as c has room for.
func (d *decoder) sites(c *wire.Cursor, mapBytes int) []InlinedSite {
	list := make([]InlinedSite, c.Len()/(d.layout.siteSize()+mapBytes))
	for i := range list {
		s := &list[i]
		s.Offset = int(c.Offset())
		s.Method = d.pointer(c, "methodInfo")
		s.Info = d.byteCodeInfo(c)
		if d.layout.PointerSize == 8 {
			copy(s.Pad[:], c.Bytes("padding", 4))
		}
		s.Monitors = c.Bytes("monitor autos map", uint64(mapBytes))
	}
	return list
}
