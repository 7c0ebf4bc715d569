package calls

import "context"

// A Kind is the kind of a Step.
type Kind uint8

// Enter: a function began. Exit: it returned. TailExit: it jumped to another function, which
// replaces it. Unwound: an exception left it. Note: the program logged a message. Gap: steps are
// missing here.
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
	CPU      uint32   // CPU of the thread; only if the trace has CPUs
	Args     []uint64 // Enter: logged arguments of the function
	Type     uint32   // Note: the program's number for its kind; 0 for none
	Payload  []byte   // Note: its content, as in the log
}

// A Thread is the log of one thread.
type Thread interface {
	// TID returns the thread's id in the recording.
	TID() uint32

	// Next reads the next step. Its slices are valid until the next call. Steps are in the order of
	// time. A step older than the one before is given the time of that one. After the last step the
	// error is io.EOF. Any other error also ends the thread's log. A fault that does not end the
	// log is a [Problem].
	Next(*Step) error
}

// A Trace has the logs of the threads of one process.
type Trace interface {
	Path() string // path of its file, for messages
	Name() string // of the event in the recording: "xray", "mono"
	PID() uint32  // in the recording
	HasCPU() bool // reports whether steps have a CPU

	// Threads returns the threads. Each can be read once, all by one goroutine. Another call
	// returns them again from their start.
	Threads(ctx context.Context) ([]Thread, error)

	// Problems returns the faults of the log found so far. They are complete when all threads have
	// ended.
	Problems() []Problem

	Close() error
}

// A Describer is a Trace with known properties before it is read. Other traces have no arguments,
// and may have notes.
type Describer interface {
	HasArgs() bool
	HasNotes() bool
}

// A Synthesizer is a Trace with threads that the recording does not have, and that got other tids.
type Synthesizer interface {
	SyntheticThreads() []SyntheticThread
}

// A Meter is a Trace that counts how much of its threads was read since the last call of Threads.
// It counts bytes of the uncompressed trace, by whole buffers.
type Meter interface {
	Read() (done, total int64)
}

// A Problem is something that is missing in a trace, or may be.
type Problem struct {
	Offset int64  // in the trace's file, or -1
	Text   string // what happened, and its effect
	Advice string // what to do
}
