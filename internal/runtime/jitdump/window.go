package jitdump

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/disasm"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// A window is the part of a dump that a Reader holds in memory. Functions are mostly read in the
// order of the file, and the records of one are mostly adjacent. So one large read serves many
// functions.
type window struct {
	src   io.ReaderAt
	order binary.ByteOrder

	near held
	far  []held // one for each record far from the load
}

// A held is a part of the file that is in memory.
type held struct {
	at   int64
	data []byte
}

const (
	windowSize = 32 << 10 // minimum size of a read, in bytes
	windowMax  = 1 << 20  // records farther apart are read one by one
)

// window returns a window on the dump, with nothing in memory.
func (l *listing) window() window { return window{src: l.src, order: l.order()} }

// hold reads a load and its records into memory, where they stay until the next call. It skips
// empty spans.
func (w *window) hold(load source.Span, others ...source.Span) error {
	lo, hi := load.Off, load.Off+int64(load.Size)
	far := w.far[:0]
	for _, s := range others {
		if s.Size == 0 {
			continue
		}
		if l, h := min(lo, s.Off), max(hi, s.Off+int64(s.Size)); h-l <= windowMax {
			lo, hi = l, h
			continue
		}
		if len(far) < cap(far) {
			far = far[:len(far)+1] // reuse its memory
		} else {
			far = append(far, held{})
		}
		// Functions of a batch have one unwinding record.
		if f := &far[len(far)-1]; !f.has(s.Off, int64(s.Size)) {
			if err := f.read(w.src, s.Off, int64(s.Size), int64(s.Size)); err != nil {
				return err
			}
		}
	}
	w.far = far
	if w.near.has(lo, hi-lo) {
		return nil
	}
	// Records of a batch come first, so that lo stays and hi grows.
	return w.near.read(w.src, lo, hi-lo, hi-lo+windowSize)
}

// only reads one record, valid until the next call of a method.
func (w *window) only(s source.Span) (raw jitdump.Raw, err error) {
	if err = w.hold(s); err == nil {
		raw, err = w.record(s)
	}
	return raw, err
}

// has reports whether a range of the file is in memory.
func (h *held) has(off, size int64) bool {
	return off >= h.at && off+size <= h.at+int64(len(h.data))
}

// read fills s with size bytes, or fewer at the end of the file. It fails if fewer than need are
// there.
func (h *held) read(src io.ReaderAt, off, need, size int64) error {
	if int64(cap(h.data)) < size {
		h.data = make([]byte, size)
	}
	n, err := src.ReadAt(h.data[:size], off)
	h.at, h.data = off, h.data[:n]
	if int64(n) >= need {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("offset %#x: the file has shrunk since it was read first: %w", off, err)
}

// record returns one of the held records.
func (w *window) record(s source.Span) (jitdump.Raw, error) {
	in := &w.near
	for i := range w.far {
		if w.far[i].has(s.Off, int64(s.Size)) {
			in = &w.far[i]
		}
	}
	lo := s.Off - in.at
	return jitdump.ParseRecord(in.data[lo:lo+int64(s.Size)], w.order, s.Off)
}

// A CodeReader reads the names and code of functions, and nothing else of them. Each goroutine needs
// its own.
type CodeReader struct {
	listing *listing
	window  window
	patched []byte // code without salt; see unsalted
	filled  []byte // code from a memory
}

// NewCodeReader returns a new reader of the functions' code.
func (l *listing) NewCodeReader() *CodeReader {
	return &CodeReader{listing: l, window: l.window()}
}

// Code returns the name and the code of a function, valid until the next call. It fails if the record
// cannot be read again.
func (r *CodeReader) Code(function int) (name, code []byte, err error) {
	raw, err := r.window.only(r.listing.functions[function].load.span())
	if err != nil {
		return nil, nil, err
	}
	load, err := raw.Load()
	return load.Name, r.codeOf(function, &load), err
}

// codeOf returns the code of a function's load, or from a memory.
func (r *CodeReader) codeOf(function int, load *jitdump.Load) []byte {
	i, lacks := r.listing.withoutCode[function]
	if !lacks {
		return r.unsalted(load.Code)
	}
	e := &r.listing.Events[i]
	code := r.listing.memory.Read(function, e.Addr, e.Size, r.filled)
	if code != nil {
		r.filled = code
	}
	return code
}

// Codes implements source.Coder.
func (d *Dump) Codes() func(function int) (name, code []byte, err error) {
	return d.NewCodeReader().Code
}

// Targets calls f for every direct branch that leaves the i-th function. offset is the branch
// target, counted from the function's start. Targets reads only the code, and fails if that cannot
// be read again.
func (r *Reader) Targets(i int, f func(offset int64)) error {
	_, code, err := r.code.Code(i)
	if err != nil {
		return err
	}
	disasm.Targets(r.listing.Target(), code, f)
	return nil
}
