package xrayfdr

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// A madeRuntime writes a trace as LLVM's runtimes do: compiler-rt's
// xray_fdr_controller.h and xray_fdr_log_writer.h of LLVM 8. Threads
// take buffers from a queue, and the first one again when it ends. It shares no
// code with the package's reader and writer.
type madeRuntime struct {
	order     binary.ByteOrder
	threshold uint64 // shorter calls are taken back
	size      int    // of a buffer
	queue     []*madeBuffer
	now       uint64
	rnd       *rand.Rand
}

type madeBuffer struct {
	data    []byte
	extents int
	want    []Record // with Kind, TSC, CPU, Function, Argument, Type, Payload
	tid     uint32
}

type madeThread struct {
	*madeRuntime
	b             *madeBuffer
	at            int
	tid, pid      uint32
	cpu           uint16 // that it runs on
	known         int    // CPU in the trace, -1 without
	last          uint64 // LastTSC
	lastEntry     uint64
	enters, tails int // NumConsecutiveFnEnters, NumTailCalls
	stack         []uint32
	clocked       uint64 // what a reader makes of it
}

// metadata writes a metadata record; data are its fields, the last bytes garbage.
func (t *madeThread) metadata(kind byte, rec Record, fields ...any) {
	d := t.b.data[t.at : t.at+16]
	d[0] = kind<<1 | 1
	if t.order == binary.BigEndian {
		d[0] = kind | 0x80
	}
	n := 1
	for _, f := range fields {
		m, err := binary.Encode(d[n:], t.order, f)
		if err != nil {
			panic(err)
		}
		n += m
	}
	clear(d[n:])
	t.at, t.b.extents = t.at+16, t.b.extents+16
	t.b.want = append(t.b.want, rec)
}

func (t *madeThread) newCPU() {
	t.clocked = t.now
	t.metadata(2, Record{Kind: NewCPU, TSC: t.now, CPU: t.cpu}, t.cpu, t.now)
	t.known = int(t.cpu)
	t.enters, t.tails = 0, 0
}

// begin takes a buffer and writes what begins it.
func (t *madeThread) begin() {
	t.b = t.queue[0]
	t.queue = t.queue[1:]
	*t.b = madeBuffer{data: t.b.data, tid: t.tid}
	t.at, t.enters, t.tails = 0, 0, 0
	ns := t.now / 2
	t.metadata(0, Record{Kind: NewBuffer}, t.tid)
	t.metadata(4, Record{Kind: WallTime}, ns/1e9, uint32(ns%1e9/1000))
	t.metadata(9, Record{Kind: PID}, t.pid)
	t.last = 0
}

// prepare makes room.
func (t *madeThread) prepare(n int) {
	if t.b != nil && t.at+n <= t.size {
		return
	}
	t.end()
	t.begin()
}

// end gives a buffer back: a full one, or when the log is finalized.
func (t *madeThread) end() {
	if t.b == nil {
		return
	}
	t.queue = append(t.queue, t.b)
	t.b = nil
}

// delta writes what has to stand before a record with a time, and returns its delta.
func (t *madeThread) delta() uint32 {
	switch d := t.now - t.last; {
	case t.known != int(t.cpu) || t.last == 0:
		t.newCPU()
	case d > math.MaxInt32:
		t.clocked = t.now
		t.metadata(3, Record{Kind: TSCWrap, TSC: t.now, CPU: t.cpu}, t.now)
		t.enters, t.tails = 0, 0
	default:
		t.last = t.now
		t.clocked += d
		return uint32(d)
	}
	t.last = t.now
	return 0
}

func (t *madeThread) function(kind Kind, id uint32, args ...uint64) {
	t.prepare(8 + 16 + 16*len(args))
	d := t.delta()
	switch {
	case kind <= TailExit && kind != Enter && t.enters > 0 && t.now-t.lastEntry < t.threshold:
		// The call was short: its entry is taken back. (Not what it tail called.)
		t.at, t.b.extents = t.at-8, t.b.extents-8
		t.enters--
		t.last -= uint64(d)
		t.clocked -= uint64(d)
		back := t.b.want[len(t.b.want)-1]
		t.b.want = t.b.want[:len(t.b.want)-1]
		t.last -= uint64(back.Delta)
		t.clocked -= uint64(back.Delta)
		if t.enters > 0 {
			t.lastEntry -= uint64(back.Delta)
		}
		return
	case kind == Enter && len(args) == 0:
		t.enters++
		t.lastEntry = t.now
	case kind == TailExit && t.enters > 0:
		t.tails++
		t.enters = 0
	default:
		t.enters, t.tails = 0, 0
	}
	word := id<<4 | uint32(kind)<<1
	if t.order == binary.BigEndian {
		word = id | uint32(kind)<<28
	}
	t.order.PutUint32(t.b.data[t.at:], word)
	t.order.PutUint32(t.b.data[t.at+4:], d)
	t.at, t.b.extents = t.at+8, t.b.extents+8
	t.b.want = append(t.b.want, Record{Kind: kind, TSC: t.clocked, CPU: uint16(t.known), Function: id, Delta: int64(d)})
	for _, v := range args {
		t.metadata(6, Record{Kind: CallArgument, Argument: v}, v)
	}
}

func (t *madeThread) event(typ int, payload []byte) {
	t.prepare(32 + len(payload))
	rec := Record{Kind: CustomEvent, TSC: t.now, CPU: uint16(max(t.known, 0)), PayloadSize: uint32(len(payload)), Payload: payload}
	kind, fields := byte(5), []any{int32(len(payload))}
	d := t.delta()
	rec.Delta, rec.CPU = int64(d), t.cpu
	fields = append(fields, d)
	if typ >= 0 {
		kind, rec.Kind, rec.Type = 8, TypedEvent, uint16(typ)
		fields = append(fields, rec.Type)
	}
	t.metadata(kind, rec, fields...)
	copy(t.b.data[t.at:], payload)
	t.b.extents += len(payload)
	t.at += len(payload)
	t.enters, t.tails = 0, 0
}

// file returns the trace, and what its buffers hold.
func (r *madeRuntime) file() (file []byte, want []*madeBuffer) {
	file = make([]byte, HeaderSize)
	r.order.PutUint16(file, Version)
	r.order.PutUint16(file[2:], 1)
	file[4] = 3
	if r.order == binary.BigEndian {
		file[4], file[7] = 0xc0, 0
	}
	r.order.PutUint64(file[8:], 2_000_000_000)
	r.order.PutUint64(file[16:], uint64(r.size))
	for _, b := range r.queue {
		if b.extents == 0 {
			continue
		}
		want = append(want, b)
		head := make([]byte, 16)
		if head[0] = 7<<1 | 1; r.order == binary.BigEndian {
			head[0] = 0x87
		}
		r.order.PutUint64(head[1:], uint64(b.extents))
		file = append(append(file, head...), b.data[:b.extents]...)
	}
	return file, want
}
