package j9meta

import (
	"cmp"
	"fmt"

	"github.com/jitinject/jitinject/internal/wire"
)

// Decode decodes the metadata in blob, which was at address base of its process:
// struct J9JITExceptionTable and what follows it, as many bytes as its field size
// says or more.
//
// Inline Info and Stack Atlas have to follow each other as in J9JITExceptionTable.md. All other bytes
// become sections of kind Other. A pointer out of the blob, or against the order, and
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
		if err := d.sections(); err != nil {
			return err
		}
	}
	d.blob = d.blob[:all] // what the header does not count is there, too
	d.other(all)
	return nil
}

// headerSize sees to it that the size of the header is known: sections begin
// after it and the exception table, which has a known size.
func (d *decoder) headerSize(stub bool) error {
	h := &d.body.Header
	exceptions, size := d.layout.ExceptionsSize(h), len(d.blob)
	if d.layout.HeaderSize == 0 {
		first := cmp.Or(h.InlinedCalls, h.GCStackAtlas)
		if stub {
			first, exceptions = 0, 0
		}
		d.layout.HeaderSize = d.layout.minHeaderSize()
		if first == 0 { // all there is is the header, or it is unknown which part of it is
			if n := size - exceptions; d.layout.headerSizeOK(n) {
				d.layout.HeaderSize = n
			}
		} else if offset := d.offset(first); uint64(offset) < uint64(size) { // otherwise sections finds fault with it
			n := offset - exceptions
			if !d.layout.headerSizeOK(n) {
				return d.errorAt(ExceptionTable, "numExcptionRanges", d.layout.exceptionCountOffset(),
					"%d entries of %d bytes end where the first section begins, at offset %#x; for the header that leaves %d, expected %d to %d",
					h.exceptionCount(), d.layout.exceptionSize(h), offset, n, d.layout.minHeaderSize(), maxHeaderWords*d.layout.PointerSize)
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

// sections reads the exception table, which nothing points to, the inlined calls, and the stack atlas,
// which ends them.
func (d *decoder) sections() error {
	b, h, word := d.body, &d.body.Header, d.layout.PointerSize
	start, flags := d.layout.HeaderSize, 10*word+16 // offset of flags
	n := d.layout.ExceptionsSize(h)
	if n > len(d.blob)-start {
		return d.errorAt(ExceptionTable, "numExcptionRanges", d.layout.exceptionCountOffset(),
			"%d entries have %d bytes, there are %d", h.exceptionCount(), n, len(d.blob)-start)
	}
	if n > 0 {
		d.section(ExceptionInfo, start, n, d.blob[start:start+n:start+n])
	}
	if h.GCStackAtlas == 0 {
		if h.InlinedCalls != 0 {
			return d.errorAt(ExceptionTable, "inlinedCalls", flags+3*word, "%#x, and no gcStackAtlas, which ends what it points to", h.InlinedCalls)
		}
		return nil
	}
	atlas, err := d.target("gcStackAtlas", flags+2*word, h.GCStackAtlas, start+n)
	if err != nil {
		return err
	}
	c := d.cursor(StackAtlasSection, atlas, len(d.blob))
	b.Atlas = d.atlas(&c)
	if err := c.Err(); err != nil {
		return err
	}
	if h.InlinedCalls != 0 {
		calls, err := d.target("inlinedCalls", flags+3*word, h.InlinedCalls, start+n)
		if err == nil && calls > atlas {
			err = d.errorAt(ExceptionTable, "gcStackAtlas", flags+2*word, "points to offset %#x, before Inline Info at %#x, which it ends", atlas, calls)
		}
		if err != nil {
			return err
		}
		d.other(calls)
		c := d.cursor(InlineInfo, calls, atlas)
		b.Sites = d.sites(&c, int(b.Atlas.NumberOfMapBytes))
		d.section(InlineInfo, calls, c.Pos(), nil)
	}
	d.other(atlas)
	end := len(d.blob) // or where the next section begins
	for _, p := range []uint64{b.Atlas.StackAllocMap, b.Atlas.InternalPointerMap, h.OSRInfo, h.GPUCode, h.RIData, h.InvokeBasicCallInfo} {
		if at := d.offset(p); p != 0 && at > atlas && at < end {
			end = at
		}
	}
	c = d.cursor(StackAtlasSection, atlas, end)
	d.atlas(&c)
	b.Atlas.Maps = d.maps(&c, b.Atlas)
	d.section(StackAtlasSection, atlas, c.Pos(), nil)
	return c.Err()
}

// target returns where in the blob a pointer of the header points to: to start, or behind it.
func (d *decoder) target(field string, at int, pointer uint64, start int) (int, error) {
	offset := d.offset(pointer)
	if uint64(offset) >= uint64(len(d.blob)) {
		return 0, d.errorAt(ExceptionTable, field, at, "%#x is outside the %d bytes from %#x on", pointer, len(d.blob), d.base)
	}
	if offset < start {
		return 0, d.errorAt(ExceptionTable, field, at, "points to offset %#x, expected %#x or more, after the exception table", offset, start)
	}
	return offset, nil
}

// section notes a section, which follows the one that was noted before.
func (d *decoder) section(kind SectionKind, offset, size int, bytes []byte) {
	d.body.Sections = append(d.body.Sections, Section{Kind: kind, Offset: offset, Size: size, Bytes: bytes})
}

// other notes what lies between the last section and offset.
func (d *decoder) other(offset int) {
	last := d.body.Sections[len(d.body.Sections)-1]
	if start := last.Offset + last.Size; start < offset {
		d.section(Other, start, offset-start, d.blob[start:offset:offset])
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
