package j9meta

import "github.com/jitinject/jitinject/internal/wire"

// OSRInfo tells how to leave the body for the interpreter (on-stack
// replacement), section (6) of the document. It consists of two sections, each
// with its size in front; see TR_OSRCompilationData::writeMetaData.
type OSRInfo struct {
	Offset int // of section 0, from the start of the blob

	// Section 0. With TR_DisableOSRSharedSlots it is nothing but its own size:
	// then SizeOnly is set, and the next two fields are not there.
	SizeOnly       bool
	MaxScratchSize uint32       // bytes, of the scratch buffer
	Mappings       []OSRMapping // by growing PC

	// CatchBlocks is section 1: the offset from startPC of each method's OSR catch
	// block, 0 where there is none. The first is that of the body's own method, the
	// one after it of inlined site 0, and so on.
	CatchBlocks []uint32
}

// An OSRMapping says which slots that share their place are live at an instruction.
type OSRMapping struct {
	PC    uint32 // offset from startPC
	Slots []OSRSlot
}

// An OSRSlot says where a live value comes from and where it goes
// (TR_ScratchBufferInfo).
type OSRSlot struct {
	Site          int32  `show:"inlined_site_index"`    // index of the inlined site, -1 for the body's own method
	BufferOffset  uint32 `show:"osr_buffer_offset"`     // bytes, in the OSR buffer
	ScratchOffset uint32 `show:"scratch_buffer_offset"` // bytes, in the scratch buffer
	Size          uint32 `show:"sym_size"`              // bytes
}

const (
	osrMappingSize = 8 // without the slots
	osrSlotSize    = 16
	osrCatchSize   = 8 // of section 1, without the offsets
)

func decodeOSR(c *wire.Cursor) *OSRInfo {
	o := &OSRInfo{Offset: int(c.Offset())}
	o.decodeShared(c)
	o.decodeCatchBlocks(c)
	return o
}

func (o *OSRInfo) decodeShared(c *wire.Cursor) {
	start := *c
	size := c.U32("section size")
	if o.SizeOnly = size == 4; o.SizeOnly {
		return
	}
	o.MaxScratchSize = c.U32("max scratch buffer size")
	n := c.U32("number of mappings")
	if uint64(n)*osrMappingSize > uint64(c.Len()) {
		c.Bad("number of mappings", "%d mappings do not fit into the %d bytes that follow", n, c.Len())
		return
	}
	for range n {
		o.Mappings = append(o.Mappings, decodeOSRMapping(c))
		if c.Err() != nil {
			return
		}
	}
	if used := c.Pos() - start.Pos(); uint64(used) != uint64(size) && c.Err() == nil {
		*c = start // where the size is
		c.Fail("section size", "section 0 says it has %d bytes, what it holds has %d", size, used)
	}
}

func (o *OSRInfo) decodeCatchBlocks(c *wire.Cursor) {
	start := *c
	size := c.U32("section size")
	n := c.U32("number of mappings")
	if uint64(n)*4 > uint64(c.Len()) {
		c.Bad("number of mappings", "%d OSR catch blocks do not fit into the %d bytes that follow", n, c.Len())
		return
	}
	if uint64(size) != osrCatchSize+4*uint64(n) && c.Err() == nil {
		*c = start
		c.Fail("section size", "section 1 says it has %d bytes, what it holds has %d", size, osrCatchSize+4*uint64(n))
		return
	}
	for range n {
		o.CatchBlocks = append(o.CatchBlocks, c.U32("OSR catch block"))
	}
}

func decodeOSRMapping(c *wire.Cursor) OSRMapping {
	m := OSRMapping{PC: c.U32("instruction PC offset")}
	n := c.U32("number of scratch buffer infos")
	if uint64(n)*osrSlotSize > uint64(c.Len()) {
		c.Bad("number of scratch buffer infos", "%d of them do not fit into the %d bytes that follow", n, c.Len())
		return m
	}
	for range n {
		m.Slots = append(m.Slots, OSRSlot{
			Site:          int32(c.U32("inlined site index")),
			BufferOffset:  c.U32("OSR buffer offset"),
			ScratchOffset: c.U32("scratch buffer offset"),
			Size:          c.U32("sym size"),
		})
	}
	return m
}
