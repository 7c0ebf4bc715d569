package jitdump

import (
	"bytes"
	"debug/elf"
	"errors"
	"slices"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/runtime/openj9/metadata"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/wire"
	"github.com/jitinject/jitinject/jitdump"
)

// Records of OpenJ9's metadata: their loads, and their content.

// maxMetadata is how many metadata records may wait at once, and how many loads may come before
// theirs: threads write at the same time. The metadata of a lost load must not describe a later
// function at the same address.
const maxMetadata = 64

// A waitingMetadata is a metadata record without its load so far.
type waitingMetadata struct {
	source.Span
	addr  uint64 // of the load
	loads int    // number of loads before it
}

// metadata records a metadata record for the load at addr. It returns how many records are dropped.
func (p *pairing) metadata(s source.Span, addr uint64) (orphans int) {
	if _, again := p.takeMetadata(addr); again {
		orphans++
	}
	if len(p.j9) == maxMetadata {
		p.j9 = slices.Delete(p.j9, 0, 1)
		orphans++
	}
	p.j9 = append(p.j9, waitingMetadata{s, addr, p.loads})
	return orphans
}

// takeMetadata removes and returns the metadata record for the load at addr.
func (p *pairing) takeMetadata(addr uint64) (w waitingMetadata, ok bool) {
	i := slices.IndexFunc(p.j9, func(w waitingMetadata) bool { return w.addr == addr })
	if i < 0 {
		return waitingMetadata{}, false
	}
	w = p.j9[i]
	p.j9 = slices.Delete(p.j9, i, i+1)
	return w, true
}

// metadataOf returns the metadata record of a load. After other loads, the record may belong to a
// lost load. Then its method must have the name of the load.
func (s *scanner) metadataOf(raw *jitdump.Raw, l *jitdump.Load) (record source.Span, ok bool) {
	p := &s.pairing
	for len(p.j9) > 0 && p.loads-p.j9[0].loads >= maxMetadata {
		p.j9 = slices.Delete(p.j9, 0, 1)
		s.orphans++
	}
	w, ok := p.takeMetadata(l.CodeAddr)
	between := p.loads - w.loads
	p.loads++
	if !ok || between == 0 {
		return w.Span, ok
	}
	if name, other := s.compiledName(w.Span); other && !bytes.Contains(l.Name, name) && !bytes.Contains(l.Name, []byte(metadata.Utf8Of(name))) {
		s.Problem(raw.Offset, "%s at offset %#x: the metadata of its address, at offset %#x, is that of a method %q, and the function has another name; it is left out", raw.ID, raw.Offset, w.Off, jitcode.Beginning(name, 100))
		s.orphans++
		return source.Span{}, false
	}
	return w.Span, true
}

// compiledName returns the name of the method that a metadata record describes, without class and
// signature. ok is false if the record does not have it.
func (l *listing) compiledName(record source.Span) (name []byte, ok bool) {
	w := l.window()
	raw, err := w.only(record)
	if err != nil {
		return nil, false
	}
	m, err := raw.OpenJ9Metadata()
	if at := 4 * int(m.PointerSize); err == nil && len(m.Metadata) >= at+8 { // ramMethod, and more
		method := l.order().Uint64(m.Metadata[at:])
		if m.PointerSize == 4 {
			method = uint64(l.order().Uint32(m.Metadata[at:]))
		}
		for i := range m.Methods {
			if m.Methods[i].Method == method {
				return m.Methods[i].Name, true
			}
		}
	}
	return nil, false
}

// j9Metadata records a metadata record. A fault in it affects no other record, because it names its
// load.
func (s *scanner) j9Metadata(raw *jitdump.Raw) {
	if !raw.IsOpenJ9Metadata() {
		s.Unknown++
		return
	}
	if _, err := raw.OpenJ9Metadata(); err != nil {
		s.Problem(raw.Offset, "%v; the record is left out", err)
		return
	}
	s.orphans += s.pairing.metadata(spanOf(raw), raw.Order.Uint64(raw.Body[8:]))
}

// j9Lines returns the lines of a function from a metadata record. The error is that of
// [metadata.Code.Lines], with offsets in the dump.
func (r *Reader) j9Lines(raw *jitdump.Raw) (metadata.Lines, error) {
	m, err := raw.OpenJ9Metadata()
	if err != nil {
		return metadata.Lines{}, err
	}
	if err := m.CheckTables(); err != nil {
		r.problem(raw.Offset, "%v; the tables are used as far as they go", err)
	}
	var lines metadata.Lines
	code, err := r.listing.j9Code(&m, r.fn.Name, r.fn.Size)
	if err == nil {
		lines, err = code.Lines()
	}
	var at *wire.Error
	if errors.As(err, &at) && at.Format == j9meta.FormatName {
		moved := *at
		moved.Offset += m.MetadataOffset()
		err = &moved
	}
	return lines, err
}

// j9Code decodes the metadata of a record for code of size bytes.
func (l *listing) j9Code(m *jitdump.OpenJ9Metadata, name []byte, size uint64) (*metadata.Code, error) {
	body, err := j9meta.Decode(m.Metadata, m.Base, j9meta.Layout{
		Order: l.order(), PointerSize: int(m.PointerSize), HeaderSize: int(m.HeaderSize), Machine: elf.Machine(l.header.Machine),
	})
	return &metadata.Code{Body: body, Methods: m.Methods, Addr: m.CodeAddr, Size: size, Name: name}, err
}

// makeListings returns the listings of the i-th function, which has metadata. They replace source
// files.
func (l *listing) makeListings(i int, w *window) ([]source.MadeText, error) {
	p := l.partsOf(i)
	if err := w.hold(p.load, p.inline); err != nil {
		return nil, err
	}
	raw, err := w.record(p.load)
	if err != nil {
		return nil, err
	}
	load, err := raw.Load()
	if err != nil {
		return nil, err
	}
	if raw, err = w.record(p.inline); err != nil {
		return nil, err
	}
	m, err := raw.OpenJ9Metadata()
	if err != nil {
		return nil, err
	}
	code, err := l.j9Code(&m, load.Name, load.CodeSize)
	if err != nil {
		return nil, err
	}
	return code.OnlyListings(), nil
}

// addListings adds the listings of the i-th function. It ignores faulty metadata: reading the
// function reports it.
func (s *scanner) addListings(i int) {
	list, err := s.makeListings(i, &s.listed)
	if err != nil {
		return
	}
	for _, made := range list {
		s.sources.AddListing(made.File, len(made.Text), i)
	}
}

// listingText returns the text of the i-th source, a listing. It makes the text again.
func (l *listing) listingText(i int) ([]byte, error) {
	return l.listings.Text(l.sources.All, i, func(function int) ([]source.MadeText, error) {
		w := l.window()
		return l.makeListings(function, &w)
	})
}
