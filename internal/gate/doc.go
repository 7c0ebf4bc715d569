// Package gate holds what jitinject makes of recordings beside what perf inject makes of
// them. It has tests only. For each recording, each perf and each layout (the default,
// --bundle, --sampled) it compares, by package judge, what that perf's script prints of
// perf inject's result and of ours, sample by sample:
//
//   - every frame is the same, or better by a rule that judge states;
//   - a stack that reaches the bottom with perf inject does with ours;
//   - no stack has fewer frames.
//
// The layouts are held beside each other as well, and beside what they have reached: perf
// inject has nothing to lose where its stacks end in the first jitted frame.
//
// Recordings with copies of stacks bring skeletons of the files that the stacks run
// through (internal/testrec/skeleton), so that every machine unwinds them alike. Of perfs,
// there is the one that is installed, and those that JITINJECT_PERFS names.
package gate
