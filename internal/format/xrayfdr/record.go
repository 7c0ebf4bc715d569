package xrayfdr

import "fmt"

// A Kind is what a record is: the action of a function record or the kind of a
// metadata record.
type Kind uint8

// The kinds. The first four are function records and stand at their action, the
// others at firstMetadata + the number that the record has in a file.
const (
	Enter     Kind = iota // a function begins
	Exit                  // it returns
	TailExit              // it jumps into another instead of returning
	EnterArgs             // a function begins; CallArgument records follow

	NewBuffer    // a block begins: its thread
	EndOfBuffer  // version 1: the rest of the block means nothing
	NewCPU       // the thread runs on another CPU: CPU and TSC
	TSCWrap      // TSC anew
	WallTime     // CLOCK_MONOTONIC, as the runtime took the buffer
	CustomEvent  // the program said something: Payload
	CallArgument // of the Enter in front
	Extents      // version 2: how many bytes the block has
	TypedEvent   // version 3: as CustomEvent, with a type
	PID          // version 3: its process

	numKinds
)

// Sizes of records in a file, in bytes, without payloads.
const (
	functionSize = 8
	metadataSize = 16
)

const firstMetadata = NewBuffer

var kindNames = [numKinds]string{
	"Enter", "Exit", "TailExit", "EnterArgs", "NewBuffer", "EndOfBuffer", "NewCPUId", "TSCWrap", "WallTimeMarker",
	"CustomEventMarker", "CallArgument", "BufferExtents", "TypedEventMarker", "PidEntry",
}

// String returns the kind's name as the format's document and LLVM's sources
// have it.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// IsFunction says whether the record tells of a function's beginning or end.
func (k Kind) IsFunction() bool { return k < firstMetadata }

// A Record is one record of a block. Fields that its kind does not set are zero.
type Record struct {
	Offset int64 // of its first byte in the file
	Kind   Kind

	// TSC is the time of function records, events, NewCPU and TSCWrap, in ticks,
	// with all deltas summed up; see Header.CycleFrequency.
	TSC uint64
	// CPU is the one that the thread ran on last, for the same kinds.
	CPU uint16

	Function uint32 // Enter, Exit, TailExit, EnterArgs: the function's id, counted from 1
	// Delta is what the record holds instead of a full TSC: function records, and
	// events of version 5, where it may be negative.
	Delta int64

	Argument uint64 // CallArgument: the value of the next argument of the function

	Type uint16 // TypedEvent: as the program registered it
	// PayloadSize is the size of an event's data in bytes. Payload is valid until
	// the next call.
	PayloadSize uint32
	Payload     []byte

	Seconds      int64  // WallTime: of CLOCK_MONOTONIC
	Microseconds uint32 // WallTime
	TID          uint32 // NewBuffer
	PID          uint32 // PID
	Extents      uint64 // Extents: bytes of the block behind this record
}

// Base says where a block's first TSC is from.
type Base uint8

const (
	OwnBase     Base = iota // its NewCPUId
	CarriedBase             // the end of the same thread's block before
	NoBase                  // nowhere: TSC counts from 0, only differences mean something
)

// A Block is what a thread recorded in one buffer. From version 2 on a file
// holds the used part of a buffer, in version 1 all of it.
type Block struct {
	Offset int64 // of its first record in the file: BufferExtents, or NewBuffer in version 1
	Size   int64 // in bytes, as far as the file has them
	Cut    bool  // the file ends inside the block

	TID uint32 // as the thread sees itself: in its own pid namespace
	PID uint32 // 0 in versions 1 and 2, which do not say
	// Seconds and Microseconds are the time of CLOCK_MONOTONIC when the runtime
	// gave the buffer to the thread, shortly after TSC was read.
	Seconds      int64
	Microseconds uint32

	Base Base
	TSC  uint64 // in ticks, where the block begins; see Base
	CPU  uint16
}

// WallTime returns the time of CLOCK_MONOTONIC at TSC in nanoseconds. The
// runtime took it some hundred nanoseconds to some microseconds later.
func (b *Block) WallTime() int64 { return b.Seconds*1e9 + int64(b.Microseconds)*1e3 }

// Shown has the fields of records, by their kind, for programs that print them: each with its key, the
// field of Record, and how its value is written, as [show.Fields] has it. The TID of functions and
// events is that of their block.
var Shown = [PID + 1][]string{
	Enter:        function,
	Exit:         function,
	TailExit:     function,
	EnterArgs:    function,
	NewBuffer:    {"tid=TID"},
	PID:          {"pid=PID"},
	Extents:      {"buffer_size=Extents"},
	WallTime:     {"seconds=Seconds", "microseconds=Microseconds"},
	CallArgument: {"argument=Argument"},
	NewCPU:       {"cpu=CPU", "tsc=TSC"},
	TSCWrap:      {"tsc=TSC"},
	CustomEvent:  {"tid=TID", "cpu=CPU", "tsc=TSC", "delta=Delta,since:5", "payload_size=PayloadSize"},
	TypedEvent:   {"tid=TID", "cpu=CPU", "tsc=TSC", "delta=Delta,since:5", "event_type=Type", "payload_size=PayloadSize"},
}

var function = []string{"tid=TID", "cpu=CPU", "tsc=TSC", "delta=Delta", "function=Function,known"}

// metadata decodes the metadata record in b; its kind is in r.rec already,
// and steps over it.
func (r *Reader) metadata(b []byte, to state) (*Record, error) {
	rec, o, d := &r.rec, r.header.Order, b[1:metadataSize]
	used := 0 // bytes of d
	switch rec.Kind {
	case NewBuffer:
		rec.TID, used = r.tid(d), 4
		if rec.TID > 0xffff {
			r.fixes[WideThreadID]++
		}
	case NewCPU:
		r.cpu, r.tsc, used = o.Uint16(d), o.Uint64(d[2:]), 10
		rec.CPU, rec.TSC = r.cpu, r.tsc
	case TSCWrap:
		r.tsc, used = o.Uint64(d), 8
		rec.CPU, rec.TSC = r.cpu, r.tsc
	case WallTime:
		rec.Seconds, rec.Microseconds, used = int64(o.Uint64(d)), o.Uint32(d[8:]), 12
	case CallArgument:
		rec.Argument, used = o.Uint64(d), 8
		if to == afterEnter {
			r.fixes[PlainArguments]++
		}
	case Extents:
		rec.Extents, used = o.Uint64(d), 8
	case PID:
		rec.PID, used = o.Uint32(d), 4
	case CustomEvent, TypedEvent:
		return r.event(d, to)
	}
	r.reserved(d[used:])
	r.pos += metadataSize
	r.state = to
	return rec, nil
}

// reserved counts records with garbage in the bytes behind their fields.
func (r *Reader) reserved(d []byte) {
	if !isZero(d) {
		r.fixes[ReservedBytes]++
	}
}
