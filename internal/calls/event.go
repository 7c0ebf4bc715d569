package calls

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
