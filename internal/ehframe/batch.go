package ehframe

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/wire"
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
	addr, ok := FramesAddress(order, addrSize, header)
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
	r := reader{
		place: Place{Order: order, AddrSize: addrSize, Frames: addr, Text: text},
		c:     wire.NewCursor(".eh_frame", "", frames, order, 0), at: make(map[int]int),
	}
	for r.c.Len() >= 4 {
		start := r.c.Pos()
		length := entryLength(&r.c)
		if r.c.Err() == nil && length == 0 {
			break
		}
		idAt := r.c.Pos()
		body := r.c.Bytes("entry", length)
		if r.c.Err() == nil && len(body) < 4 {
			r.c.Bad("length", "%d bytes have no CIE id", length)
		}
		if r.c.Err() != nil {
			return nil, r.c.Err()
		}
		id := order.Uint32(body)
		if id == 0 {
			if length > maxCIE {
				r.c.Bad("length", "%d bytes of a CIE", length)
				return nil, r.c.Err()
			}
			if !r.again(frames, start) {
				return nil, r.c.Err()
			}
			continue
		}
		f := batchFDE{at: start, cie: idAt - int(id)}
		c := wire.NewCursor(".eh_frame", "FDE", body[4:], order, int64(idAt+4))
		cie, known := r.at[f.cie]
		if !known {
			c.Fail("CIE pointer", "no CIE begins at offset %#x", f.cie)
			return nil, c.Err()
		}
		f.low, f.high = r.about(&c, r.more[cie].encoding, uint64(idAt+4))
		if c.Err() != nil {
			return nil, c.Err()
		}
		if f.low < f.high {
			b.fdes = append(b.fdes, f)
		}
	}
	slices.SortStableFunc(b.fdes, func(a, b batchFDE) int { return cmp.Compare(a.low, b.low) })
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
const maxCIE = 4096

// FramesAddress returns the address of .eh_frame in the process. ok is false unless an
// .eh_frame_hdr has it as an absolute address.
func FramesAddress(order binary.ByteOrder, addrSize int, header []byte) (addr uint64, ok bool) {
	if len(header) < 4 {
		return 0, false
	}
	switch rest := header[4:]; header[1] {
	case peAbsolute, peSigned, peUdata8, peSdata8:
		if addrSize == 8 && len(rest) >= 8 {
			addr = order.Uint64(rest)
			break
		}
		if addrSize != 4 || header[1]&7 == peUdata8 {
			return 0, false
		}
		fallthrough
	case peUdata4, peSdata4:
		if addrSize != 4 || len(rest) < 4 {
			return 0, false
		}
		addr = uint64(order.Uint32(rest))
	}
	return addr, addr != 0
}

// again reads the entry at an offset of frames, then returns to the current position.
func (r *reader) again(frames []byte, at int) bool {
	behind := r.c
	r.c = wire.NewCursor(".eh_frame", "", frames, r.place.Order, 0)
	r.c.Bytes("entry", uint64(at))
	r.entry()
	if r.c.Err() != nil {
		return false
	}
	r.c = behind
	return true
}

// about returns the code range of an FDE. c is after its CIE pointer, at an offset of .eh_frame.
func (r *reader) about(c *wire.Cursor, encoding uint8, at uint64) (low, high uint64) {
	low = r.pointer(c, "pc begin", encoding&0x0f)
	if encoding&pePCRel != 0 {
		low += r.place.Frames + at
	} else if encoding&peTextRel != 0 {
		low += r.place.Text
	}
	low = r.mask(low)
	size := r.pointer(c, "pc range", encoding&0x07)
	if size > ^low {
		c.Bad("pc range", "%d bytes at %#x", size, low)
	}
	return low, low + size
}

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
	r := reader{place: place, c: wire.NewCursor(".eh_frame", "", frames, place.Order, 0), at: make(map[int]int)}
	from, to := b.of(place.Code, place.CodeSize)
	for _, f := range b.fdes[from:to] {
		if f.high > place.Code+place.CodeSize {
			continue
		}
		if _, known := r.at[f.cie]; !known && !r.again(frames, f.cie) || !r.again(frames, f.at) {
			return jitcode.FrameTable{}, r.c.Err()
		}
	}
	if r.finish(); r.c.Err() == nil {
		r.apart()
	}
	return r.table, r.c.Err()
}
