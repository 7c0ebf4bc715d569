package perfdata

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/wire"
)

// FormatName is the name of the format in errors.
const FormatName = "perf.data"

const (
	magic          = "PERFILE2"
	magicBigEndian = "2ELIFREP" // the same number, written on a big-endian machine
	magicOld       = "PERFFILE" // perf before 3.5, in either byte order; the header is the same

	headerSize     = 104 // up to the end of the feature bitmap
	headerSizePipe = 16  // magic and size, then records
	headerSizeOld  = 72  // perf before 2.6.32: no feature bitmap
)

// ErrNotPerfData and ErrNoData are errors that callers test for with errors.Is.
var (
	// ErrNoEvents says that a file describes no event, but has records of events.
	ErrNoEvents    = errors.New("the recording has no events, and its samples cannot be read without")
	ErrNotPerfData = errors.New("not a perf.data file")
	errPipe        = errors.New("perf.data in pipe format")
	ErrNoData      = errors.New("the recording holds no data")
)

// A Section is a part of the file.
type Section struct {
	Offset, Size uint64
}

// A Header is the file header.
type Header struct {
	Order      binary.ByteOrder
	AttrSize   uint64 // of one entry of the attr table: a perf_event_attr and a Section
	Attrs      Section
	Data       Section
	EventTypes Section // event names; perf before 3.1 only
	Features   FeatureSet

	// Unfinished means that perf record was stopped early: Data extends to the end of the file, the
	// last record may be cut, and there are no features.
	Unfinished bool

	rawFeatures [32]byte // Features as in the file
	size        uint64   // of the header itself, in bytes
}

// readHeader reads the header of a file of fileSize bytes.
func readHeader(src io.ReaderAt, fileSize int64) (*Header, error) {
	var buf [headerSize]byte
	n, err := src.ReadAt(buf[:], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	h := new(Header)
	switch {
	case n == 0:
		return nil, fmt.Errorf("%w: it is empty", ErrNotPerfData)
	case n < headerSizePipe:
		return nil, fmt.Errorf("%w: it has only %d bytes", ErrNotPerfData, n)
	}
	if h.Order, err = orderOf(buf[:n]); err != nil {
		return nil, err
	}
	c := wire.NewCursor(FormatName, "file header", buf[:n], h.Order, 0)
	c.U64("magic")
	h.size = c.U64("size")
	if h.size == headerSizePipe {
		return nil, errPipe
	}
	if h.size != headerSize && h.size != headerSizeOld {
		c.Bad("size", "is %d; %d is the size of the header", h.size, headerSize)
	}
	if h.AttrSize = c.U64("attr_size"); h.AttrSize < attrSizeMin+16 || h.AttrSize > attrSizeMax {
		c.Bad("attr_size", "is %d; a perf_event_attr has at least %d bytes, and 16 more say where its ids are", h.AttrSize, attrSizeMin)
	}
	section := func(name string) (s Section) {
		s.Offset = c.U64(name + ".offset")
		s.Size = c.U64(name + ".size")
		if s.Size != 0 && (s.Offset > uint64(fileSize) || s.Size > uint64(fileSize)-s.Offset) {
			c.Bad(name, "%d bytes at %#x reach beyond the end of the file, %d bytes long; was its writer stopped?", s.Size, s.Offset, fileSize)
		}
		return s
	}
	if h.Attrs = section("attrs"); c.Err() == nil && h.Attrs.Size%h.AttrSize != 0 {
		c.Bad("attrs.size", "%d bytes are no whole number of entries of %d bytes", h.Attrs.Size, h.AttrSize)
	}
	h.Data = section("data")
	h.EventTypes = section("event_types")
	if h.size == headerSize {
		copy(h.rawFeatures[:], c.Bytes("adds_features", 32))
		h.Features = parseFeatureSet(h.rawFeatures[:], h.Order)
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	if h.Data.Size == 0 {
		// perf record writes the size at its end. If it was killed, the records exist all the same,
		// up to the end of the file.
		if h.Data.Offset < headerSizeOld || h.Data.Offset >= uint64(fileSize) {
			return nil, ErrNoData
		}
		h.Data.Size = uint64(fileSize) - h.Data.Offset
		h.Features = FeatureSet{}
		h.rawFeatures = [32]byte{}
		h.Unfinished = true
	}
	return h, nil
}

// HasMagic reports whether a file that begins with head is a recording.
func HasMagic(head []byte) bool {
	return len(head) >= 8 && (string(head[:8]) == magic || string(head[:8]) == magicBigEndian || string(head[:8]) == magicOld)
}

// orderOf returns the byte order of a file by its first 8 bytes.
func orderOf(b []byte) (binary.ByteOrder, error) {
	switch {
	case string(b[:8]) == magic:
		return binary.LittleEndian, nil
	case string(b[:8]) == magicBigEndian:
		return binary.BigEndian, nil
	case string(b[:8]) == magicOld: // the size of the header tells the order
		if len(b) >= headerSizePipe && binary.BigEndian.Uint64(b[8:]) <= headerSize {
			return binary.BigEndian, nil
		}
		return binary.LittleEndian, nil
	case allZero(b[:8]):
		// perf writes the header last.
		return nil, fmt.Errorf("%w: its header is all zeros, as if its writer had been stopped before the end", ErrNotPerfData)
	}
	return nil, fmt.Errorf("%w: it begins with %q, not with %q", ErrNotPerfData, b[:8], magic)
}

// append encodes h with its sections.
func (h *Header) append(b *wire.Buffer) {
	if h.Order == binary.BigEndian {
		b.Bytes([]byte(magicBigEndian))
	} else {
		b.Bytes([]byte(magic))
	}
	b.U64(h.size)
	b.U64(h.AttrSize)
	for _, s := range []Section{h.Attrs, h.Data, h.EventTypes} {
		b.U64(s.Offset)
		b.U64(s.Size)
	}
	if h.size == headerSize {
		b.Bytes(h.rawFeatures[:])
	}
}

// setFeatures sets the bitmap for the given features. It keeps an equal bitmap as it is.
func (h *Header) setFeatures(features []Feature) {
	var set FeatureSet
	for i := range features {
		set[features[i].ID/64] |= 1 << (features[i].ID % 64)
	}
	if set == h.Features {
		return
	}
	h.Features = set
	for i, word := range set {
		h.Order.PutUint64(h.rawFeatures[8*i:], word)
	}
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
