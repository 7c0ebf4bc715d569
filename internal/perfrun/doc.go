// Package perfrun runs perf report, annotate, script and diff on results, fast.
//
// perf has the terminal, the standard streams, and all options that were typed. Four things are
// different from perf alone:
//
//   - In PATH, a private directory comes first. Its addr2line is a filter between perf and the real
//     one (package addr2line): with it, a report of node takes 2 seconds instead of 50. For objects
//     of jitted functions, which have few symbols, it becomes the real one.
//   - The limit of open files is raised to the hard limit. Each object takes two descriptors of
//     perf. At the usual limit of 1,024, perf drops inlined calls of most functions.
//   - Options that results need come first, so that typed ones replace them: see [Arguments].
//   - perf is started as "perf", without a directory. Otherwise it looks for addr2line beside itself
//     first.
//
// A user's --addr2line is perf's own affair: it does not look into PATH then.
//
// Sources: perf-report(1), perf-annotate(1), perf-script(1), perf-diff(1), getrlimit(2).
package perfrun
