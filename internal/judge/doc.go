// Package judge compares perf's view of two results of one recording: perf inject's and
// ours. It reads the text of perf script, as users see it, under each perf.
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
//	kind           ours, compared with theirs
//	absent         the sample is missing
//	surplus        the sample is there, theirs does not have it
//	no bottom      the stack ends early, theirs reaches the thread's first function
//	fewer frames   the stack has fewer frames, and that is no gain (see below)
//	other frames   the stacks differ, and neither is known to be better
//	other symbol   one frame has another symbol or offset
//	no symbol      one frame has no symbol
//
// A frame that only ours names is a gain. So is a stack that only in ours reaches the
// bottom, or has all of their frames and more.
//
// A Rule excuses a kind of loss for a stated reason. Excused losses are returned as
// well, with the rule's name, so that a test can count them. Stated has all rules.
//
// The package imports nothing of ours: it is a second opinion.
package judge
