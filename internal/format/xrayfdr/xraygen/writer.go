package xraygen

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/wire"
)

// A Writer writes a trace. It collects a block in memory and writes it when it ends.
// Errors stick, except that of
// a record that does not fit into its block; the block is as it was then.
type Writer struct {
	dst   io.Writer
	h     xrayfdr.Header
	block wire.Buffer
	open  bool
	used  int64 // what the extents count
	tsc   uint64
	err   error
}

// NewWriter writes the file header h to dst and returns a writer of blocks. A BufferSize of
// 0 does not bound blocks.
func NewWriter(dst io.Writer, h *xrayfdr.Header) (*Writer, error) {
	b := wire.NewBuffer(h.Order)
	b.U16(h.Version)
	b.U16(1) // flight data recorder
	flags, constant, nonstop := h.OtherFlags, uint32(1), uint32(2)
	if h.Order == binary.BigEndian {
		constant, nonstop = 1<<31, 1<<30
	}
	if h.ConstantTSC {
		flags |= constant
	}
	if h.NonstopTSC {
		flags |= nonstop
	}
	b.U32(flags)
	b.U64(h.CycleFrequency)
	b.U64(h.BufferSize)
	b.Zeros(8)
	if _, err := xrayfdr.ParseHeader(b.Data); err != nil {
		return nil, err
	}
	_, err := dst.Write(b.Data)
	return &Writer{dst: dst, h: *h, err: err}, err
}

// Begin begins a block, ending the one before. b says which thread, process, time and CPU it is of.
func (w *Writer) Begin(b *xrayfdr.Block) error {
	w.Record(&xrayfdr.Record{Kind: xrayfdr.NewBuffer, TID: b.TID})
	w.Record(&xrayfdr.Record{Kind: xrayfdr.WallTime, Seconds: b.Seconds, Microseconds: b.Microseconds})
	w.Record(&xrayfdr.Record{Kind: xrayfdr.PID, PID: b.PID})
	return w.CPU(b.CPU, b.TSC)
}

// CPU says that the thread runs on another CPU from tsc on.
func (w *Writer) CPU(cpu uint16, tsc uint64) error {
	return w.Record(&xrayfdr.Record{Kind: xrayfdr.NewCPU, CPU: cpu, TSC: tsc})
}

// Function writes a function record: kind is Enter, Exit, TailExit or EnterArgs.
// Where the ticks since the record before do not fit, a TSCWrap comes first.
func (w *Writer) Function(kind xrayfdr.Kind, id uint32, tsc uint64) error {
	if err := w.wrap(tsc); err != nil {
		return err
	}
	return w.Record(&xrayfdr.Record{Kind: kind, Function: id, Delta: int64(tsc - w.tsc)})
}

// wrap writes a TSCWrap where the ticks up to tsc are too many, as runtimes do.
func (w *Writer) wrap(tsc uint64) error {
	if tsc-w.tsc <= math.MaxInt32 { // time that runs backwards wraps as well
		return nil
	}
	return w.Record(&xrayfdr.Record{Kind: xrayfdr.TSCWrap, TSC: tsc})
}

// Argument writes the value of an argument of the function entered before.
func (w *Writer) Argument(v uint64) error {
	return w.Record(&xrayfdr.Record{Kind: xrayfdr.CallArgument, Argument: v})
}

// CustomEvent writes what the program said at tsc.
func (w *Writer) CustomEvent(tsc uint64, payload []byte) error {
	return w.event(xrayfdr.Record{Kind: xrayfdr.CustomEvent, TSC: tsc, Payload: payload})
}

// TypedEvent writes what the program said at tsc, with a type.
func (w *Writer) TypedEvent(typ uint16, tsc uint64, payload []byte) error {
	return w.event(xrayfdr.Record{Kind: xrayfdr.TypedEvent, Type: typ, TSC: tsc, Payload: payload})
}

func (w *Writer) event(rec xrayfdr.Record) error {
	if err := w.wrap(rec.TSC); err != nil {
		return err
	}
	rec.Delta = int64(rec.TSC - w.tsc)
	return w.Record(&rec)
}

// Record writes one record as it is, so that what a Reader returns gives the
// same trace. Function records and events are written with their Delta. NewBuffer begins a block and
// ends the one before. Extents are the writer's business and skipped.
func (w *Writer) Record(rec *xrayfdr.Record) error {
	switch {
	case w.err != nil || rec.Kind == xrayfdr.Extents:
		return w.err
	case rec.Kind == xrayfdr.NewBuffer:
		w.End()
		w.block.Reset(w.h.Order)
		w.open, w.used = true, 0
	case !w.open:
		w.err = fmt.Errorf("%v before any NewBuffer", rec.Kind)
		return w.err
	}
	payload := rec.Payload
	if payload == nil && rec.PayloadSize > 0 {
		payload = make([]byte, rec.PayloadSize)
	}
	size := int64(16 + len(payload))
	if rec.Kind.IsFunction() {
		size = 8
	}
	if w.h.BufferSize != 0 && w.used+size > int64(w.h.BufferSize) {
		return fmt.Errorf("%v: the buffer is full", rec.Kind)
	}
	w.used += size
	if rec.Kind.IsFunction() {
		head := rec.Function<<4 | uint32(rec.Kind)<<1
		if w.h.Order == binary.BigEndian {
			head = rec.Function&(1<<28-1) | uint32(rec.Kind)<<28
		}
		w.tsc += uint64(rec.Delta)
		w.block.U32(head)
		w.block.U32(uint32(rec.Delta))
	} else {
		w.metadata(rec, len(payload))
	}
	w.block.Bytes(payload)
	return nil
}

// metadata writes a metadata record without payload.
func (w *Writer) metadata(rec *xrayfdr.Record, size int) {
	b := &w.block
	start := b.Len()
	b.U8(w.first(rec.Kind))
	switch rec.Kind {
	case xrayfdr.NewBuffer:
		b.U32(rec.TID)
	case xrayfdr.NewCPU:
		b.U16(rec.CPU)
		b.U64(rec.TSC)
		w.tsc = rec.TSC
	case xrayfdr.TSCWrap:
		b.U64(rec.TSC)
		w.tsc = rec.TSC
	case xrayfdr.WallTime:
		b.U64(uint64(rec.Seconds))
		b.U32(rec.Microseconds)
	case xrayfdr.CallArgument:
		b.U64(rec.Argument)
	case xrayfdr.PID:
		b.U32(rec.PID)
	case xrayfdr.CustomEvent, xrayfdr.TypedEvent:
		b.U32(uint32(size))
		b.U32(uint32(rec.Delta))
		w.tsc += uint64(rec.Delta)
		if rec.Kind == xrayfdr.TypedEvent {
			b.U16(rec.Type)
		}
	}
	b.Zeros(start + 16 - b.Len())
}

// first returns the first byte of a metadata record.
func (w *Writer) first(kind xrayfdr.Kind) byte {
	if w.h.Order == binary.BigEndian {
		return 0x80 | byte(kind-xrayfdr.NewBuffer)
	}
	return byte(kind-xrayfdr.NewBuffer)<<1 | 1
}

// End ends the block that Begin began and writes it out. Without one it does
// nothing. The last block needs it.
func (w *Writer) End() error {
	if w.err != nil || !w.open {
		return w.err
	}
	w.open = false
	head := wire.NewBuffer(w.h.Order)
	head.U8(w.first(xrayfdr.Extents))
	head.U64(uint64(w.used))
	head.Zeros(16 - head.Len())
	if _, w.err = w.dst.Write(head.Data); w.err != nil {
		return w.err
	}
	_, w.err = w.dst.Write(w.block.Data)
	return w.err
}
