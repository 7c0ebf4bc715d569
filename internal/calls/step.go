package calls

import "context"

// A Kind says what a Step is about.
type Kind uint8

// Enter: a function began. Exit: it returned. TailExit: it jumped into another
// function, which takes its place. Unwound: an exception left it. Note: the program
// said something. Gap: steps are missing here.
const (
	Enter Kind = iota
	Exit
	TailExit
	Unwound
	Note
	Gap
)

// A Step is one entry of a thread's log.
type Step struct {
	Kind     Kind
	Time     uint64   // CLOCK_MONOTONIC nanoseconds
	Function uint64   // address of its first instruction in the process; 0 for Note and Gap
	CPU      uint32   // where the thread ran; only if the trace has CPUs
	Args     []uint64 // Enter: what was logged of the function's arguments
	Type     uint32   // Note: what the program calls its kind; 0 if it has none
	Payload  []byte   // Note: what it said, as it stands in the log
}

// A Thread is what one thread logged.
type Thread interface {
	// TID returns the thread's id as the recording has it.
	TID() uint32

	// Next reads the next step. Its slices are valid until the next call. Steps come in
	// the order of time; one that is older than the step before is taken to be of the
	// same time. After the last one the error is io.EOF; any other error ends the
	// thread's log, too. What is wrong with a log but does not end it is a [Problem].
	Next(*Step) error
}

// A Trace is what the threads of one process logged.
type Trace interface {
	Path() string // of the file that it is in, for messages
	Name() string // of the event in the recording: "xray", "mono"
	PID() uint32  // as the recording has it
	HasCPU() bool // steps say where the thread ran

	// Threads returns the threads, each to be gone through once, by one goroutine for
	// all. It can be called again, to go through all once more.
	Threads(ctx context.Context) ([]Thread, error)

	// Problems returns what was found to be wrong with the log so far, and is complete
	// when all threads have come to their ends.
	Problems() []Problem

	Close() error
}

// A Describer is a Trace that knows what there may be in it before it is read. Without
// that, a trace has no arguments, and may have notes.
type Describer interface {
	HasArgs() bool
	HasNotes() bool
}

// A Meter is a Trace that knows how far its threads have been read since Threads was called
// last: in bytes of the trace without compression, by whole buffers.
type Meter interface {
	Read() (done, total int64)
}

// A Problem is something that is missing in a trace, or may be.
type Problem struct {
	Offset int64  // in the trace's file, or -1
	Text   string // what happened, and what came of it
	Advice string // what to do
}
