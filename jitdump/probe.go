package jitdump

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"
)

// A probe checks the body of what may be a record. It reads as little of it as possible: after
// damage, every few bytes may look like the beginning of a record of many megabytes.
type probe struct {
	r   *Reader
	id  RecordID
	at  int64  // offset of the body
	n   uint64 // its size in bytes
	err error  // of reading
}

// probe returns a probe of what begins like a record at an offset.
func (r *Reader) probe(at int64) *probe {
	id, size, _, err := r.prefix(at)
	return &probe{r, id, at + prefixSize, uint64(max(size, prefixSize)) - prefixSize, err}
}

// probeHead is the size of the longest head of a body, in bytes.
const probeHead = 64

// head returns the first n bytes of the body, or fewer if it has fewer. They are valid until the
// next call of any method.
func (p *probe) head(n uint64) []byte {
	n = min(n, p.n)
	b, err := p.r.peek(p.at, int(n))
	if err != nil || uint64(len(b)) < n {
		p.err = err
		return nil
	}
	return b
}

// u32 returns a number in the head; it is 0 if the body is shorter.
func (p *probe) u32(at uint64) uint64 {
	if b := p.head(at + 4); uint64(len(b)) == at+4 {
		return uint64(p.r.header.Order.Uint32(b[at:]))
	}
	return 0
}

func (p *probe) u64(at uint64) uint64 {
	if b := p.head(at + 8); uint64(len(b)) == at+8 {
		return p.r.header.Order.Uint64(b[at:])
	}
	return 0
}

// nul returns the place of the first NUL from one place of the body on, up to another.
func (p *probe) nul(from, to uint64) (at uint64, ok bool) {
	if from >= to {
		return 0, false
	}
	off, ok, err := p.r.nul(p.at+int64(from), p.at+int64(to))
	if err != nil {
		p.err = err
	}
	return uint64(off - p.at), ok && err == nil
}

// wellFormed reports whether the body of a record of a known type is consistent. It is stricter
// than decoding: it distinguishes a record from bytes that look like one.
func (p *probe) wellFormed() bool {
	switch p.id {
	case IDLoad:
		return p.isLoad()
	case IDMove:
		return p.n == 2*4+5*8
	case IDDebugInfo:
		count := p.u64(8)
		if p.n < debugHead || count == 0 || count > (p.n-debugHead)/(DebugEntryHead+1) {
			return false
		}
		_, ok := p.nul(debugHead, p.n)
		return ok
	case IDClose:
		return p.n == 0
	case IDUnwinding:
		size, header := p.u64(0), p.u64(8)
		return p.n >= 3*8 && header <= size && size <= p.n-3*8 && p.n-3*8-size < 8
	case IDDebugInfo2:
		return p.isDebugInfo2()
	case IDTier:
		return p.isTier()
	case IDEmbeddedSource:
		return p.isSource()
	case IDOpenJ9:
		return p.isOpenJ9()
	}
	return false
}

// isSound reports whether the body of a record that the end of the file cuts is consistent up to there. If all entries
// of a JIT_CODE_DEBUG_INFO are there, the announced size is wrong, unless it is theirs with padding.
func (p *probe) isSound() bool {
	end, ok := uint64(debugHead-1), p.wellFormed()
	if !ok || p.id != IDDebugInfo {
		return ok
	}
	for count := p.u64(8); ok && count > 0; count-- {
		p.r.at(p.at+int64(end), DebugEntryHead+2) // moves the window
		end, ok = p.nul(end+1+DebugEntryHead, p.n)
	}
	return !ok || p.n-end <= 8
}

// isLoad reports whether the name, with a NUL, and the code fill the rest of the record.
func (p *probe) isLoad() bool {
	if p.n < loadHead || p.u64(16) == 0 {
		return false
	}
	size := p.u64(24)
	nul, ok := p.nul(loadHead, p.n)
	if !ok || nul == loadHead {
		return false
	}
	if nul+1 < p.n || size == 0 {
		return size == p.n-nul-1
	}
	return size <= MaxRecord && p.isText(loadHead, nul)
}

// isText is the function isText for a part of the body that is not empty.
func (p *probe) isText(from, to uint64) bool {
	var rest []byte // the beginning of a character
	for from < to {
		b, err := p.r.some(p.at + int64(from))
		b = b[:min(uint64(len(b)), to-from)]
		if err != nil || len(b) == 0 {
			p.err = err
			return false
		}
		from += uint64(len(b))
		b = append(rest, b...)
		whole := len(b)
		if from < to {
			for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
				if c := b[len(b)-i:]; utf8.RuneStart(c[0]) {
					if !utf8.FullRune(c) {
						whole -= i
					}
					break
				}
			}
		}
		if whole > 0 && !isText(b[:whole]) {
			return false
		}
		rest = bytes.Clone(b[whole:])
	}
	return true
}

// isDebugInfo2 reports whether the sizes of a DEBUG_INFO2 fill its body. It does not read the
// lists.
func (p *probe) isDebugInfo2() bool {
	n := func(i uint64) uint64 { return p.u32(4 * i) }
	size := debugInfo2Head + n(1) + n(3) + n(4)*sourceFunctionSize + n(5)*inlineCallSize + n(6)*codeRangeSize + n(7)*sourceLineSize
	return p.n >= debugInfo2Head && n(0) <= n(1) && n(2) <= n(3) && n(1)%4 == 0 && n(3)%4 == 0 && size <= p.n && p.n-size < 8
}

// isTier reports whether the body is that of a Tier.
func (p *probe) isTier() bool {
	if p.n >= 4<<10 {
		return false
	}
	raw := Raw{ID: p.id, Offset: p.at - prefixSize, Body: p.head(p.n), Order: p.r.header.Order}
	_, err := raw.Tier()
	return err == nil
}

// isSource reports whether the sizes of an EMBEDDED_SOURCE_FILE fill its body, with a plausible
// name.
func (p *probe) isSource() bool {
	size := p.u64(0)
	if p.n < 8 || size > p.n-8 {
		return false
	}
	nul, ok := p.nul(8, 8+min(p.n-8-size, maxSourceName))
	return ok && nul > 8 && p.n-size-nul-1 < 8
}

// isOpenJ9 reports whether the sizes of a JITINJECT_OPENJ9_METADATA fill its body.
func (p *probe) isOpenJ9() bool {
	size := openJ9Head + p.u32(32)*javaMethodSize + p.u32(36)*javaLineSize + (p.u32(24)+7)&^7 + p.u32(40)
	return p.n >= openJ9Head && p.u32(0) == openJ9Magic && p.u32(4) == openJ9Version && p.u32(40)%4 == 0 && size <= p.n && p.n-size < 8
}

// peekSize is how many bytes are read at once in the search for a NUL.
const peekSize = 64 << 10

// nul returns the offset of the first NUL from one offset on, up to another. A search ends at the
// next place that may be a record, if not before: the sizes of these have a NUL.
func (r *Reader) nul(from, to int64) (off int64, ok bool, err error) {
	for from < to {
		b, err := r.some(from)
		if err != nil || len(b) == 0 {
			return 0, false, err
		}
		b = b[:min(int64(len(b)), to-from)]
		if n := bytes.IndexByte(b, 0); n >= 0 {
			return from + int64(n), true, nil
		}
		from += int64(len(b))
	}
	return 0, false, nil
}

// some returns bytes from an offset on: those in the window, if there are any. There are none at
// the end of the file.
func (r *Reader) some(off int64) ([]byte, error) {
	if lo := off - r.windowAt; lo >= 0 && lo < int64(len(r.window)) {
		return r.window[lo:], nil
	}
	return r.peek(off, peekSize)
}

// peek returns n bytes at an offset, or fewer at the end of the file, and does not move the window.
// They are valid until the next call of any method.
func (r *Reader) peek(off int64, n int) ([]byte, error) {
	if lo := off - r.windowAt; lo >= 0 && lo+int64(n) <= int64(len(r.window)) {
		return r.window[lo : lo+int64(n)], nil
	}
	if len(r.aside) < n {
		r.aside = make([]byte, max(n, peekSize))
	}
	got, err := r.src.ReadAt(r.aside[:n], off)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: reading at offset %#x: %w", FormatName, off, err)
	}
	return r.aside[:got], nil
}
