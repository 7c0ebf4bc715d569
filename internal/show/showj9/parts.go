package showj9

import (
	"math"

	"github.com/jitinject/jitinject/internal/format/j9meta"
)

// Compilers put what hardly ever runs far away, in a cold part of the code. What lies between it
// and the warm part is other code, which metadata says nothing about even where its ranges go across.

// A part is a part of a body's code: offsets from startPC, half open.
type part struct{ start, end uint64 }

// codeParts returns the warm part and, if there is one, the cold part. A header that makes no sense
// has one part, of everything.
func codeParts(h *j9meta.Header) []part {
	warmStart, warmEnd := h.Warm()
	coldStart, coldEnd := h.Cold()
	switch {
	case coldStart == 0 && warmStart < warmEnd && warmEnd == h.EndPC:
		return []part{{0, warmEnd - warmStart}}
	case coldStart != 0 && warmStart < warmEnd && warmEnd <= coldStart && coldStart < coldEnd:
		return []part{{0, warmEnd - warmStart}, {coldStart - warmStart, coldEnd - warmStart}}
	}
	return []part{{0, math.MaxUint64}}
}

// meets reports whether a part of the code is at an address that is wanted. A part
// without a length is the instruction that is there.
func (b *Body) meets(start, end uint64) bool {
	wanted, base := b.filter.Address, b.Decoded.Header.StartPC
	if !wanted.Set || start >= end {
		return wanted.Meets(base+start, 0)
	}
	for _, p := range b.codeParts() {
		if first, last := max(start, p.start), min(end, p.end); first < last && wanted.Meets(base+first, last-first) {
			return true
		}
	}
	return false
}

// codeParts returns codeParts of the body.
func (b *Body) codeParts() []part {
	if b.parts == nil {
		b.parts = codeParts(&b.Decoded.Header)
	}
	return b.parts
}

// codeChosen reports whether code is wanted, offsets from startPC: it is at an address that is, and it is that of a
// method with a name that is, or such a method is inlined in it.
func (b *Body) codeChosen(start, end uint64) bool {
	if !b.meets(start, end) {
		return false
	}
	f := b.filter
	if f.MatchesName([]byte(b.siteName(-1))) { // or there are no names that are wanted
		return true
	}
	found := false
	b.codeRanges(func(r j9meta.Range) {
		found = found || uint64(r.Start) < end && uint64(r.End) > start && b.rangeChosen(&r)
	})
	return found
}

// anyCodeChosen reports whether any of the code is wanted.
func (b *Body) anyCodeChosen() bool {
	for _, p := range b.codeParts() {
		if b.codeChosen(p.start, p.end) {
			return true
		}
	}
	return false
}

// codeRanges calls f for each range of stack maps, and for both its pieces if it goes across from the warm
// to the cold part. Ranges without code are left out.
func (b *Body) codeRanges(f func(r j9meta.Range)) {
	parts := b.codeParts()
	for _, r := range b.Decoded.Ranges() {
		for _, p := range parts {
			piece := r
			piece.Start = uint32(max(uint64(r.Start), min(p.start, math.MaxUint32)))
			if piece.End = uint32(min(uint64(r.End), p.end)); piece.Start < piece.End {
				f(piece)
			}
		}
	}
}
