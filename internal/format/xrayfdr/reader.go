package xrayfdr

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"github.com/jitinject/jitinject/internal/wire"
)

// A Reader walks the blocks of a trace and the records of each.
type Reader struct {
	src    io.ReaderAt
	header *Header
	big    bool
	size   int64 // of the file
	next   int64 // where the next block begins

	// The window: bytes of the file from winAt on; records are read at pos and
	// below lim without asking, the block ends at file offset end, and nothing is
	// read from limit on.
	win      []byte
	winAt    int64
	pos, lim int
	winSize  int
	end      int64
	limit    int64

	block Block
	state state
	tsc   uint64
	cpu   uint16
	rec   Record
	other bool // rec is no function record

	head [patternSize]byte // for headAt

	typed      int64 // typed events of the block
	typedShort bool  // a block's extents did not count the markers of its typed events
	fixes      Fixes
}

// NewReader reads the file header and returns a reader that stands in front of
// the first block. src has size bytes; it is read at growing offsets, some 256
// KiB at once. A file of another format gives an error that wraps ErrNotXRay.
func NewReader(src io.ReaderAt, size int64) (*Reader, error) {
	return newReader(src, size, windowSize)
}

func newReader(src io.ReaderAt, size int64, window int) (*Reader, error) {
	var b [HeaderSize]byte
	n, err := src.ReadAt(b[:], 0)
	if n < len(b) && err != nil && err != io.EOF {
		return nil, err
	}
	h, err := ParseHeader(b[:n])
	if err != nil {
		return nil, err
	}
	r := NewBlockReader(src, h)
	r.size, r.limit, r.next, r.winSize = size, size, HeaderSize, window
	return r, nil
}

// NewBlockReader returns a reader of single blocks: see OpenBlock. Readers of different blocks may
// run side by side; each keeps at most 64 KiB of its file, unless events are larger.
func NewBlockReader(src io.ReaderAt, h *Header) *Reader {
	return &Reader{src: src, header: h, big: h.Order == binary.BigEndian, winSize: blockWindowSize, state: atEnd}
}

// Header returns the file header. It belongs to the reader.
func (r *Reader) Header() *Header { return r.header }

// Fixes returns how often the reader has set something right so far.
func (r *Reader) Fixes() Fixes { return r.fixes }

// Next returns the next record of the block, the ones that begin it included.
// It is valid until the next call. At the end of the block Next returns io.EOF.
//
// A *wire.Error says what is wrong with a record: the grammar does not allow it
// there, or it cannot be one. It ends the block, as nothing tells where the next
// record begins; NextBlock goes on behind.
func (r *Reader) Next() (*Record, error) {
	if r.other {
		r.rec, r.other = Record{}, false
	}
	if r.lim-r.pos < functionSize || r.state-inBody > afterEnterArgs-inBody {
		return r.nextSlow()
	}
	action, id, delta := r.decodeFunction(r.win[r.pos : r.pos+functionSize])
	if action > uint32(EnterArgs) || id == 0 {
		return r.nextSlow()
	}
	r.function(Kind(action), id, delta)
	return &r.rec, nil
}

// decodeFunction returns the parts of a function record. The action of metadata is none.
func (r *Reader) decodeFunction(b []byte) (action, id, delta uint32) {
	if r.big {
		head := binary.BigEndian.Uint32(b)
		return head >> 28, head & (1<<28 - 1), binary.BigEndian.Uint32(b[4:])
	}
	head := binary.LittleEndian.Uint32(b)
	return bits.RotateLeft32(head&15, 31), head >> 4, binary.LittleEndian.Uint32(b[4:]) // the discriminant becomes the highest bit
}

// function makes the record at the reader's position a function record and
// steps over it.
func (r *Reader) function(kind Kind, id, delta uint32) {
	r.tsc += uint64(delta)
	r.rec.Offset = r.winAt + int64(r.pos)
	r.rec.Kind = kind
	r.rec.TSC = r.tsc
	r.rec.CPU = r.cpu
	r.rec.Function = id
	r.rec.Delta = int64(delta)
	r.pos += functionSize
	r.state = afterFunction[kind]
}

var afterFunction = [4]state{Enter: inBody, Exit: inBody, TailExit: inBody, EnterArgs: afterEnterArgs}

// nextSlow reads what the quick path does not: metadata, and all that needs the
// file or a second look.
func (r *Reader) nextSlow() (*Record, error) {
	if r.state == atEnd {
		return nil, io.EOF
	}
	n, err := r.fill(metadataSize)
	if err != nil {
		r.state = atEnd
		return nil, err
	}
	if n == 0 {
		return r.finish()
	}
	b := r.win[r.pos : r.pos+n]
	metadata, kind, ok := r.split(b)
	if n < functionSize || metadata && n < metadataSize {
		return r.cut()
	}
	switch {
	case !ok && metadata:
		return r.fail(r.bad("", "record_kind", 0, "is %d; kinds 0 to %d are known", kind-firstMetadata, numKinds-firstMetadata-1))
	case !ok:
		return r.fail(r.bad("", "action", 0, "is %d; actions 0 to %d are known", kind, EnterArgs))
	}
	to := transitions[r.state][kind]
	if to == rejected {
		return r.fail(r.bad(kind.String(), "", 0, "cannot be here: %s", expected[r.state]))
	}
	if !metadata {
		_, id, delta := r.decodeFunction(b)
		r.function(kind, id, delta)
		return &r.rec, nil
	}
	r.rec, r.other = Record{Offset: r.offset(), Kind: kind}, true
	return r.metadata(b, to)
}

// fail ends the block with an error.
func (r *Reader) fail(err error) (*Record, error) {
	r.state = atEnd
	return nil, err
}

// finish ends the block where its bytes end, or what was written of it.
func (r *Reader) finish() (*Record, error) {
	if r.typedShort && r.typed > 0 {
		r.fixes[TypedExtents]++
	} else {
		r.typed = 0
	}
	r.state = atEnd
	return nil, io.EOF
}

// Missing returns how many bytes of records are known to be missing at the end
// of the block, after Next has returned io.EOF. The file does not have what the
// thread did between the last record and its next block. See TypedExtents.
func (r *Reader) Missing() int64 {
	if r.state != atEnd || !r.typedShort {
		return 0
	}
	return r.typed * metadataSize
}

// cut ends the block inside a record.
func (r *Reader) cut() (*Record, error) {
	switch {
	case r.block.Cut:
	case r.typed > 0:
		r.typedShort = true
	default:
		r.fixes[CutRecord]++
	}
	return r.finish()
}

// metadata decodes the metadata record in b, whose kind is in r.rec already,
// and steps over it.
func (r *Reader) metadata(b []byte, to state) (*Record, error) {
	rec, o, d := &r.rec, r.header.Order, b[1:metadataSize]
	switch rec.Kind {
	case NewBuffer:
		rec.TID = o.Uint32(d)
	case NewCPU:
		r.cpu, r.tsc = o.Uint16(d), o.Uint64(d[2:])
		rec.CPU, rec.TSC = r.cpu, r.tsc
	case TSCWrap:
		r.tsc = o.Uint64(d)
		rec.CPU, rec.TSC = r.cpu, r.tsc
	case WallTime:
		rec.Seconds, rec.Microseconds = int64(o.Uint64(d)), o.Uint32(d[8:])
	case CallArgument:
		rec.Argument = o.Uint64(d)
	case Extents:
		rec.Extents = o.Uint64(d)
	case PID:
		rec.PID = o.Uint32(d)
	case CustomEvent, TypedEvent:
		return r.event(d, to)
	}
	r.pos += metadataSize
	r.state = to
	return rec, nil
}

// event decodes the marker of an event with the data d, and finds its payload.
func (r *Reader) event(d []byte, to state) (*Record, error) {
	rec, o := &r.rec, r.header.Order
	size := int32(o.Uint32(d))
	if size < 0 || size > maxPayload {
		return r.fail(r.bad(rec.Kind.String(), "event_size", 1, "is %d; 0 to %d are plausible", size, maxPayload))
	}
	rec.PayloadSize = uint32(size)
	rec.Delta = int64(int32(o.Uint32(d[4:])))
	rec.TSC, rec.CPU = r.tsc+uint64(rec.Delta), r.cpu
	if rec.Kind == TypedEvent {
		rec.Type = o.Uint16(d[8:])
	}
	step := metadataSize + int(size)
	n, err := r.fill(step)
	if err != nil {
		return r.fail(err)
	}
	if n < step {
		if r.header.BufferSize > 0 && uint64(size) > r.header.BufferSize {
			return r.fail(r.bad(rec.Kind.String(), "event_size", 1, "is %d, but the buffer ends after %d bytes", size, max(n-metadataSize, 0)))
		}
		return r.cut()
	}
	rec.Payload = r.win[r.pos+metadataSize : r.pos+step : r.pos+step]
	if rec.Kind == TypedEvent {
		r.typed++
	}
	r.tsc = rec.TSC
	r.pos += step
	r.state = to
	return rec, nil
}

// The bytes that a reader asks of its file at once, and the bound of what it
// keeps of an event's data.
const (
	windowSize      = 256 << 10
	blockWindowSize = 64 << 10
	maxPayload      = 16 << 20
)

// fill makes the window hold the n bytes at the reader's position, or as many
// as there are before the block's end, and returns how many those are. Records
// read before become invalid.
func (r *Reader) fill(n int) (int, error) {
	at := r.winAt + int64(r.pos)
	left := max(r.end-at, 0)
	if int64(n) > left {
		n = int(left)
	}
	for len(r.win)-r.pos < n {
		if r.pos > 0 {
			r.win = append(r.win[:0], r.win[r.pos:]...)
			r.winAt, r.pos = at, 0
		}
		if len(r.win) == cap(r.win) {
			// Twice what is there, and not beyond the block: thousands of threads may have a small one each.
			size := min(int64(max(r.winSize, 2*len(r.win))), max(r.limit-at, int64(len(r.win)+1)))
			r.win = append(make([]byte, 0, size), r.win...)
		}
		to := min(int64(cap(r.win)), max(r.limit-at, int64(len(r.win))))
		got, err := r.src.ReadAt(r.win[len(r.win):to], at+int64(len(r.win)))
		r.win = r.win[:len(r.win)+got]
		if got == 0 {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return 0, fmt.Errorf("%s: reading at offset %#x: %w", FormatName, at+int64(len(r.win)), err)
		}
	}
	r.setLim()
	return n, nil
}

// setLim computes how far the window may be read without asking.
func (r *Reader) setLim() { r.lim = int(min(int64(len(r.win)), r.end-r.winAt)) }

// seek moves to the file offset at, within the window where it is there.
func (r *Reader) seek(at int64) {
	if at >= r.winAt && at <= r.winAt+int64(len(r.win)) {
		r.pos = int(at - r.winAt)
	} else {
		r.win, r.winAt, r.pos = r.win[:0], at, 0
	}
	r.setLim()
}

// offset returns where the next record begins in the file.
func (r *Reader) offset() int64 { return r.winAt + int64(r.pos) }

// bad returns an error about a field of the record at the reader's position.
func (r *Reader) bad(record, field string, at int, format string, args ...any) error {
	return &wire.Error{Format: FormatName, Record: record, Field: field, Offset: r.offset() + int64(at), Text: fmt.Sprintf(format, args...)}
}
