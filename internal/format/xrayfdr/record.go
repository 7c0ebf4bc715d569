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
	_            // EndOfBuffer, of LLVM 5
	NewCPU       // the thread runs on another CPU: CPU and TSC
	TSCWrap      // TSC anew
	WallTime     // CLOCK_MONOTONIC, as the runtime took the buffer
	CustomEvent  // the program said something: Payload
	CallArgument // of the EnterArgs in front
	Extents      // how many bytes the block has
	TypedEvent   // as CustomEvent, with a type
	PID          // its process

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
	// Delta is what function records and events hold instead of a full TSC. That of events may be
	// negative.
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

// Size returns the size of the record in a file, in bytes.
func (r *Record) Size() int64 {
	if r.Kind.IsFunction() {
		return functionSize
	}
	return metadataSize + int64(len(r.Payload))
}

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
	CustomEvent:  {"tid=TID", "cpu=CPU", "tsc=TSC", "delta=Delta", "payload_size=PayloadSize"},
	TypedEvent:   {"tid=TID", "cpu=CPU", "tsc=TSC", "delta=Delta", "event_type=Type", "payload_size=PayloadSize"},
}

var function = []string{"tid=TID", "cpu=CPU", "tsc=TSC", "delta=Delta", "function=Function,known"}
