package j9meta

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/wire"
)

// An InlinedSite is a call that the compiler replaced by the code of what it
// calls: struct TR_InlinedCallSite with its monitors.
type InlinedSite struct {
	Offset int    // of the site in the blob
	Method uint64 // the J9Method that was inlined; see Layout.Unloaded
	// Info is the call: its CallerIndex the site that it is in, its ByteCodeIndex
	// the bytecode that calls.
	Info ByteCodeInfo
	Pad  [4]byte // with 8-byte pointers; what was in memory
	// Monitors has a bit for each slot of the stack maps that holds an object which
	// the inlined method synchronizes on; numberOfMapBytes, lowest bit first.
	Monitors []byte
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

// CheckSites says whether each inlined site is in the method itself or in a site
// before it, as the compiler numbers them. Where it is not, Stack ends early. The
// error is a *wire.Error with the offset of the site.
func (b *Body) CheckSites() error {
	for i := range b.Sites {
		s := &b.Sites[i]
		caller := s.Info.CallerIndex
		if caller >= -1 && caller < i {
			continue
		}
		text := fmt.Sprintf("site %d is in site %d, of which there are %d", i, caller, len(b.Sites))
		if caller >= 0 && caller < len(b.Sites) {
			text = fmt.Sprintf("site %d is in site %d, which is not before it", i, caller)
		}
		return &wire.Error{Format: FormatName, Record: InlineInfo.String(), Field: "callerIndex",
			Offset: int64(s.Offset + b.Layout.PointerSize), Text: text}
	}
	return nil
}
