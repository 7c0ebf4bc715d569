package xrayfdr

import (
	"encoding/binary"
	"io"
	"math/bits"
)

// A Reader walks the blocks of a trace and the records of each.
type Reader struct {
	src    io.ReaderAt
	header *Header
	big    bool
	whole  int64 // size of the file
	size   int64 // where the trace ends at the latest
	next   int64 // where the next block begins
	after  int64 // where another trace begins, behind the last block; 0 if there is none
	list   []Block
	listed bool // reads the blocks of list and not the file's
	one    [1]Block

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

	carried map[int64]Block // blocks without NewCPUId, by offset

	head [HeaderSize + patternSize]byte // for at

	typed      int64 // typed events of the block
	typedShort bool  // a block's extents did not count the markers of its typed events
	fixes      Fixes
}

// NewReader reads the file header and returns a reader that stands in front of
// the first block. src has size bytes; it is read at growing offsets, some 256
// KiB at once. A file of another format gives an error that wraps ErrNotXRay.
func NewReader(src io.ReaderAt, size int64) (*Reader, error) {
	return openTrace(src, 0, size, windowSize)
}

// openTrace returns a reader of the trace with its header at an offset of src.
func openTrace(src io.ReaderAt, start, size int64, window int) (*Reader, error) {
	h, err := readHeader(src, start)
	if err != nil {
		return nil, err
	}
	r := newReader(src, h, size, window)
	r.next = start + HeaderSize
	return r, nil
}

// NextTrace returns a reader of the trace behind this one, after NextBlock has
// returned io.EOF: a program may write several into one file. Its offsets are
// those of the file. Without another trace, the error is io.EOF. r must not be
// used any more.
func (r *Reader) NextTrace() (*Reader, error) {
	if r.after == 0 {
		return nil, io.EOF
	}
	next, err := openTrace(r.src, r.after, r.whole, r.winSize)
	if err == nil {
		next.win, next.winAt, next.pos = r.win, r.winAt, r.pos // it is read already
	}
	return next, err
}

func newReader(src io.ReaderAt, h *Header, size int64, window int) *Reader {
	return &Reader{src: src, header: h, big: h.Order == binary.BigEndian, whole: size, size: size, limit: size, winSize: window, state: atEnd}
}

// ReadBlocks returns a reader of the given blocks, in their order, which an
// Index found in src. Readers of different blocks may run side by side; each
// keeps at most 64 KiB of its file, unless events are larger.
func ReadBlocks(src io.ReaderAt, h *Header, blocks []Block) *Reader {
	r := newReader(src, h, 0, blockWindowSize)
	r.list, r.listed = blocks, true
	return r
}

// OpenBlock goes to a block that an Index found, in place of those that the reader was made for.
func (r *Reader) OpenBlock(b Block) (*Block, error) {
	r.one[0] = b
	r.list, r.listed = r.one[:], true
	return r.NextBlock()
}

// Header returns the file header. It belongs to the reader.
func (r *Reader) Header() *Header { return r.header }

// Fixes returns how often the reader has set something right so far.
func (r *Reader) Fixes() Fixes { return r.fixes }

// NextBlock goes to the next block, also from inside the one before, and
// returns what its first records say. The block belongs to the reader and is
// valid until the next call. After the last block NextBlock returns io.EOF; see
// NextTrace.
//
// A *wire.Error says that there is no block where one has to begin; reading
// goes on with the next call.
func (r *Reader) NextBlock() (*Block, error) {
	r.state = atEnd
	if r.listed {
		return r.nextListed()
	}
	if err := r.find(); err != nil {
		return nil, err
	}
	if r.block.Cut {
		r.fixes[CutFile]++
	}
	if err := r.open(); err != nil {
		return nil, err
	}
	return &r.block, nil
}

func (r *Reader) nextListed() (*Block, error) {
	if len(r.list) == 0 {
		return nil, io.EOF
	}
	r.block, r.list = r.list[0], r.list[1:]
	r.end = r.block.Offset + r.block.Size
	r.limit = r.end
	if r.block.Cut {
		r.fixes[CutFile]++
	}
	r.seek(r.block.Offset)
	r.begin()
	return &r.block, nil
}

// begin makes Next start with the block's first record.
func (r *Reader) begin() {
	r.state, r.typed = atStart, 0
	r.tsc, r.cpu = r.block.TSC, r.block.CPU
}

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
	b := r.win[r.pos : r.pos+functionSize : r.pos+functionSize]
	var head, delta uint32
	var action uint32
	if r.big {
		head, delta = binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
		action = head >> 28
		head = bits.RotateLeft32(head, 4)
	} else {
		head, delta = binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
		action = bits.RotateLeft32(head&15, 31) // the discriminant becomes the highest bit
	}
	if action > uint32(EnterArgs) || head>>4 == 0 {
		return r.nextSlow()
	}
	r.function(Kind(action), head>>4, delta)
	return &r.rec, nil
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

var afterFunction = [4]state{Enter: afterEnter, Exit: inBody, TailExit: inBody, EnterArgs: afterEnterArgs}

// split returns the discriminant and what is beside it in a record's first byte
// or first four bytes: for function records action and id, else the kind.
func (r *Reader) split(b []byte) (metadata bool, kind Kind, ok bool) {
	first := b[0]
	if r.big {
		metadata = first&0x80 != 0
		if metadata {
			first &= 0x7f
		} else {
			first >>= 4
		}
	} else {
		metadata = first&1 != 0
		first >>= 1
		if !metadata {
			first &= 7
		}
	}
	if !metadata {
		return false, Kind(first), first <= uint8(EnterArgs)
	}
	return true, firstMetadata + Kind(first), first < uint8(numKinds-firstMetadata)
}

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
	if need := recordSize(metadata); n < need {
		return r.cut()
	}
	if r.version() == 1 && !metadata && r.state >= inBody && isZero(b[:functionSize]) {
		// No function has the id 0: the buffer's memory was not written to.
		return r.finish()
	}
	switch {
	case !ok && metadata:
		return r.fail(r.bad("", "record_kind", 0, "is %d; kinds 0 to %d are known", kind-firstMetadata, numKinds-firstMetadata-1))
	case !ok:
		return r.fail(r.bad("", "action", 0, "is %d; actions 0 to %d are known", kind, EnterArgs))
	}
	to := transitions[r.state][kind]
	if v := versions[kind]; r.version() < v.first || r.version() > v.last {
		if kind != EndOfBuffer || to == rejected {
			return r.fail(r.bad(kind.String(), "", 0, "version %d has no such record", r.version()))
		}
		r.fixes[LateEndOfBuffer]++
	}
	if to == rejected {
		return r.fail(r.bad(kind.String(), "", 0, "cannot be here: %s", expected[r.state]))
	}
	if r.state < inBody && r.state >= afterWallTime && to >= inBody {
		r.leavePreamble(kind)
	}
	if !metadata {
		r.readFunction(kind, b)
		return &r.rec, nil
	}
	r.rec, r.other = Record{Offset: r.offset(), Kind: kind}, true
	return r.metadata(b, to)
}

func recordSize(metadata bool) int {
	if metadata {
		return metadataSize
	}
	return functionSize
}

func isZero(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}

func (r *Reader) version() uint16 { return r.header.Version }

// readFunction is what the quick path does.
func (r *Reader) readFunction(kind Kind, b []byte) {
	head, delta := r.header.Order.Uint32(b), r.header.Order.Uint32(b[4:])
	if r.big {
		head &= 1<<28 - 1
	} else {
		head >>= 4
	}
	r.function(kind, head, delta)
}

// leavePreamble is called as a body begins, and counts what did not come before.
func (r *Reader) leavePreamble(first Kind) {
	if r.version() >= versions[PID].first && r.state == afterWallTime {
		r.fixes[NoPID]++
	}
	if first != NewCPU && first != EndOfBuffer {
		if r.block.Base == CarriedBase {
			r.fixes[CarriedTSC]++
		} else {
			r.fixes[LostTSC]++
		}
	}
}

// fail ends the block with an error.
func (r *Reader) fail(err error) (*Record, error) {
	r.state = atEnd
	return nil, err
}

// finish ends the block where its bytes end, or what was written of it.
func (r *Reader) finish() (*Record, error) {
	if r.version() == 1 && !r.block.Cut {
		r.fixes[NoEndOfBuffer]++
	}
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
	case r.typed > 0 && r.version() == MaxVersion:
		r.typedShort = true
	default:
		r.fixes[CutRecord]++
	}
	return r.finish()
}
