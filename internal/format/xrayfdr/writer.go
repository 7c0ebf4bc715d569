package xrayfdr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/wire"
)

// ErrFull says that a record does not fit into its block any more. The block is
// as it was; a runtime ends it then and begins another. Callers test for it with
// errors.Is.
var ErrFull = errors.New("the buffer is full")

// A Writer writes a trace, in any version and byte order. It collects a block in
// memory and writes it when it ends. Errors stick, except ErrFull.
type Writer struct {
	// LosePayloads makes the writer do what LLVM 5 to 7 did in versions 1 to 3: an
	// event's data is written over by the next record.
	LosePayloads bool

	dst   io.Writer
	h     Header
	block wire.Buffer
	open  bool
	used  int64  // what the extents count
	left  []byte // data that was not stepped over and is there still
	tsc   uint64
	cpu   uint16
	err   error
}

// NewWriter writes the file header h to dst and returns a writer of blocks. The
// header needs an order and a version. A BufferSize of 0 does not bound blocks;
// version 1 must have one, and all its blocks get that size.
func NewWriter(dst io.Writer, h *Header) (*Writer, error) {
	if h.Order == nil {
		return nil, fmt.Errorf("%s: a header needs a byte order", FormatName)
	}
	b := h.AppendTo(nil)
	if _, err := ParseHeader(b); err != nil {
		return nil, err
	}
	_, err := dst.Write(b)
	return &Writer{dst: dst, h: *h, err: err}, err
}

// Begin begins a block with the records that the version wants, ending the one
// before. b says which thread, process, time and CPU it is of; with another Base
// than OwnBase the block gets no NewCPUId, and b.TSC is what the first delta is
// counted from.
func (w *Writer) Begin(b *Block) error {
	w.Record(&Record{Kind: NewBuffer, TID: b.TID})
	w.Record(&Record{Kind: WallTime, Seconds: b.Seconds, Microseconds: b.Microseconds})
	if w.h.Version >= versions[PID].first {
		w.Record(&Record{Kind: PID, PID: b.PID})
	}
	w.tsc, w.cpu = b.TSC, b.CPU
	if b.Base == OwnBase {
		return w.CPU(b.CPU, b.TSC)
	}
	return w.err
}

// CPU says that the thread runs on another CPU from tsc on.
func (w *Writer) CPU(cpu uint16, tsc uint64) error {
	return w.Record(&Record{Kind: NewCPU, CPU: cpu, TSC: tsc})
}

// Function writes a function record: kind is Enter, Exit, TailExit or EnterArgs.
// Where the ticks since the record before do not fit, a TSCWrap comes first.
func (w *Writer) Function(kind Kind, id uint32, tsc uint64) error {
	limit := uint64(math.MaxUint32)
	if w.h.Version >= 5 {
		limit = math.MaxInt32 // as runtimes of that version do
	}
	if err := w.wrap(tsc, limit, functionSize); err != nil {
		return err
	}
	return w.Record(&Record{Kind: kind, Function: id, Delta: int64(tsc - w.tsc)})
}

// wrap writes a TSCWrap where the ticks up to tsc are more than limit. size is
// that of the record to come: either both fit into the block or none is written.
func (w *Writer) wrap(tsc, limit uint64, size int) error {
	if tsc-w.tsc <= limit { // time that runs backwards wraps as well
		return nil
	}
	if w.open && !w.fits(metadataSize+size) {
		return fmt.Errorf("%s: %v: %w", FormatName, TSCWrap, ErrFull)
	}
	return w.Record(&Record{Kind: TSCWrap, TSC: tsc})
}

// Argument writes the value of an argument of the function entered before.
func (w *Writer) Argument(v uint64) error { return w.Record(&Record{Kind: CallArgument, Argument: v}) }

// CustomEvent writes what the program said at tsc.
func (w *Writer) CustomEvent(tsc uint64, payload []byte) error {
	return w.event(Record{Kind: CustomEvent, TSC: tsc, Payload: payload})
}

// TypedEvent writes what the program said at tsc, with a type; from version 3 on.
func (w *Writer) TypedEvent(typ uint16, tsc uint64, payload []byte) error {
	return w.event(Record{Kind: TypedEvent, Type: typ, TSC: tsc, Payload: payload})
}

func (w *Writer) event(rec Record) error {
	rec.CPU = w.cpu
	if w.h.Version >= 5 {
		if err := w.wrap(rec.TSC, math.MaxInt32, metadataSize+len(rec.Payload)); err != nil {
			return err
		}
		rec.Delta = int64(rec.TSC - w.tsc)
	}
	return w.Record(&rec)
}

// Record writes one record as it is, so that what a Reader returns gives the
// same trace. Function records, and events of version 5, are written with their
// Delta, others with their TSC. NewBuffer begins a block and ends the one
// before. Extents are the writer's business and skipped, as is EndOfBuffer.
func (w *Writer) Record(rec *Record) error {
	switch {
	case w.err != nil:
		return w.err
	case rec.Kind == Extents:
		return nil
	case rec.Kind == EndOfBuffer:
		return w.End()
	case rec.Kind >= numKinds:
		return w.fail("%v cannot be written", rec.Kind)
	case w.h.Version < versions[rec.Kind].first:
		return w.fail("version %d has no %v", w.h.Version, rec.Kind)
	case rec.Kind == NewBuffer:
		w.End()
		w.block.Reset(w.h.Order)
		w.open, w.used, w.left = true, 0, w.left[:0]
	case !w.open:
		return w.fail("%v before any NewBuffer", rec.Kind)
	}
	payload := rec.Payload
	if payload == nil && rec.PayloadSize > 0 {
		payload = make([]byte, rec.PayloadSize)
	}
	size := metadataSize + len(payload)
	if rec.Kind.IsFunction() {
		size = functionSize
	}
	if !w.fits(size) {
		return fmt.Errorf("%s: %v: %w", FormatName, rec.Kind, ErrFull)
	}
	if len(payload) > maxPayload {
		return w.fail("%v with %d bytes", rec.Kind, len(payload))
	}
	w.used += int64(size)
	before := w.block.Len()
	if rec.Kind.IsFunction() {
		w.function(rec)
	} else {
		w.metadata(rec, len(payload))
	}
	// What was not stepped over is behind the record, where that is shorter.
	w.left = w.left[min(len(w.left), w.block.Len()-before):]
	if w.LosePayloads {
		if len(payload) > 0 {
			w.left = append(slices.Clone(payload), w.left[min(len(w.left), len(payload)):]...)
		}
	} else {
		w.block.Bytes(payload)
	}
	return nil
}

// fits says whether the block has room for size bytes, and for EndOfBuffer
// behind them.
func (w *Writer) fits(size int) bool {
	if w.h.Version == 1 {
		size += metadataSize
	}
	return w.h.BufferSize == 0 || w.used+int64(size) <= int64(w.h.BufferSize)
}

func (w *Writer) fail(format string, args ...any) error {
	w.err = fmt.Errorf("%s: %s", FormatName, fmt.Sprintf(format, args...))
	return w.err
}

func (w *Writer) function(rec *Record) {
	head := rec.Function<<4 | uint32(rec.Kind)<<1
	if w.big() {
		head = rec.Function&(1<<28-1) | uint32(rec.Kind)<<28
	}
	w.tsc += uint64(rec.Delta)
	w.block.U32(head)
	w.block.U32(uint32(rec.Delta))
}

// metadata writes a metadata record without payload.
func (w *Writer) metadata(rec *Record, size int) {
	b := &w.block
	start := b.Len()
	b.U8(w.first(rec.Kind))
	switch rec.Kind {
	case NewBuffer:
		b.U32(rec.TID)
	case NewCPU:
		b.U16(rec.CPU)
		b.U64(rec.TSC)
		w.tsc, w.cpu = rec.TSC, rec.CPU
	case TSCWrap:
		b.U64(rec.TSC)
		w.tsc = rec.TSC
	case WallTime:
		b.U64(uint64(rec.Seconds))
		b.U32(rec.Microseconds)
	case CallArgument:
		b.U64(rec.Argument)
	case PID:
		b.U32(rec.PID)
	case CustomEvent, TypedEvent:
		b.U32(uint32(size))
		if w.h.Version >= 5 {
			b.U32(uint32(rec.Delta))
			w.tsc += uint64(rec.Delta)
		} else {
			b.U64(rec.TSC)
		}
		if rec.Kind == TypedEvent {
			b.U16(rec.Type)
		} else if w.h.Version == 4 {
			b.U16(rec.CPU)
		}
	}
	b.Zeros(start + metadataSize - b.Len())
}

func (w *Writer) big() bool { return w.h.Order == binary.BigEndian }

// first returns the first byte of a metadata record.
func (w *Writer) first(kind Kind) byte {
	if w.big() {
		return 0x80 | byte(kind-firstMetadata)
	}
	return byte(kind-firstMetadata)<<1 | 1
}

// End ends the block that Begin began and writes it out. Without one it does
// nothing. The last block needs it.
func (w *Writer) End() error {
	if w.err != nil || !w.open {
		return w.err
	}
	w.open = false
	b := &w.block
	var rest int64 // zeros behind
	if w.h.Version == 1 {
		w.metadata(&Record{Kind: EndOfBuffer}, 0)
		w.left = w.left[min(len(w.left), metadataSize):]
		b.Bytes(w.left)
		rest = int64(w.h.BufferSize) - int64(b.Len())
	} else {
		b.Bytes(w.left)
		b.Zeros(int(w.used - int64(b.Len())))
		var head wire.Buffer
		head.Reset(w.h.Order)
		head.U8(w.first(Extents))
		head.U64(uint64(w.used))
		head.Zeros(metadataSize - head.Len())
		if _, w.err = w.dst.Write(head.Data); w.err != nil {
			return w.err
		}
	}
	_, w.err = w.dst.Write(b.Data)
	for zeros := make([]byte, min(rest, blockWindowSize)); w.err == nil && rest > 0; rest -= int64(len(zeros)) {
		_, w.err = w.dst.Write(zeros[:min(rest, int64(len(zeros)))])
	}
	return w.err
}
