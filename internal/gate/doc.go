// Package gate compares results of jitinject with results of perf inject. It has tests
// only. For each recording, each perf and each layout (the default, --bundle, --sampled, objects in /tmp),
// package judge compares the output of that perf's script for both, sample by sample:
//
//   - every frame is the same, or better by a rule that judge states;
//   - a stack that reaches the bottom with perf inject does with ours;
//   - no stack has fewer frames.
//
// It compares them with the recording as it was, too: samples outside jitted code, and the part
// of each stack in files, are the same or longer. perf inject may lose these (embedded builtins
// in a library, perf 7.2).
//
// The gate also compares the default with the other layouts in both directions, and each with a
// floor: the
// stacks and frames that it has reached before. Without floors, recordings in which perf
// inject loses every stack would prove nothing. A last test scatters a heap around the code,
// which must not shorten a stack.
//
// Recordings with copies of stacks include skeletons of the files that the stacks run
// through (internal/testrec/skeleton), so that every machine unwinds them alike. The perfs
// are the installed one and those named by JITINJECT_PERFS.
package gate
