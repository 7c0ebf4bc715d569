package perfdata

import (
	"bytes"
	"encoding/binary"
	"unicode"
	"unicode/utf8"

	"github.com/jitinject/jitinject/internal/wire"
)

// A NamedEvent is an event of the feature EVENT_DESC.
type NamedEvent struct {
	Attr
	Name string
}

// EventDesc decodes the content of FeatureEventDesc [perf.data-file-format.txt, HEADER_EVENT_DESC]:
//
//	u32 nr, attr_size; nr times
//	{ perf_event_attr attr; u32 nr_ids; u32 len; char name[len]; u64 ids[nr_ids]; }
//
// A name ends with a NUL and padding.
func EventDesc(order binary.ByteOrder, content []byte) ([]NamedEvent, error) {
	c := wire.NewCursor(FormatName, "EVENT_DESC", content, order, 0)
	n, size := c.U32("nr"), uint64(c.U32("attr_size"))
	if size < attrSizeMin || size > attrSizeMax {
		c.Bad("attr_size", "is %d; a perf_event_attr has at least %d bytes", size, attrSizeMin)
	}
	var events []NamedEvent
	for ; n > 0 && c.Err() == nil; n-- {
		e := NamedEvent{Attr: Attr{order: order}}
		e.Raw = bytes.Clone(c.Bytes("attr", size))
		ids := uint64(c.U32("nr_ids"))
		name := c.Bytes("name", uint64(c.U32("name.len")))
		if end := bytes.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		e.Name = string(name)
		if ids > uint64(c.Len())/8 {
			c.Fail("ids", "%d ids, and %d bytes are left", ids, c.Len())
		}
		for ; ids > 0 && c.Err() == nil; ids-- {
			e.IDs = append(e.IDs, c.U64("id"))
		}
		events = append(events, e)
	}
	return events, c.Err()
}

// nameAlign is perf's alignment of strings in features.
const nameAlign = 64

// AppendEventDesc encodes the content of FeatureEventDesc. It pads attrs to the length of the
// longest.
func AppendEventDesc(dst []byte, order binary.ByteOrder, events []NamedEvent) []byte {
	size := attrSizeMin
	for i := range events {
		size = max(size, len(events[i].Raw))
	}
	b := wire.AppendTo(dst, order)
	b.U32(uint32(len(events)))
	b.U32(uint32(size))
	for i := range events {
		e := &events[i]
		b.Bytes(e.Raw)
		b.Zeros(size - len(e.Raw))
		b.U32(uint32(len(e.IDs)))
		padded := (len(e.Name) + nameAlign) &^ (nameAlign - 1) // with at least one NUL
		b.U32(uint32(padded))
		b.Bytes([]byte(e.Name))
		b.Zeros(padded - len(e.Name))
		for _, id := range e.IDs {
			b.U64(id)
		}
	}
	return b.Data
}

// Cmdline decodes the content of FeatureCmdline: the command line of perf record, with that of the
// program that it started [perf.data-file-format.txt, HEADER_CMDLINE]:
//
//	u32 nr; struct { u32 len; char string[len]; } of each, with a NUL and padding
//
// Of damaged content it returns the part before the damage.
func Cmdline(order binary.ByteOrder, content []byte) (args []string) {
	c := wire.NewCursor(FormatName, "CMDLINE", content, order, 0)
	for n := c.U32("nr"); n > 0; n-- {
		arg := c.Bytes("string", uint64(c.U32("len")))
		if c.Err() != nil {
			break
		}
		if end := bytes.IndexByte(arg, 0); end >= 0 {
			arg = arg[:end]
		}
		args = append(args, string(arg))
	}
	return args
}

// Text decodes the content of a feature that is one string, such as FeatureArch. It returns "" for
// a truncated string.
func Text(order binary.ByteOrder, content []byte) string {
	c := wire.NewCursor(FormatName, "feature", content, order, 0)
	text := c.Bytes("string", uint64(c.U32("len")))
	if c.Err() != nil {
		return ""
	}
	if end := bytes.IndexByte(text, 0); end >= 0 {
		text = text[:end]
	}
	return string(text)
}

// TextAfter returns the text that follows the last record of a stream whose end is known by Cut. It is ""
// if the stream has another end, such as a part of a record. A pipe has such a text if another program, or
// perf record's standard error, writes into it, too. The head of a record, 8 bytes, has some that no text
// has; a part of a head may have none.
func TextAfter(s Stream) string {
	r, ok := s.(*BlockReader)
	if !ok || r.cut < 0 || r.opaque > 0 || r.unpack != nil && r.unpack.partial() > 0 {
		return ""
	}
	rest := r.buf[r.lo:r.hi]
	if len(rest) < 8 || !utf8.Valid(rest) {
		return ""
	}
	for _, c := range string(rest) {
		if !unicode.IsPrint(c) && c != '\n' && c != '\r' && c != '\t' && c != '\x1b' {
			return ""
		}
	}
	return string(rest)
}
