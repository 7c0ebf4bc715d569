package monolog

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/wire"
)

// A Writer writes logs of any version, as Mono would: for tests, and for logs
// that are made up.
type Writer struct {
	w      io.Writer
	header Header
	out    wire.Buffer // the current buffer with its header
	base   BufferHeader
	in     bool
	time   uint64
	method uint64
	offset int64
	err    error
}

// NewWriter writes a header and returns a writer for what follows. Size of h does not matter.
func NewWriter(w io.Writer, h *Header) (*Writer, error) {
	if h.Version < MinVersion || h.Version > MaxVersion || h.PtrSize != 4 && h.PtrSize != 8 {
		return nil, fmt.Errorf("%s: there is no version %d with pointers of %d bytes", FormatName, h.Version, h.PtrSize)
	}
	var b wire.Buffer
	h.append(&b)
	n, err := w.Write(b.Data)
	return &Writer{w: w, header: *h, offset: int64(n)}, err
}

// MonoVersion returns the version of a profiler that wrote a data version, or, of
// 12, 15 and 16, one that may have: they decide how the header looks.
func MonoVersion(data uint8) (major, minor uint8) {
	switch {
	case data == 1:
		return 0, 1
	case data <= 11:
		return 0, 4
	case data <= 13:
		return 1, 0
	case data <= 14:
		return 2, 0
	}
	return 3, 0
}

// Buffer writes the buffer before, if there is one, and begins another with the bases of h.
func (w *Writer) Buffer(h BufferHeader) error {
	if err := w.Flush(); err != nil {
		return err
	}
	w.base = h
	w.time, w.method, w.in = h.Time, h.MethodBase, true
	w.out.Reset(binary.LittleEndian)
	w.out.U32(magicBuffer)
	w.out.U32(0)
	for _, v := range []uint64{h.Time, h.PtrBase, h.ObjBase, h.Thread, h.MethodBase} {
		w.out.U64(v)
	}
	return nil
}

// Flush writes the current buffer and ends it. It comes last.
func (w *Writer) Flush() error {
	if !w.in || w.err != nil {
		return w.err
	}
	w.in = false
	binary.LittleEndian.PutUint32(w.out.Data[4:], uint32(w.out.Len()-bufferHeaderSize))
	n, err := w.w.Write(w.out.Data)
	w.offset += int64(n)
	w.err = err
	return err
}

// Raw appends bytes to the current buffer as they are.
func (w *Writer) Raw(p []byte) { w.out.Bytes(p) }

// Event appends an event to the current buffer. It writes what the event's Kind
// has in the log's version, by the table at Event. Metadata take what happens from
// Load. A backtrace is written if there are Frames, or if Info, as the reader sets it,
// says that there is an empty one. Offset, Length and Type do not matter. An error
// says that the version has no such event; nothing is written then.
func (w *Writer) Event(e *Event) error {
	if !w.in {
		return fmt.Errorf("%s: %s outside of a buffer", FormatName, e.Kind)
	}
	return w.encode(e)
}
