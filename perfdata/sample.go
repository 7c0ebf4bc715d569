package perfdata

import "encoding/binary"

// A SampleHead has the address, thread and time of a SAMPLE record.
type SampleHead struct {
	IP       uint64 // an address in the process, or in the kernel
	PID, TID uint32 // 0 for the idle task
	Time     uint64 // nanoseconds of the recording's clock; NoTime if the event has no times
}

// NoTime is the time of samples of an event without times.
const NoTime = ^uint64(0)

// SampleHead reads the start of a SAMPLE record. It is several times as fast as
// [Layouts.DecodeSample], for walks over all samples of a recording.
//
// ok is false for a sample without address or thread, for one that ends before its time, and for
// one of an unknown event.
func (ls *Layouts) SampleHead(rec Record) (h SampleHead, ok bool) {
	l := ls.of(rec)
	if l == nil || l.sampleIP == 0 || l.sampleTID == 0 || len(rec.Data) < max(l.sampleTID, l.sampleTime)+8 {
		return SampleHead{}, false
	}
	h.Time = NoTime
	if ls.little { // without the interface, for speed: this is the hot path
		le := binary.LittleEndian
		if l.sampleTime != 0 {
			h.Time = le.Uint64(rec.Data[l.sampleTime:])
		}
		h.IP = le.Uint64(rec.Data[l.sampleIP:])
		thread := le.Uint64(rec.Data[l.sampleTID:])
		h.PID, h.TID = uint32(thread), uint32(thread>>32)
		return h, true
	}
	if l.sampleTime != 0 {
		h.Time = ls.order.Uint64(rec.Data[l.sampleTime:])
	}
	h.IP = ls.order.Uint64(rec.Data[l.sampleIP:])
	h.PID, h.TID = ls.order.Uint32(rec.Data[l.sampleTID:]), ls.order.Uint32(rec.Data[l.sampleTID+4:])
	return h, true
}

// SampleChain reads the start of a SAMPLE record, and finds its callchain: words in the order of the recording.
// It is faster than [Layouts.DecodeSample], and reads only whole samples without other addresses.
//
// ok is false for a damaged sample, and for one of an unknown event, of one without IP, TID or TIME,
// or of one with ADDR, READ, or fields after the callchain.
func (ls *Layouts) SampleChain(rec Record) (h SampleHead, chain []byte, ok bool) {
	l := ls.wholeLayout(rec)
	if l == nil || !l.tail.short || len(rec.Data) < l.tail.begin {
		return h, nil, false
	}
	if l.sampleType&FieldCallchain != 0 {
		b := rec.Data[l.tail.begin:]
		if len(b) < 8 {
			return h, nil, false
		}
		n := uint64(0)
		if n, b = ls.order.Uint64(b), b[8:]; n > uint64(len(b)/8) {
			return h, nil, false
		}
		chain = b[:8*n]
	}
	h, ok = ls.SampleHead(rec)
	return h, chain, ok
}

// SamplePeriod returns the attr of a SAMPLE record, by its number, and the record's period: the number
// of events that it stands for. perf report shows shares of these. A sample without a period has that
// of its attr. SamplePeriod is as fast as [Layouts.SampleHead].
//
// ok is false for a sample of an unknown event, and for one that ends before its period.
func (ls *Layouts) SamplePeriod(rec Record) (attr int, period uint64, ok bool) {
	if len(ls.layouts) == 0 {
		return 0, 0, false
	}
	if ls.events != nil {
		id, hasID := ls.EventID(rec)
		if attr, ok = ls.events[id]; hasID && !ok && id != 0 || !hasID && ls.layouts[0].sampleID != 0 {
			return 0, 0, false
		}
	}
	at := ls.layouts[attr].samplePeriod
	switch {
	case at == 0:
		return attr, ls.periods[attr], true
	case len(rec.Data) < at+8:
		return 0, 0, false
	case ls.little:
		return attr, binary.LittleEndian.Uint64(rec.Data[at:]), true
	}
	return attr, ls.order.Uint64(rec.Data[at:]), true
}

// A Sample is a decoded SAMPLE record. Fields that the event does not have are zero, and so are
// those that were not requested.
//
// The byte slices are parts of the record, and valid while its block is. The other slices belong to
// the Sample: the next [Layouts.DecodeSample] overwrites them.
type Sample struct {
	// Fields are the decoded fields: those of the event that this package knows, without those that
	// were not requested.
	Fields SampleType

	Identifier uint64 // the event's id, as ID; see Layouts.EventID
	IP         uint64 // an address in the process, or in the kernel
	PID, TID   uint32 // 0 for the idle task
	Time       uint64 // nanoseconds of the recording's clock
	Addr       uint64 // of the accessed data, a fault, a breakpoint, ...
	ID         uint64 // of the event; of a group, its leader's
	StreamID   uint64 // of the event, on one CPU or in one thread
	CPU        uint32 // from 0
	Period     uint64 // number of events that the sample stands for

	Read Read // the event's counter

	// Callchain has the innermost address first. Entries from ContextMin on are markers, not
	// addresses.
	Callchain []uint64

	Raw []byte // a tracepoint's fields, bpf output, ...; with the kernel's padding

	BranchIndex uint64   // of the first branch in the hardware's buffer (hw_idx); all ones if unknown
	Branches    []Branch // the latest first

	UserRegs  Registers
	UserStack Stack

	// Weight is in the kernel's unit, mostly cycles. For the three parts of WEIGHT_STRUCT see
	// perf_event.h, union perf_sample_weight.
	Weight      uint64
	DataSrc     uint64 // see perf_event.h, union perf_mem_data_src
	Transaction uint64 // PERF_TXN_*

	IntrRegs Registers // at the interrupt, maybe in the kernel

	PhysAddr     uint64 // of Addr
	Cgroup       uint64 // id
	DataPageSize uint64 // of Addr, in bytes
	CodePageSize uint64 // of IP, in bytes

	Aux []byte // a piece of a hardware trace
}

// A Branch is an entry of a branch stack.
type Branch struct {
	From, To uint64 // addresses
	Flags    uint64 // the bit fields of struct perf_branch_entry: mispredicted, cycles, ...
	Counters uint64 // of PERF_SAMPLE_BRANCH_COUNTERS; else 0
}

// Registers are the values of some of a thread's registers.
type Registers struct {
	ABI  uint64 // 0: none; 1: a process of 32 bits; 2: of 64 bits
	Mask uint64 // a bit for each register of Values, numbered as in the machine's asm/perf_regs.h

	// Values are sorted by register number. A process without user space has none.
	Values []uint64
}

// A Stack is a copy of the innermost part of a thread's user stack.
type Stack struct {
	// Data begins at the stack pointer. It has the bytes that could be copied.
	Data []byte

	// Size is the space for Data in the record, in bytes: the SIZE of perf record --call-graph
	// dwarf,SIZE, or less if the record would be too large.
	Size int

	Offset int // of Data in Record.Data; 0 if there is no space
}

// A Read is the value of the event's counter, or of those of its group.
type Read struct {
	TimeEnabled uint64 // nanoseconds; 0 without PERF_FORMAT_TOTAL_TIME_ENABLED
	TimeRunning uint64 // nanoseconds; 0 without PERF_FORMAT_TOTAL_TIME_RUNNING
	Values      []ReadValue
}

// A ReadValue is the value of one counter.
type ReadValue struct {
	Value uint64
	ID    uint64 // of the event; 0 without PERF_FORMAT_ID
	Lost  uint64 // number of lost samples; 0 without PERF_FORMAT_LOST
}

// Markers in callchains. The entries up to the next marker are of the kernel, of user space and so
// on [perf_event.h, enum perf_callchain_context]. The entry after ContextUserDeferred is no
// address, either, but a cookie. The user's part comes later, in a CALLCHAIN_DEFERRED record with
// the same cookie.
const (
	ContextHypervisor   = ^uint64(32) + 1
	ContextKernel       = ^uint64(128) + 1
	ContextUser         = ^uint64(512) + 1
	ContextUserDeferred = ^uint64(640) + 1
	ContextGuest        = ^uint64(2048) + 1
	ContextGuestKernel  = ^uint64(2176) + 1
	ContextGuestUser    = ^uint64(2560) + 1

	ContextMin = ^uint64(4095) + 1 // the smallest value of a marker
)
