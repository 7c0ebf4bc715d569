// Package calls is the model of call timing, for all formats that log every call of a function.
//
//	Step     one entry in a thread's log: a function began, or it ended
//	Thread   the steps of one thread, in the order of time
//	Trace    the threads of one process
//	Event    the result: a call that has ended, or a note
//
// A source makes a Trace from its file. A [Stack] reads the steps of one thread, and returns an
// event for each call that ends. A [Merger] sorts the events of all threads by time. Only the stack
// of each thread is kept, so a log can have any length.
//
// # Time of a call
//
// The time between two steps of a thread belongs to the innermost running function. It is exclusive
// time of that call, and inclusive time of all calls on the stack. So the exclusive times of a
// thread add up to exactly the time during which any logged function was running.
//
// # Inconsistent logs
//
// Exceptions leave functions without a step, programs end while functions run, and buffers get
// lost. These rules apply:
//
//   - An exit of a function that is not the innermost one ends all calls above it, at the same
//     time.
//   - The end of a thread's log ends all its calls.
//   - An exit of a function that is not on the stack ends nothing: the function began before the
//     log did.
//   - If steps are missing (Gap), the surviving calls are unknown. All calls end with the last step
//     before. The time up to the next step is not counted.
//
// Ends without a step are counted, and exits that end nothing, too. Stacks that get too deep are
// folded ([MaxDepth]).
//
// The package does no input or output, and imports no other package of this module.
package calls
