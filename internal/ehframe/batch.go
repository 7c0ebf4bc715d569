package ehframe

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/format/callframe"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/sorting"
)

// A Batch is an .eh_frame of several functions at a known address. LLVM's ORC writes one for each
// object file (PerfSupportPlugin.cpp of LLVM 18 and later). Its .eh_frame_hdr has no table of FDEs,
// and has the absolute address of .eh_frame in the process.
type Batch struct {
	Addr   uint64 // of .eh_frame
	Text   uint64 // of .text; 0 if unknown
	Offset int    // of .eh_frame in the unwind data, in bytes
	Size   int    // of .eh_frame, in bytes

	fdes []batchFDE // sorted by address
	// lowest has the lowest end of code of parts of fdes, as a binary tree: that of node i is of
	// its children 2i and 2i+1, and the leaves are fdes.
	lowest []uint64
	// taken counts the FDEs of functions for which Has was called.
	taken int
}

// A batchFDE is the place of an FDE, and the range of its code.
type batchFDE struct {
	low, high uint64 // addresses of code
	at, cie   int    // offsets in .eh_frame
}

// ReadBatch finds the FDEs of unwind data. ok is false if the header has no absolute address, or if
// the tables are unreadable. Then they belong to one function, and [Split] and [Check] read them.
func ReadBatch(order binary.ByteOrder, addrSize int, data []byte, headerSize uint64) (b *Batch, ok bool) {
	frames, header, err := Split(order, data, headerSize)
	if err != nil || len(frames) == 0 {
		return nil, false
	}
	addr, ok := callframe.FramesAddress(order, addrSize, header)
	if !ok {
		return nil, false
	}
	if b, err = NewBatch(order, addrSize, frames, addr, 0); err != nil {
		return nil, false
	}
	if &header[0] == &data[0] {
		b.Offset = len(header)
	}
	return b, len(b.fdes) > 0
}

// NewBatch finds the FDEs of an .eh_frame at an address. text is the address of .text, or 0. It
// fails if an entry is unreadable. Relocated tables of an ELF object are such a batch.
func NewBatch(order binary.ByteOrder, addrSize int, frames []byte, addr, text uint64) (*Batch, error) {
	b := &Batch{Addr: addr, Text: text, Size: len(frames)}
	r := callframe.NewReader(callframe.Place{Order: order, AddrSize: addrSize, Addr: addr, Text: text}, frames)
	for {
		e, ok := r.Next()
		if !ok || e.Kind == callframe.KindEnd {
			break
		}
		switch {
		case e.Err != nil:
			return nil, e.Err
		case e.Kind == callframe.KindCIE && e.Length > maxCIE:
			return nil, fmt.Errorf(".eh_frame: CIE at offset %#x: %d bytes", e.At, e.Length)
		case e.Kind == callframe.KindFDE && e.Size > 0:
			b.fdes = append(b.fdes, batchFDE{low: e.Low, high: e.Low + e.Size, at: e.At, cie: r.CIEs[e.CIE].At})
		}
	}
	if r.Err() != nil {
		return nil, r.Err()
	}
	sorting.Stable(b.fdes, func(a, b batchFDE) int { return cmp.Compare(a.low, b.low) })
	n := len(b.fdes)
	b.lowest = make([]uint64, 2*n)
	for i := 2*n - 1; i > 0; i-- {
		if i >= n {
			b.lowest[i] = b.fdes[i-n].high
		} else {
			b.lowest[i] = min(b.lowest[2*i], b.lowest[2*i+1])
		}
	}
	return b, nil
}

// maxCIE bounds the size of a CIE in a batch, in bytes: it is read again for each function.
// Compilers' CIEs have less than 64.
const maxCIE = 512

// maxUses bounds how many functions have an FDE of a batch, on average: those at addresses that are
// used again.
const maxUses = 64

// Has reports whether the batch has FDEs of a function: FDEs entirely inside its code. It must be
// called once for each function. There are none for functions beyond maxUses.
func (b *Batch) Has(code, size uint64) bool {
	from, to := b.of(code, size)
	if !b.ends(from, to, code+size) || b.taken > maxUses*len(b.fdes) {
		return false
	}
	b.taken += to - from
	return true
}

// ends reports whether the code of any FDE in [from, to) ends by an address.
func (b *Batch) ends(from, to int, by uint64) bool {
	n := len(b.fdes)
	for lo, hi := from+n, to+n; lo < hi; lo, hi = lo/2, hi/2 {
		if lo%2 == 1 {
			if b.lowest[lo] <= by {
				return true
			}
			lo++
		}
		if hi%2 == 1 {
			if hi--; b.lowest[hi] <= by {
				return true
			}
		}
	}
	return false
}

// of returns the range of FDEs that begin in a function.
func (b *Batch) of(code, size uint64) (from, to int) {
	at := func(addr uint64) int {
		i, _ := slices.BinarySearchFunc(b.fdes, addr, func(f batchFDE, addr uint64) int { return cmp.Compare(f.low, addr) })
		return i
	}
	return at(code), at(code + size)
}

// Check reads the tables of one function in the batch. place is that of the function, and frames is
// the .eh_frame. The result is that of the function [Check].
func (b *Batch) Check(place Place, frames []byte) (jitcode.FrameTable, error) {
	place.Frames, place.Text = b.Addr, b.Text
	k := checker{place: place, r: callframe.NewReader(place.format(), frames)}
	from, to := b.of(place.Code, place.CodeSize)
	for _, f := range b.fdes[from:to] {
		if f.high > place.Code+place.CodeSize {
			continue
		}
		ats := []int{f.cie, f.at}
		if _, known := k.r.Find(f.cie); known {
			ats = ats[1:]
		}
		for _, at := range ats {
			k.r.Seek(frames, at)
			e, ok := k.r.Next()
			if !ok {
				return jitcode.FrameTable{}, k.r.Err()
			}
			if err := k.add(&e); err != nil {
				return jitcode.FrameTable{}, err
			}
		}
	}
	return k.finish()
}
