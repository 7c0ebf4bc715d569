package dwarfgen

import (
	"bytes"
	"cmp"
	"iter"

	"github.com/jitinject/jitinject/internal/wire"
)

// Units can be made in parallel, and joined afterwards.

// A ref is a place in one section that has an offset into another.
type ref struct {
	in, to sectionID
	at     uint32
}

// refer appends to w, which is section in, an offset in section to.
func (b *Builder) refer(in sectionID, w *wire.Buffer, to sectionID, offset uint32) {
	b.refs = append(b.refs, ref{in, to, uint32(w.Len())})
	w.U32(offset)
}

// A Part has the content of a Builder: units, to be joined with those of other parts.
type Part struct {
	enc  Encoding
	data [numSections][]byte
	refs []ref
}

// Part returns the content of the builder, and empties the builder. They share no memory. The part
// takes over the memory of spare, which may be nil or a joined part with sections that are written
// already.
func (b *Builder) Part(spare *Part) (*Part, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	p := cmp.Or(spare, new(Part))
	p.enc, p.refs = b.enc, append(p.refs[:0], b.refs...)
	for i, data := range b.contents() {
		p.data[i] = append(p.data[i][:0], data...)
	}
	return p, b.Reset(b.enc)
}

// Sections yields the names and contents of the part's sections, before they are joined with
// others.
func (p *Part) Sections() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for i, data := range p.data {
			if len(data) > 0 && !yield(sectionID(i).name(p.enc), data) {
				return
			}
		}
	}
}

// A Joined is a section that consists of consecutive pieces.
type Joined struct {
	Name   string // such as ".debug_info"
	Pieces [][]byte
}

// Join joins parts of one encoding. It changes their data, which the result refers to: a part can
// be joined once. Equal strings, and equal abbreviation tables, are stored once.
func Join(parts []*Part) ([]Joined, error) {
	var all [numSections][][]byte
	var size [numSections]uint64
	strings := [numSections]*stringTable{str: new(stringTable), lineStr: new(stringTable)}
	strings[str].reset()
	strings[lineStr].reset()
	tables := make(map[string]uint64) // of abbreviations
	for _, p := range parts {
		base := size
		if at, ok := tables[string(p.data[abbrevs])]; ok {
			base[abbrevs] = at
			p.data[abbrevs] = p.data[abbrevs][:0]
		} else {
			tables[string(p.data[abbrevs])] = base[abbrevs]
		}
		moved := [numSections]map[uint32]uint32{str: strings[str].take(p.data[str]), lineStr: strings[lineStr].take(p.data[lineStr])}
		p.data[str], p.data[lineStr] = p.data[str][:0], p.data[lineStr][:0]
		for i, data := range p.data {
			if len(data) > 0 {
				all[i] = append(all[i], data)
				size[i] += uint64(len(data))
			}
		}
		for _, n := range size {
			if n > maxSection {
				return nil, errTooLarge
			}
		}
		p.move(&base, &moved)
	}
	for i, t := range strings {
		if t != nil && len(t.data) > 0 {
			all[i] = [][]byte{t.data}
			if uint64(len(t.data)) > maxSection {
				return nil, errTooLarge
			}
		}
	}
	var out []Joined
	for i, pieces := range all {
		if len(pieces) > 0 {
			out = append(out, Joined{sectionID(i).name(parts[0].enc), pieces})
		}
	}
	return out, nil
}

// move adjusts the offsets in a part's sections to the joined sections. It adds base, or for
// strings looks the offset up in moved.
func (p *Part) move(base *[numSections]uint64, moved *[numSections]map[uint32]uint32) {
	for _, r := range p.refs {
		at := p.data[r.in][r.at:]
		offset := p.enc.Order.Uint32(at)
		if m := moved[r.to]; m != nil {
			offset = m[offset]
		} else {
			offset += uint32(base[r.to])
		}
		p.enc.Order.PutUint32(at, offset)
	}
	p.refs = p.refs[:0]
}

// take adds the strings of another table. It returns their new offsets, by their old ones.
func (t *stringTable) take(data []byte) map[uint32]uint32 {
	moved := make(map[uint32]uint32)
	for at := 0; at < len(data); {
		n := bytes.IndexByte(data[at:], 0)
		moved[uint32(at)] = t.offset(string(data[at : at+n]))
		at += n + 1
	}
	return moved
}
