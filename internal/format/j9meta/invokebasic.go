package j9meta

import "github.com/jitinject/jitinject/internal/wire"

// InvokeBasicInfo lists the calls that may end in MethodHandle.invokeBasic
// (struct J9JITInvokeBasicCallInfo). Releases since 0.51 have it; the document
// does not. It begins at a multiple of the size of a pointer.
type InvokeBasicInfo struct {
	Offset int               // from the start of the blob
	Pad    [4]byte           `show:"padding,opt"` // behind the number of sites, if pointers have 8 bytes
	Sites  []InvokeBasicSite `show:"numSites,len"`
}

// An InvokeBasicSite is one of the calls (struct J9JITInvokeBasicCallSite).
type InvokeBasicSite struct {
	ReturnOffset uint32  `show:"jitReturnAddressOffset,hex"` // of the return address, from startPC
	ArgSlots     uint8   `show:"numArgSlots"`
	Pad          [3]byte `show:"padding,opt"`
	J2IThunk     uint64  `show:"j2iThunk,hex"` // address, or 0
}

func invokeBasicSiteSize(pointer int) int { return 8 + pointer }

func decodeInvokeBasic(c *wire.Cursor, l Layout) *InvokeBasicInfo {
	v := &InvokeBasicInfo{Offset: int(c.Offset())}
	n := c.U32("numSites")
	if size := uint64(n) * uint64(invokeBasicSiteSize(l.PointerSize)); size > uint64(c.Len()) {
		c.Bad("numSites", "%d sites have %d bytes, %d follow", n, size, c.Len())
		return v
	}
	if l.PointerSize == 8 {
		copy(v.Pad[:], c.Bytes("padding", 4))
	}
	for range n {
		s := InvokeBasicSite{ReturnOffset: c.U32("jitReturnAddressOffset"), ArgSlots: c.U8("numArgSlots")}
		copy(s.Pad[:], c.Bytes("padding", 3))
		s.J2IThunk = word(c, l, "j2iThunk")
		v.Sites = append(v.Sites, s)
	}
	return v
}
