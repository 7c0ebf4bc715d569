package dwarfgen

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/wire"
)

// A FrameEntry is the address of the FDE for the code from PC on.
type FrameEntry struct {
	PC  uint64 // address of the code's first byte
	FDE uint64 // address of the FDE in the memory image
}

// FrameHeaderSize returns the length of an .eh_frame_hdr for n FDEs, in bytes. Callers need it to
// place the header before the .eh_frame, because it has the address of that.
func FrameHeaderSize(n int) int { return 12 + 8*n }

// AppendFrameHeader appends to dst the .eh_frame_hdr for the address addr, and for an .eh_frame at
// frames. It has a sorted table of FDEs [LSB Core 10.6.2]. AppendFrameHeader sorts entries.
func AppendFrameHeader(dst []byte, order binary.ByteOrder, addr, frames uint64, entries []FrameEntry) (Section, error) {
	slices.SortFunc(entries, func(a, b FrameEntry) int { return cmp.Compare(a.PC, b.PC) })
	w, at := wire.AppendTo(dst, order), len(dst)
	w.U8(1)                  // version
	w.U8(pePCRel | peSdata4) // of the pointer to .eh_frame
	w.U8(peUdata4)           // of the count
	w.U8(peDataRel | peSdata4)
	if uint64(len(entries)) > math.MaxUint32 {
		return Section{}, fmt.Errorf("dwarf: %d FDEs", len(entries))
	}
	err := displacement(w, frames, addr+4)
	w.U32(uint32(len(entries)))
	for _, e := range entries {
		for _, to := range []uint64{e.PC, e.FDE} {
			if e := displacement(w, to, addr); err == nil {
				err = e
			}
		}
	}
	return Section{".eh_frame_hdr", w.Data[at:]}, err
}
