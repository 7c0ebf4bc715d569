package ehframe

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/format/callframe"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/sorting"
)

// A Place has the code range that an .eh_frame describes, and the address of the .eh_frame when its
// producer wrote it. Relative pointers in it count from there.
type Place struct {
	Order    binary.ByteOrder
	AddrSize int    // 4 or 8
	Code     uint64 // address of the function
	CodeSize uint64
	Frames   uint64      // address of the .eh_frame; DefaultPlace sets it as perf expects
	Text     uint64      // base of pointers relative to .text; 0 if unknown
	Machine  elf.Machine // EM_NONE if unknown
}

// DefaultPlace returns the place where perf and its producers have .eh_frame: at the next multiple
// of 8 after the code.
func DefaultPlace(order binary.ByteOrder, addrSize int, code, size uint64) Place {
	return Place{Order: order, AddrSize: addrSize, Code: code, CodeSize: size, Frames: code + (size+7)&^7}
}

// format returns the place as the reader of tables has it.
func (p *Place) format() callframe.Place {
	return callframe.Place{Order: p.Order, AddrSize: p.AddrSize, Machine: p.Machine, Addr: p.Frames, Text: p.Text}
}

// Check reads the .eh_frame that a producer sent for a function [LSB Core 10.6.1]. It returns the
// table without addresses, or an error that describes the fault. Tables without an FDE are empty:
// both results are then empty.
//
// Personality routines and language data are dropped: no exceptions are thrown here. The result
// aliases frames.
//
// Some producers do not record where their tables are (LLVM copies them from its memory). Then the
// FDEs lie outside the function. If one shift moves them into the function, so that they fill it,
// Check assumes that place.
func Check(place Place, frames []byte) (jitcode.FrameTable, error) {
	k := checker{place: place, r: callframe.NewReader(place.format(), frames)}
	for {
		e, ok := k.r.Next()
		if !ok {
			break
		}
		if e.Kind == callframe.KindEnd {
			if len(k.table.FDEs) == 0 && !callframe.Blank(k.r.Rest()) {
				return jitcode.FrameTable{}, fmt.Errorf(".eh_frame: terminator at offset %#x: more bytes follow it", e.At)
			}
			break
		}
		if err := k.add(&e); err != nil {
			return jitcode.FrameTable{}, err
		}
	}
	if err := k.r.Err(); err != nil {
		return jitcode.FrameTable{}, err
	}
	if len(k.table.FDEs) == 0 {
		return jitcode.FrameTable{}, nil
	}
	return k.finish()
}

// A checker makes the table of one function.
type checker struct {
	place Place
	r     *callframe.Reader
	table jitcode.FrameTable
	begin []uint64 // start addresses of FDEs
	moved bool     // some pointer is relative to its own address
	fixed bool     // some pointer is not
}

// add adds an entry to the table.
func (k *checker) add(e *callframe.Entry) error {
	if e.Err != nil {
		return e.Err
	}
	cie := &k.r.CIEs[e.CIE]
	if e.Kind == callframe.KindCIE {
		k.table.CIEs = append(k.table.CIEs, jitcode.FrameCIE{
			CodeAlign: cie.CodeAlign, DataAlign: cie.DataAlign, ReturnReg: cie.ReturnReg,
			Signal: cie.Signal, Instructions: cie.Instructions,
		})
		return nil
	}
	if e.Size == 0 || e.Size > k.place.CodeSize {
		return fmt.Errorf(".eh_frame: FDE at offset %#x: pc range: %d bytes of a function of %d", e.At, e.Size, k.place.CodeSize)
	}
	if cie.Encoding&callframe.PCRelative != 0 {
		k.moved = true
	} else {
		k.fixed = true
	}
	used, err := k.r.Rows(cie, e.Instructions, e.InstrAt, e.Size, func(_, _ uint64, row *callframe.Row) string { return row.Fault(&k.r.Place) })
	if err != nil {
		return err
	}
	k.table.FDEs = append(k.table.FDEs, jitcode.FrameFDE{CIE: e.CIE, Offset: k.mask(e.Low - k.place.Code), Size: e.Size, Instructions: e.Instructions[:used:used]})
	k.begin = append(k.begin, e.Low)
	return nil
}

func (k *checker) mask(v uint64) uint64 {
	if k.place.AddrSize == 4 {
		return uint64(uint32(v))
	}
	return v
}

// finish returns the table if its FDEs lie in the function, and do not overlap.
func (k *checker) finish() (jitcode.FrameTable, error) {
	if len(k.table.FDEs) == 0 {
		return k.table, nil
	}
	if !k.inside(0) {
		if err := k.move(); err != nil {
			return jitcode.FrameTable{}, err
		}
	}
	sorted := slices.Clone(k.table.FDEs)
	sorting.By(sorted, func(a, b jitcode.FrameFDE) int { return cmp.Compare(a.Offset, b.Offset) })
	for i := 1; i < len(sorted); i++ {
		if a, b := sorted[i-1], sorted[i]; b.Offset < a.Offset+a.Size {
			return jitcode.FrameTable{}, fmt.Errorf(".eh_frame: the FDEs for offsets %#x to %#x and %#x to %#x overlap", a.Offset, a.Offset+a.Size, b.Offset, b.Offset+b.Size)
		}
	}
	return k.table, nil
}

// move shifts the FDEs into the function if one shift does.
func (k *checker) move() error {
	low, high := k.begin[0], k.begin[0]
	for i, f := range k.table.FDEs {
		low, high = min(low, k.begin[i]), max(high, k.begin[i]+f.Size)
	}
	const padding = 16
	if shift := k.mask(k.place.Code - low); k.moved && !k.fixed && high-low <= k.place.CodeSize && high-low+padding > k.place.CodeSize && k.inside(shift) {
		for i := range k.table.FDEs {
			k.table.FDEs[i].Offset = k.mask(k.table.FDEs[i].Offset + shift)
		}
		k.table.Moved = true
		return nil
	}
	for i, f := range k.table.FDEs {
		if f.Offset >= k.place.CodeSize || f.Size > k.place.CodeSize-f.Offset {
			return fmt.Errorf(".eh_frame: the FDE for %#x to %#x is not in the function at %#x to %#x", k.begin[i], k.begin[i]+f.Size, k.place.Code, k.place.Code+k.place.CodeSize)
		}
	}
	return nil
}

// inside reports whether all FDEs, shifted by shift, lie in the function.
func (k *checker) inside(shift uint64) bool {
	for _, f := range k.table.FDEs {
		if at := k.mask(f.Offset + shift); at >= k.place.CodeSize || f.Size > k.place.CodeSize-at {
			return false
		}
	}
	return true
}
