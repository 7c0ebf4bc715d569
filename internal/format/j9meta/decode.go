package j9meta

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/jitinject/jitinject/internal/wire"
)

// Decode decodes the metadata in blob, which was at address base of its process:
// struct J9JITExceptionTable and what follows it, as many bytes as its field size
// says or more. What is behind them becomes a Gap.
//
// The sections have to follow each other as in J9JITExceptionTable.md. Bytes
// between them that nothing accounts for become sections of kind Gap; a pointer
// out of the blob, into a section that comes before it, or against the order, and
// a section that has more than its place, is a *wire.Error with section, field
// and offset in the blob.
//
// Slices of the Body alias blob. No count makes Decode allocate more than a small
// multiple of the bytes that are there.
//
// With an error, the Body has what could be read in front of it. Its Sections are then
// those up to the one with the error, of which some fields are missing; where the header
// itself cannot be read there are none.
func Decode(blob []byte, base uint64, l Layout) (*Body, error) {
	d := decoder{blob: blob, base: base, layout: l, body: &Body{Base: base}}
	err := l.check()
	if err == nil {
		err = d.decode()
	}
	d.body.Layout = d.layout
	return d.body, err
}

// A decoder is what Decode knows on its way.
type decoder struct {
	blob   []byte // once the header is read: as much as it says
	base   uint64
	layout Layout
	body   *Body
	places []place // of sections that pointers point to, in the order of the document
}

// A place is where a section is, by the pointer to it.
type place struct {
	kind    SectionKind
	record  SectionKind // that has the pointer
	field   string      // its name
	at      int         // its offset
	pointer uint64
	offset  int // where it points to in the blob
}

func (d *decoder) decode() error {
	all := len(d.blob)
	c := d.cursor(ExceptionTable, 0, min(all, d.layout.minHeaderSize()))
	d.body.Header = d.header(&c)
	if err := c.Err(); err != nil {
		return err
	}
	h := &d.body.Header
	stub := h.Flags&IsStub != 0
	if !stub {
		d.blob = d.blob[:h.Size]
	}
	if err := d.headerSize(stub); err != nil {
		return err
	}
	tail := d.cursor(ExceptionTable, c.Pos(), d.layout.HeaderSize)
	d.headerTail(&tail, h)
	d.section(ExceptionTable, 0, d.layout.HeaderSize, nil)

	if !stub {
		if err := d.findSections(); err != nil {
			return err
		}
		if err := d.readExceptions(); err != nil {
			return err
		}
		if err := d.readSections(); err != nil {
			return err
		}
	}
	d.blob = d.blob[:all] // what the header does not count is a gap, too
	d.gap(all)
	return nil
}

// headerSize sees to it that the size of the header is known: sections begin
// after it and the exception table, which has a known size.
func (d *decoder) headerSize(stub bool) error {
	h := &d.body.Header
	exceptions, size := d.layout.exceptionsSize(h), len(d.blob)
	if d.layout.HeaderSize == 0 {
		first := cmp.Or(h.InlinedCalls, h.GCStackAtlas, h.OSRInfo, h.GPUCode, h.RIData)
		if stub {
			first, exceptions = 0, 0
		}
		d.layout.HeaderSize = d.layout.minHeaderSize()
		if first == 0 { // all there is is the header, or it is unknown which part of it is
			if n := size - exceptions; d.layout.headerSizeOK(n) {
				d.layout.HeaderSize = n
			}
		} else if offset := d.offset(first); uint64(offset) < uint64(size) { // otherwise findSections finds fault with it
			n := offset - exceptions
			if !d.layout.headerSizeOK(n) {
				return d.errorAt(ExceptionTable, "numExcptionRanges", d.layout.exceptionCountOffset(),
					"%d entries of %d bytes end where the first section begins, at offset %#x; for the header that leaves %d, expected %d to %d",
					h.ExceptionCount(), d.layout.exceptionSize(h), offset, n, d.layout.minHeaderSize(), maxHeaderWords*d.layout.PointerSize)
			}
			d.layout.HeaderSize = n
		}
	}
	if d.layout.HeaderSize > size {
		return d.errorAt(ExceptionTable, "size", d.layout.exceptionCountOffset()+2, "%d bytes, the header alone has %d", size, d.layout.HeaderSize)
	}
	return nil
}

// exceptionCountOffset is where in the header numExcptionRanges is; size follows it.
func (l Layout) exceptionCountOffset() int { return 10*l.PointerSize + 10 }

// findSections finds where all sections are that the header and the atlas point to.
func (d *decoder) findSections() error {
	h, word := &d.body.Header, d.layout.PointerSize
	fields := 10*word + 16 // offset of flags
	d.pointsTo(InlineInfo, ExceptionTable, "inlinedCalls", fields+3*word, h.InlinedCalls)
	d.pointsTo(StackAtlasSection, ExceptionTable, "gcStackAtlas", fields+2*word, h.GCStackAtlas)
	if h.GCStackAtlas != 0 {
		if err := d.inBlob(&d.places[len(d.places)-1]); err != nil {
			return err
		}
		offset := d.offset(h.GCStackAtlas)
		c := d.cursor(StackAtlasSection, offset, len(d.blob))
		d.body.Atlas = d.atlas(&c)
		if err := c.Err(); err != nil {
			return err
		}
		d.pointsTo(StackAllocSection, StackAtlasSection, "stackAllocMap", offset, d.body.Atlas.StackAllocMap)
		d.pointsTo(InternalPointerSection, StackAtlasSection, "internalPointerMap", offset+word, d.body.Atlas.InternalPointerMap)
	} else if h.InlinedCalls != 0 {
		return d.errorAt(ExceptionTable, "inlinedCalls", fields+3*word, "%#x, and no gcStackAtlas, which ends what it points to", h.InlinedCalls)
	}
	d.pointsTo(OSRSection, ExceptionTable, "osrInfo", fields+9*word, h.OSRInfo)
	last := fields + 12*word // offset of codeCacheAlloc: hotness takes a word with its padding
	d.pointsTo(GPUSection, ExceptionTable, "gpuCode", last+word, h.GPUCode)
	d.pointsTo(BytecodeSection, ExceptionTable, "riData", last+2*word, h.RIData)
	d.pointsTo(InvokeBasicSection, ExceptionTable, "invokeBasicCallInfo", last+3*word, h.InvokeBasicCallInfo)

	start := d.layout.HeaderSize
	for i := range d.places {
		p := &d.places[i]
		if err := d.inBlob(p); err != nil {
			return err
		}
		if p.offset < start {
			return d.errorAt(p.record, p.field, p.at, "points to offset %#x, expected %#x or more, after the part before %s", p.offset, start, p.kind)
		}
		start = p.offset
	}
	return nil
}

func (d *decoder) pointsTo(kind, record SectionKind, field string, at int, pointer uint64) {
	if pointer != 0 {
		d.places = append(d.places, place{kind: kind, record: record, field: field, at: at, pointer: pointer})
	}
}

// inBlob says whether p points into the blob, and where.
func (d *decoder) inBlob(p *place) error {
	offset := uint64(d.offset(p.pointer))
	if offset >= uint64(len(d.blob)) {
		return d.errorAt(p.record, p.field, p.at, "%#x is outside the %d bytes from %#x on", p.pointer, len(d.blob), d.base)
	}
	p.offset = int(offset)
	return nil
}

// readExceptions reads the exception table, which nothing points to.
func (d *decoder) readExceptions() error {
	h := &d.body.Header
	start, end := d.layout.HeaderSize, len(d.blob)
	if len(d.places) > 0 {
		end = d.places[0].offset
	}
	n := d.layout.exceptionsSize(h)
	if n > end-start {
		return d.errorAt(ExceptionTable, "numExcptionRanges", d.layout.exceptionCountOffset(),
			"%d entries have %d bytes, there are %d up to the next section", h.ExceptionCount(), n, end-start)
	}
	if n == 0 {
		return nil
	}
	c := d.cursor(ExceptionInfo, start, start+n)
	d.body.Exceptions = d.exceptions(&c)
	d.section(ExceptionInfo, start, n, nil)
	return c.Err()
}

// readSections reads what pointers point to, each up to where the next begins.
func (d *decoder) readSections() error {
	for i, p := range d.places {
		if i+1 == len(d.places) {
			return d.read(p, len(d.blob))
		}
		next := d.places[i+1]
		err := d.read(p, next.offset)
		if e := (*wire.Error)(nil); errors.As(err, &e) {
			e.Text += fmt.Sprintf("; the next section, %s, begins at offset %#x", next.kind, next.offset)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read reads the section at p, which has to end at or before end.
func (d *decoder) read(p place, end int) error {
	d.gap(p.offset)
	c := d.cursor(p.kind, p.offset, end)
	b := d.body
	switch p.kind {
	case InlineInfo:
		b.Sites = d.sites(&c, int(b.Atlas.NumberOfMapBytes))
	case StackAtlasSection:
		d.atlas(&c)
		b.Atlas.Maps = d.maps(&c, b.Atlas)
	default:
		d.section(p.kind, p.offset, end-p.offset, d.blob[p.offset:end:end])
		return nil
	}
	d.section(p.kind, p.offset, c.Pos(), nil)
	return c.Err()
}

// section notes a section, which follows the one that was noted before.
func (d *decoder) section(kind SectionKind, offset, size int, gap []byte) {
	d.body.Sections = append(d.body.Sections, Section{Kind: kind, Offset: offset, Size: size, Bytes: gap})
}

// end is where the last section that was noted ends.
func (d *decoder) end() int {
	last := d.body.Sections[len(d.body.Sections)-1]
	return last.Offset + last.Size
}

// gap notes what lies between the last section and offset.
func (d *decoder) gap(offset int) {
	if start := d.end(); start < offset {
		d.section(Gap, start, offset-start, d.blob[start:offset:offset])
	}
}

// cursor returns one at offset that ends at end.
func (d *decoder) cursor(kind SectionKind, offset, end int) wire.Cursor {
	return wire.NewCursor(FormatName, kind.String(), d.blob[offset:end:end], d.layout.Order, int64(offset))
}

// offset is where in the blob a pointer points to; outside it is any other number.
func (d *decoder) offset(pointer uint64) int {
	return int((pointer - d.base) & d.layout.allOnes())
}

func (d *decoder) errorAt(kind SectionKind, field string, offset int, format string, args ...any) error {
	return &wire.Error{Format: FormatName, Record: kind.String(), Field: field, Offset: int64(offset), Text: fmt.Sprintf(format, args...)}
}

// pointer reads an address.
func (d *decoder) pointer(c *wire.Cursor, field string) uint64 { return word(c, d.layout, field) }

// byteCodeInfo reads one.
func (d *decoder) byteCodeInfo(c *wire.Cursor) ByteCodeInfo {
	return byteCodeInfo(d.layout.Order, c.U32("TR_ByteCodeInfo"))
}
