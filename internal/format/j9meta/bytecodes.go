package j9meta

import "github.com/jitinject/jitinject/internal/wire"

// BytecodeEyecatcher is the first word of a BytecodeMap that is filled in
// (METADATA_MAPPING_EYECATCHER).
const BytecodeEyecatcher = 0xBC1AFFFF

// BytecodeMap maps bytecodes to instructions for hardware profiling, section (8)
// of the document: riData points to it. The compiler leaves room for it, the
// profiler fills it in later (TR_HWProfiler::registerRecords): until then there
// is another eyecatcher, and no entries.
type BytecodeMap struct {
	Offset     int    // from the start of the blob
	Eyecatcher uint64 `show:"eyecatcher,hex"` // BytecodeEyecatcher
	Size       uint64 `show:"map_size"`       // the number of entries, if there is the eyecatcher
	Entries    []BytecodeEntry
}

// A BytecodeEntry says that an instruction is of a bytecode. Both are addresses
// in the process (TR_HWPBytecodePCToIAMap).
type BytecodeEntry struct {
	BytecodePC  uint64 `show:"bytecode_pc,hex"`
	Instruction uint64 `show:"instruction_address,hex"`
}

func decodeBytecodes(c *wire.Cursor, l Layout) *BytecodeMap {
	m := &BytecodeMap{Offset: int(c.Offset())}
	m.Eyecatcher = word(c, l, "eyecatcher")
	m.Size = word(c, l, "map size")
	if m.Eyecatcher != BytecodeEyecatcher {
		return m
	}
	if most := uint64(c.Len() / (2 * l.PointerSize)); m.Size > most {
		c.Bad("map size", "%d pairs, but there is room for %d", m.Size, most)
		return m
	}
	for range m.Size {
		m.Entries = append(m.Entries, BytecodeEntry{
			BytecodePC:  word(c, l, "bytecode PC"),
			Instruction: word(c, l, "instruction address"),
		})
	}
	return m
}
