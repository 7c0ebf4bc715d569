// Package calls is the model of call timing: what programs that log every call of
// a function say, whatever wrote the log, and what becomes of it.
//
//	Step     one entry in a thread's log: a function began, or it ended
//	Thread   the steps of one thread, in the order of time
//	Trace    the threads of one process
//	Event    what is made of them: a call that has ended, or a note
//
// A source makes a Trace of its file. A [Stack] goes through the steps of one thread
// and gives an event for each call that ends; a [Merger] puts the events of all
// threads into the order of time. Nothing is kept but the stack of each thread, so
// a log can have any length.
//
// # What a call costs
//
// The time between two steps of a thread belongs to the innermost function that
// runs then: it is exclusive time of that call, and inclusive time of all calls on
// the stack. So the exclusive times of a thread add up to exactly the time during
// which any logged function was running in it.
//
// # Logs that do not add up
//
// An exception leaves functions without a word, programs end while functions run,
// and buffers get lost. So an exit need not be that of the innermost function: one
// of a caller ends all calls above it as well, at the same time. What has not ended
// when a thread's log does, ends with it. An exit of a function that is not on the
// stack ends nothing: it had begun before the log did. When steps are missing (Gap),
// nobody knows which calls survived: all end with the last step before, and the
// time up to the next step belongs to nobody. Ends that no step tells are counted,
// and so are exits that end nothing. Stacks that get too deep are folded ([MaxDepth]).
//
// The package does no input or output and imports nothing of ours.
package calls
