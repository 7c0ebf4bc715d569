package calls

// An Event is what is to be told of a thread: a call that has ended, or a note.
type Event struct {
	Kind      Kind   // Exit, TailExit, Unwound: how the call ended; Note
	Inferred  bool   // no step says that the call ended; that follows from others
	TID       uint32 // of the thread
	CPU       uint32 // of the last step
	Time      uint64 // of the end, in CLOCK_MONOTONIC nanoseconds
	Inclusive uint64 // nanoseconds from the call's beginning to its end
	Exclusive uint64 // of them, those in no other call that it made

	// Stack has the addresses of the functions that were running, the outermost
	// first, the call itself last. For a note, those during which it was made.
	// It is valid until the thread's next event, and so are the slices below.
	Stack   []uint64
	Args    []uint64 // of the call
	Type    uint32   // of a note
	Payload []byte
}

// Counts says what came of the steps.
type Counts struct {
	Threads   int64  // that logged anything
	Calls     int64  // that have ended
	Notes     int64  // of the program
	Inferred  int64  // calls that no step ends
	Unmatched int64  // exits of functions that were not on the stack
	Gaps      int64  // places where steps are missing
	Backward  int64  // steps that were older than the one before
	TooDeep   int64  // times that a stack was folded
	Deepest   int64  // how many calls were running at once in a thread, at most
	Traced    uint64 // nanoseconds during which any function was running: the sum of exclusive times
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
