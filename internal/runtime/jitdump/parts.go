package jitdump

import "github.com/jitinject/jitinject/internal/source"

// parts has the spans of a function's records. Spans of size 0 are of no record.
type parts struct {
	load, debug, inline, unwind source.Span
}

// The parts of all functions stay in memory for the whole run. So they are packed: 28 bytes each,
// and 24 more for functions with inlined calls or unwind tables.

// A packedSpan is a source.Span in 12 bytes.
type packedSpan struct{ low, high, size uint32 }

func pack(s source.Span) packedSpan {
	return packedSpan{uint32(s.Off), uint32(s.Off >> 32), s.Size}
}

func (p packedSpan) span() source.Span {
	return source.Span{Off: int64(p.high)<<32 | int64(p.low), Size: p.size}
}

// packedParts are the parts of a function.
type packedParts struct {
	load, debug packedSpan
	others      uint32 // index + 1 in others of the dump, or 0
}

// otherParts are the parts that few functions have.
type otherParts struct{ inline, unwind packedSpan }

// addParts adds the parts of the next function. Its load is at offset at.
func (s *scanner) addParts(p *parts, at int64) {
	packed := packedParts{load: pack(p.load), debug: pack(p.debug)}
	if p.inline.Size != 0 || p.unwind.Size != 0 {
		s.others = append(grown(s.others, at, s.size), otherParts{pack(p.inline), pack(p.unwind)})
		packed.others = uint32(len(s.others))
	}
	s.functions = append(grown(s.functions, at, s.size), packed)
}

// partsOf returns the parts of a function.
func (l *listing) partsOf(function int) (p parts) {
	packed := &l.functions[function]
	p.load, p.debug = packed.load.span(), packed.debug.span()
	if packed.others != 0 {
		o := &l.others[packed.others-1]
		p.inline, p.unwind = o.inline.span(), o.unwind.span()
	}
	return p
}
