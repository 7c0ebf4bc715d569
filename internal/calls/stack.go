package calls

import "io"

// An Event is what is to be told of a thread: a call that has ended, or a note.
type Event struct {
	Kind      Kind   // Exit, TailExit, Unwound: how the call ended; Note
	TID       uint32 // of the thread
	CPU       uint32 // of the step that ended it
	Time      uint64 // of the end, in CLOCK_MONOTONIC nanoseconds
	Inclusive uint64 // nanoseconds from the call's beginning to its end
	Exclusive uint64 // of them, those in no other call that it made
	Inferred  bool   // no step says that the call ended; that follows from others

	// Stack has the addresses of the functions that were running, the outermost
	// first, the call itself last. For a note, those during which it was made.
	// It is valid until the thread's next event, like the slices below.
	Stack   []uint64
	Args    []uint64 // of the call
	Type    uint32   // of a note
	Payload []byte
}

// Counts says what came of the steps.
type Counts struct {
	Calls     int64  // that have ended
	Notes     int64  // of the program
	Inferred  int64  // calls that no step ends
	Unmatched int64  // exits of functions that were not on the stack
	Gaps      int64  // places where steps are missing
	Backward  int64  // steps that were older than the one before
	TooDeep   int64  // stacks that were given up because of their depth
	Traced    uint64 // nanoseconds during which any function was running: the sum of exclusive times
}

// A Stack makes events of the steps of one thread.
type Stack struct {
	thread Thread
	frames []frame
	chain  []uint64 // addresses of the frames' functions
	step   Step
	last   uint64 // time of the last step
	counts Counts
	err    error
}

type frame struct {
	entry     uint64
	exclusive uint64
}

// NewStack prepares to go through a thread.
func NewStack(t Thread) *Stack { return &Stack{thread: t} }

// Next makes the next event. After the last one, the error is what the thread's
// end was: io.EOF or another.
func (s *Stack) Next(e *Event) error { return io.EOF }

// Counts returns what was counted so far.
func (s *Stack) Counts() Counts { return s.counts }
