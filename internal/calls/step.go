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

// A SyntheticThread is a thread of a trace with an unknown number. It gets one that no thread of
// the recording has.
type SyntheticThread struct {
	TID  uint32
	Name string
}

// An Each calls f for the functions in call logs, any number of times each. It skips the logs of
// processes for which wanted returns false.
type Each func(ctx context.Context, wanted func(pid uint32) bool, f func(pid uint32, time, addr uint64)) error

// An Event is an event of a thread: a call that has ended, or a note.
type Event struct {
	Kind      Kind   // Exit, TailExit, Unwound: how the call ended; Note
	Inferred  bool   // the end of the call has no step; it follows from others
	TID       uint32 // of the thread
	CPU       uint32 // of the last step
	Time      uint64 // of the end, in CLOCK_MONOTONIC nanoseconds
	Inclusive uint64 // from the call's start to its end, in nanoseconds
	Exclusive uint64 // part of Inclusive outside of inner calls, in nanoseconds

	// Stack has the addresses of the running functions: the outermost first, the call itself last.
	// For a note, it has the functions running at the time. It and the slices below are valid until
	// the thread's next event.
	Stack   []uint64
	Args    []uint64 // of the call
	Type    uint32   // of a note
	Payload []byte
}

// Counts has the counts of processed steps.
type Counts struct {
	Threads   int64  // with logged steps
	Calls     int64  // that have ended
	Notes     int64  // of the program
	Inferred  int64  // calls that no step ends
	Unmatched int64  // exits of functions that were not on the stack
	Gaps      int64  // places with missing steps
	Backward  int64  // steps that were older than the one before
	TooDeep   int64  // times that a stack was folded
	Deepest   int64  // maximum number of running calls in a thread
	Traced    uint64 // time with a running function, in nanoseconds: sum of exclusive times
}

// Add adds the counts of another thread.
func (c *Counts) Add(d Counts) {
	c.Threads += d.Threads
	c.Calls += d.Calls
	c.Notes += d.Notes
	c.Inferred += d.Inferred
	c.Unmatched += d.Unmatched
	c.Gaps += d.Gaps
	c.Backward += d.Backward
	c.TooDeep += d.TooDeep
	c.Deepest = max(c.Deepest, d.Deepest)
	c.Traced += d.Traced
}
