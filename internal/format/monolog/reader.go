package monolog

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/wire"
)

// ErrCut says that the log ends inside something: its process was killed, or
// still runs, or its gzip stream is cut. What came before is good.
var ErrCut = errors.New("the log ends here")

// A Reader reads a log, buffer by buffer and event by event, in memory of a
// fixed size.
type Reader struct {
	src     io.Reader
	srcErr  error // why src gives no more
	header  Header
	version uint8
	mask    uint64 // of addresses

	// The window: buf[pos:end] was read from src and not yet looked at. What is
	// before lim belongs to the current buffer, and left more bytes of it follow
	// those in the window.
	buf           []byte
	pos, lim, end int
	left          uint64
	base          int64 // offset of buf[0]

	buffer   BufferHeader
	in       bool // in a buffer
	bad      bool // nothing more can be read from it
	cut      bool // err is because the source ended
	reported bool // its end was reported
	packed   bool // the source is a gzip stream

	time, method uint64 // sums
	event        Event
	full         bool // event has more than the first fields
	text         []byte
	err          *wire.Error
}

const (
	windowSize       = 128 << 10
	smallWindowSize  = 16 << 10 // for readers of single threads
	bufferHeaderSize = 48
)

// A BufferHeader stands in front of a buffer: events of one thread, in the
// order of their times, except that writers of versions from 11 on put JIT
// events there that were made elsewhere.
type BufferHeader struct {
	Offset     int64  // of the header in the unpacked log
	Len        uint32 `show:"length"` // bytes of events behind the header
	Time       uint64 // nanoseconds; the first event's time counts from here
	Thread     uint64 `show:"thread,hex"`      // pthread_self
	PtrBase    uint64 `show:"ptr_base,hex"`    // addresses count from here
	ObjBase    uint64 `show:"obj_base,hex"`    // an address divided by 8; addresses of objects, divided by 8, count from here
	MethodBase uint64 `show:"method_base,hex"` // the first MonoMethod* counts from here, the others each from the one before
}

// NewReader reads a log's header from src, which may be compressed by gzip. The
// reader looks ahead in src. Errors are ErrNotMonoLog, of src, or say what in the header cannot be.
func NewReader(src io.Reader) (*Reader, error) {
	br := bufio.NewReaderSize(src, 32<<10)
	r := &Reader{src: br, buf: make([]byte, windowSize)}
	if head, _ := br.Peek(2); len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, fmt.Errorf("%s: gzip: %w", FormatName, err)
		}
		r.src, r.packed = z, true
	}
	r.left = 1 << 62 // the header is as long as it is
	if err := r.readHeader(); err != nil {
		return nil, err
	}
	r.start(&r.header)
	return r, nil
}

// ReadBufferAt returns a reader that begins at a buffer of src, an unpacked log with the
// given header. The buffer's header is at the offset. Later calls of NextBuffer give the
// buffers after it. It needs little memory: there may be one for each thread of a program.
func ReadBufferAt(src io.ReaderAt, h *Header, off int64) (*Reader, error) {
	r := &Reader{header: *h, buf: make([]byte, smallWindowSize)}
	if err := r.SeekBuffer(src, off); err != nil {
		return nil, err
	}
	return r, nil
}

// SeekBuffer makes the next NextBuffer give the buffer with its header at an offset of src,
// an unpacked log with the reader's header.
func (r *Reader) SeekBuffer(src io.ReaderAt, off int64) error {
	if off < 0 {
		return fmt.Errorf("%s: a buffer at offset %d", FormatName, off)
	}
	*r = Reader{src: io.NewSectionReader(src, off, 1<<62), header: r.header, base: off, buf: r.buf, event: r.event, full: true, text: r.text}
	r.start(&r.header)
	return nil
}

func (r *Reader) start(h *Header) {
	r.version = h.Version
	r.mask = ^uint64(0)
	if h.PtrSize == 4 {
		r.mask = 1<<32 - 1
	}
	r.limit(0)
}

// Header returns the log's header, which stays the reader's.
func (r *Reader) Header() *Header { return &r.header }

// NextBuffer moves to the next buffer, past what is left of the current one,
// and returns its header, which is valid until the next call. At the end of the log it returns io.EOF.
//
// Any other error is about damage, and the next call goes on behind it: bytes
// where a buffer's header should be, which are searched for the next one, or,
// once, an end inside a buffer or a header (ErrCut), or an error of the source.
func (r *Reader) NextBuffer() (*BufferHeader, error) {
	if r.in && !r.skip() {
		r.in, r.bad = false, true
		if !r.reported {
			r.reported = true
			return nil, r.cutShort()
		}
	}
	r.in, r.bad = false, true
	off := r.offset()
	r.limit(bufferHeaderSize)
	if !r.fill(bufferHeaderSize) {
		n := r.end - r.pos
		r.pos, r.left = r.end, 0
		r.limit(0)
		return nil, r.atEnd(off, n)
	}
	if b := r.buf[r.pos:]; binary.LittleEndian.Uint32(b) != magicBuffer {
		id := binary.LittleEndian.Uint32(b)
		skipped := r.search(off)
		return nil, &wire.Error{Format: FormatName, Record: "buffer header", Field: "bufid", Offset: off,
			Text: fmt.Sprintf("is %#08x, expected %#08x; %d bytes are left out", id, uint32(magicBuffer), skipped)}
	}
	r.takeHeader(r.buf[r.pos:r.pos+bufferHeaderSize], off)
	r.pos += bufferHeaderSize
	r.limit(uint64(r.buffer.Len))
	r.time, r.method = r.buffer.Time, r.buffer.MethodBase
	r.in, r.bad = true, false
	return &r.buffer, nil
}

func (r *Reader) takeHeader(b []byte, off int64) {
	le := binary.LittleEndian
	r.buffer = BufferHeader{
		Offset: off, Len: le.Uint32(b[4:]), Time: le.Uint64(b[8:]), PtrBase: le.Uint64(b[16:]),
		ObjBase: le.Uint64(b[24:]), Thread: le.Uint64(b[32:]), MethodBase: le.Uint64(b[40:]),
	}
}

// atEnd says that there is no header any more; n bytes are there behind off.
func (r *Reader) atEnd(off int64, n int) error {
	if r.reported {
		return io.EOF
	}
	r.reported = true
	switch {
	case r.srcErr != io.EOF:
		return r.sourceError(off)
	case n == 0:
		return io.EOF
	}
	return fmt.Errorf("%s: buffer header at offset %#x: %w: it needs %d bytes, %d are there", FormatName, off, ErrCut, bufferHeaderSize, n)
}

// cutShort says that the log ends inside the current buffer.
func (r *Reader) cutShort() error {
	if r.srcErr != io.EOF {
		return r.sourceError(r.offset())
	}
	return &cutError{&wire.Error{Format: FormatName, Record: "buffer", Field: "len", Offset: r.buffer.Offset + 4,
		Text: fmt.Sprintf("is %d, but the log ends after %d bytes", r.buffer.Len, r.base+int64(r.end)-r.buffer.Offset-bufferHeaderSize)}}
}

// sourceError says why src gave no more, other than by its end.
func (r *Reader) sourceError(off int64) error {
	if r.packed {
		return fmt.Errorf("%s: offset %#x: %w: the gzip stream around it: %w", FormatName, off, ErrCut, r.srcErr)
	}
	return fmt.Errorf("%s: offset %#x: %w", FormatName, off, r.srcErr)
}
