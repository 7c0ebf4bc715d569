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

// Records of OpenJ9's metadata: which load they are about, and what they say.

// maxMetadata is how many records of metadata may come between one and its load,
// and how many loads, as threads write at the same time. A load that was lost must
// not leave them to whatever comes to lie at that address later.
const maxMetadata = 64

// A waitingMetadata is a record of metadata that has not found its load.
type waitingMetadata struct {
	source.Span
	addr  uint64 // of the load
	loads int    // how many there had been when it came
}

// metadata takes note of a record of metadata about the load at addr, and returns
// how many are given up.
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

// takeMetadata returns the record of metadata that is about the load at addr.
func (p *pairing) takeMetadata(addr uint64) (w waitingMetadata, ok bool) {
	i := slices.IndexFunc(p.j9, func(w waitingMetadata) bool { return w.addr == addr })
	if i < 0 {
		return waitingMetadata{}, false
	}
	w = p.j9[i]
	p.j9 = slices.Delete(p.j9, i, i+1)
	return w, true
}

// metadataOf returns the record of metadata that is about a load. If other loads have come
// in between, it may be that of one that was lost: then the name has to be that of the method.
func (d *Dump) metadataOf(raw *jitdump.Raw, l *jitdump.Load) (s source.Span, ok bool) {
	p := &d.pairing
	for len(p.j9) > 0 && p.loads-p.j9[0].loads >= maxMetadata {
		p.j9 = slices.Delete(p.j9, 0, 1)
		d.orphans++
	}
	w, ok := p.takeMetadata(l.CodeAddr)
	between := p.loads - w.loads
	p.loads++
	if !ok || between == 0 {
		return w.Span, ok
	}
	if name, other := d.compiledName(w.Span); other && !bytes.Contains(l.Name, name) && !bytes.Contains(l.Name, []byte(metadata.Utf8Of(name))) {
		d.Problem(raw.Offset, "%s at offset %#x: the metadata of its address, at offset %#x, is that of a method %q, and the function has another name; it is left out", raw.ID, raw.Offset, w.Off, metadata.Beginning(name, 100))
		d.orphans++
		return source.Span{}, false
	}
	return w.Span, true
}

// compiledName returns the name, without class and signature, of the method that a record of
// metadata is of, if the record has it.
func (d *Dump) compiledName(s source.Span) (name []byte, ok bool) {
	var w window
	if err := w.hold(d.src, s); err != nil {
		return nil, false
	}
	raw, err := w.record(s, d.order())
	if err != nil {
		return nil, false
	}
	m, err := raw.OpenJ9Metadata()
	if at := 4 * int(m.PointerSize); err == nil && len(m.Metadata) >= at+8 { // ramMethod, and more
		method := d.order().Uint64(m.Metadata[at:])
		if m.PointerSize == 4 {
			method = uint64(d.order().Uint32(m.Metadata[at:]))
		}
		for i := range m.Methods {
			if m.Methods[i].Method == method {
				return m.Methods[i].Name, true
			}
		}
	}
	return nil, false
}

// j9Metadata takes note of a record of metadata. What is wrong with it costs nothing
// that comes behind it, since it names its load.
func (d *Dump) j9Metadata(raw *jitdump.Raw) {
	if !raw.IsOpenJ9Metadata() {
		d.Unknown++
		return
	}
	if _, err := raw.OpenJ9Metadata(); err != nil {
		d.Problem(raw.Offset, "%v; the record is left out", err)
		return
	}
	d.orphans += d.pairing.metadata(spanOf(raw), raw.Order.Uint64(raw.Body[8:]))
}

// j9Lines returns what a record of metadata says of the function. The error is as
// J9Code.Lines has it, with offsets in the dump.
func (r *Reader) j9Lines(fn *jitcode.Function, raw *jitdump.Raw) (metadata.Lines, error) {
	m, err := raw.OpenJ9Metadata()
	if err != nil {
		return metadata.Lines{}, err
	}
	if err := m.CheckTables(); err != nil {
		r.problem(raw.Offset, "%v; the tables are used as far as they go", err)
	}
	var lines metadata.Lines
	code, err := r.d.j9Code(&m, fn.Name, fn.Size)
	if err == nil {
		lines, err = code.Lines()
	}
	var at *wire.Error
	if errors.As(err, &at) && at.Format == j9meta.FormatName {
		moved := *at
		moved.Offset += m.MetadataOffset()
		err = &moved
	}
	if lines.TooDeep > 0 {
		r.problem(raw.Offset, "%s at offset %#x: %d inlined calls are more than %d deep; their code is shown in the calls around them", raw.ID, raw.Offset, lines.TooDeep, jitdump.MaxDepth)
	}
	return lines, err
}

// j9Code decodes the metadata of a record, which is about code of size bytes.
func (d *Dump) j9Code(m *jitdump.OpenJ9Metadata, name []byte, size uint64) (*metadata.Code, error) {
	body, err := j9meta.Decode(m.Metadata, m.Base, j9meta.Layout{
		Order: d.order(), PointerSize: int(m.PointerSize), HeaderSize: int(m.HeaderSize), Machine: elf.Machine(d.header.Machine),
	})
	return &metadata.Code{Body: body, Methods: m.Methods, Addr: m.CodeAddr, Size: size, Name: name}, err
}

// makeListings makes the listings that stand for source files of the i-th function, which
// has metadata.
func (d *Dump) makeListings(i int, w *window) ([]source.MadeText, error) {
	p := &d.parts[i]
	if err := w.hold(d.src, p.load, p.inline); err != nil {
		return nil, err
	}
	raw, err := w.record(p.load, d.order())
	if err != nil {
		return nil, err
	}
	l, err := raw.Load()
	if err != nil {
		return nil, err
	}
	if raw, err = w.record(p.inline, d.order()); err != nil {
		return nil, err
	}
	m, err := raw.OpenJ9Metadata()
	if err != nil {
		return nil, err
	}
	code, err := d.j9Code(&m, l.Name, l.CodeSize)
	if err != nil {
		return nil, err
	}
	return code.OnlyListings(), nil
}

// addListings takes note of the listings of the i-th function. What is wrong with its
// metadata is for those who read the function to say.
func (d *Dump) addListings(i int) {
	list, err := d.makeListings(i, &d.listed)
	if err != nil {
		return
	}
	for _, l := range list {
		d.sources.AddListing(l.File, len(l.Text), i)
	}
}

// listing makes the text of the i-th source again, which is a listing.
func (d *Dump) listing(i int) ([]byte, error) {
	return d.listings.Text(d.sources.All, i, func(function int) ([]source.MadeText, error) { return d.makeListings(function, new(window)) })
}
