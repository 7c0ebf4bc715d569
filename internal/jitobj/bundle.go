package jitobj

import (
	"cmp"
	"crypto/sha256"
	"debug/elf"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/jitinject/jitinject/dwarfgen"
	"github.com/jitinject/jitinject/elfgen"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/wire"
)

// A bundle is one object for many functions. Its .text is a region of memory at its original
// addresses, with holes in the file between the functions. Each function has its own symbol, FDEs,
// and DWARF unit.
//
// A bundle is made of parts, which are runs of its functions. Parts are made in parallel, and
// joined when all exist. The result depends on the division into parts, but not on the workers.

// A Region is the memory of a bundle. With NoCode, all its functions are without code bytes;
// otherwise all have them. So readers never take holes for code.
type Region struct {
	Low, High uint64
	NoCode    bool
}

// Base returns the address in memory of the byte at TextOffset. Code has the same alignment in the
// object as in memory.
func (s Region) Base() uint64 { return s.Low &^ (textAlign - 1) }

// Offset returns the offset in a bundle of the code at an address in memory.
func (s Region) Offset(addr uint64) uint64 { return TextOffset + addr - s.Base() }

// A Part has some functions of a bundle, ready to be joined with others.
type Part struct {
	symbols []symbol
	names   []byte
	dwarf   *dwarfgen.Part
	frames  *dwarfgen.FramesPart
	digest  [sha256.Size]byte
}

// A symbol is a function of a part.
type symbol struct {
	name  int // offset of its name in the part's names
	addr  uint64
	size  uint64
	thumb bool
}

// A part is a part in the making.
type part struct {
	symbols []symbol
	names   []byte
	region  Region
	w       io.WriterAt
	text    codeWriter
	end     uint64 // end of its functions so far, in the object
	digest  hash.Hash
}

// A codeWriter writes code in the order of addresses.
type codeWriter interface {
	Reset(w io.WriterAt, offset int64)
	SkipTo(offset int64)
	Bytes(p []byte)
	Flush() error
}

// BeginPart begins a part of a region's bundle. Code is written to w at once; w will hold the
// object.
func (b *Builder) BeginPart(s Region, w io.WriterAt) error {
	p := &b.part
	if p.digest == nil {
		p.digest = sha256.New()
	}
	p.symbols, p.names, p.region, p.w, p.end = p.symbols[:0], p.names[:0], s, w, TextOffset
	b.frames.Reset(b.enc.Order, b.enc.AddrSize, TextOffset)
	b.cies.reset()
	p.digest.Reset()
	return b.dwarf.Reset(b.enc)
}

// AddFunction adds a function with code at an address in the region. The address must be after all
// functions of the part so far. After an error, the part is unchanged.
func (b *Builder) AddFunction(fn *jitcode.Function, addr uint64) error {
	p := &b.part
	size := fn.Size
	if addr < p.region.Low || addr+size > p.region.High || addr+size < addr {
		return fmt.Errorf("%d bytes of code at %#x are outside of the bundle for %#x to %#x", size, addr, p.region.Low, p.region.High)
	}
	b.at = p.region.Offset(addr)
	switch {
	case !p.region.NoCode && !fn.HasCode():
		return fmt.Errorf("the bytes of the code at %#x are not known, and the bundle is for code of which they are", addr)
	case b.at < p.end:
		return fmt.Errorf("code at %#x is in the way of what the bundle has there", addr)
	case p.text == nil:
		p.text = wire.NewForward(p.w, int64(b.at))
	case len(p.symbols) == 0: // bytes before it belong to other parts
		p.text.Reset(p.w, int64(b.at))
	}
	p.text.SkipTo(int64(b.at))
	p.text.Bytes(b.codeOf(fn))
	p.end = b.at + size
	p.symbols = append(p.symbols, symbol{len(p.names), b.at, size, fn.Thumb})
	p.names = append(append(p.names, fn.Name...), 0)
	b.hashed = b.hashed[:0]
	b.hashNumber(addr)
	b.hashFunction(fn)
	p.digest.Write(b.hashed)
	b.debugInfo(fn)
	b.addFrames(fn)
	return nil
}

// AddFrames adds the unwind table of a function with code at an address in the region. The rest of it is in
// another object at the same place.
func (b *Builder) AddFrames(fn *jitcode.Function, addr uint64) error {
	p := &b.part
	if addr < p.region.Low || addr+fn.Size > p.region.High || addr+fn.Size < addr {
		return fmt.Errorf("%d bytes of code at %#x are outside of the bundle for %#x to %#x", fn.Size, addr, p.region.Low, p.region.High)
	}
	b.at = p.region.Offset(addr)
	b.hashed = b.hashed[:0]
	b.hashNumber(7)
	b.hashNumber(addr)
	b.hashFunction(fn)
	p.digest.Write(b.hashed)
	b.addFrames(fn)
	return nil
}

// EndPart returns the part. It fails if its code could not be written, or its DWARF is too long.
func (b *Builder) EndPart() (*Part, error) {
	p := &b.part
	if len(p.symbols) > 0 {
		if err := p.text.Flush(); err != nil {
			return nil, &WriteError{err}
		}
	}
	done := cmp.Or(b.spare, new(Part))
	b.spare = nil
	done.symbols, done.names = append(done.symbols[:0], p.symbols...), append(done.names[:0], p.names...)
	var err error
	if done.dwarf, err = b.dwarf.Part(done.dwarf); err != nil {
		return nil, err
	}
	for name, data := range done.dwarf.Sections() {
		fmt.Fprintf(p.digest, "%s %d ", name, len(data))
		p.digest.Write(data)
	}
	p.digest.Sum(done.digest[:0])
	done.frames, err = b.frames.Part(done.frames)
	return done, err
}

// A WriteError is an error of writing an object, as opposed to one of its content.
type WriteError struct{ err error }

// Error returns the text of the wrapped error.
func (e *WriteError) Error() string { return e.err.Error() }

// Unwrap returns the wrapped error.
func (e *WriteError) Unwrap() error { return e.err }

// Join writes the rest of a region's object to w, after its parts have written their code there.
// The parts are in the order of their addresses, and cannot be used again. The Object has no Bytes.
func (b *Builder) Join(w io.WriterAt, s Region, place Place, parts []*Part) (Object, error) {
	obj := Object{BuildID: b.bundleID(s, place, parts)}
	f := &b.file
	f.Reset(b.target, elf.ET_DYN)
	note := f.Add(b.idNote(&obj))
	textSize := s.High - s.Base()
	code := textSection(!s.NoCode)
	code.Room = textSize
	text := f.Add(code)
	if at := f.Offset(text); at != TextOffset {
		return Object{}, fmt.Errorf("the code of a bundle is at %#x, but its parts have written it to %#x", at, TextOffset)
	}
	frameHeader, err := b.joinFrames(parts, s, place, &obj.Tables)
	if err != nil {
		return Object{}, err
	}
	units := make([]*dwarfgen.Part, len(parts))
	for i, p := range parts {
		units[i] = p.dwarf
	}
	sections, err := dwarfgen.Join(units)
	if err != nil {
		return Object{}, err
	}
	for _, s := range sections {
		f.Add(debugSection(s.Name, nil, s.Pieces...))
	}
	b.attributes()
	b.segments(segmented{note, text, frameHeader, !s.NoCode}, place)
	for _, local := range []bool{true, false} {
		for _, p := range parts {
			b.addSymbols(p, text, local, TextOffset)
		}
	}
	if err := f.WriteTo(w); err != nil {
		var we *WriteError
		if !errors.As(err, &we) {
			err = &WriteError{err}
		}
		return Object{}, err
	}
	b.spare = parts[0]
	return obj, nil
}

// addSymbols adds the local symbols of a part, or the others. Local symbols must come first. start is
// where .text begins, as the addresses of symbols count.
func (b *Builder) addSymbols(p *Part, text elfgen.SectionID, local bool, start uint64) {
	for i, y := range p.symbols {
		if local {
			if b.target.Machine == elf.EM_ARM {
				b.file.AddSymbol(mappingSymbol(text, y.addr-start, y.thumb))
			}
			continue
		}
		end := len(p.names)
		if i+1 < len(p.symbols) {
			end = p.symbols[i+1].name
		}
		b.file.AddSymbol(functionSymbol(p.names[y.name:end-1], text, y.addr-start, y.size, y.thumb))
	}
}

// joinFrames adds the unwind tables of all parts, as unwindTables does for one function.
func (b *Builder) joinFrames(parts []*Part, s Region, place Place, tables *Tables) (elfgen.SectionID, error) {
	n := 0
	for _, p := range parts {
		n += len(p.frames.Entries)
	}
	if place.None || n == 0 && place.Away == 0 {
		return 0, nil
	}
	offset, away := tablesPlace(s.High-s.Base(), place)
	var pieces [][]byte
	var entries []dwarfgen.FrameEntry
	end := offset
	for _, p := range parts {
		if err := p.frames.MoveTo(end + away); err != nil {
			return 0, err
		}
		pieces = append(pieces, p.frames.Data)
		entries = append(entries, p.frames.Entries...)
		end += uint64(len(p.frames.Data))
	}
	pieces = append(pieces, dwarfgen.FramesEnd)
	return b.addTables(pieces, entries, offset, end+uint64(len(dwarfgen.FramesEnd)), away, place, tables)
}

// bundleID hashes everything that determines the content of a bundle.
func (b *Builder) bundleID(s Region, place Place, parts []*Part) (id [BuildIDSize]byte) {
	b.hashed = b.hashed[:0]
	b.hashNumber(s.Low)
	b.hashNumber(s.High)
	b.hashFile(place)
	if s.NoCode {
		b.hashNumber(6)
	}
	for _, p := range parts {
		b.hashBytes(p.digest[:])
	}
	sum := sha256.Sum256(b.hashed)
	copy(id[:], sum[:])
	return id
}
