// Package judge compares what perf shows of two results of one recording: perf
// inject's and ours. It reads the text of perf script, so it judges what a user
// sees, under the perf that the user has.
//
//	theirs, err := judge.Script(ctx, perf, "perf-inject.data")
//	ours, err := judge.Script(ctx, perf, "jitinject.data")
//	for _, loss := range judge.Real(judge.Compare(theirs, ours, judge.Stated...)) {
//		fmt.Println(loss)
//	}
//
// Compare pairs the samples of both results and follows each pair of stacks from the
// sample's own function outwards. A loss is one of:
//
//	kind           ours, beside theirs
//	absent         the sample is missing
//	surplus        the sample is there, and theirs does not have it
//	no bottom      the stack ends early, theirs reaches the thread's first function
//	fewer frames   the stack has fewer frames, and that is no gain (see below)
//	other frames   the stacks part, and neither is known to be better
//	other symbol   one frame has another symbol or offset
//	no symbol      one frame has no symbol
//
// A frame that theirs leaves unknown and ours names is a gain, and so is a stack that
// reaches the bottom where theirs does not, or that has all of their frames and more.
//
// A Rule excuses a kind of loss for a stated reason. Excused losses are returned as
// well, with the rule's name, so that a test can count them. Stated has all rules.
//
// The package imports nothing of ours: it is a second opinion.
package judge
