// Package count counts the samples in jitted code, and those of them that the result shows in a
// function. It looks addresses up as perf does, in the same mappings.
//
//   - [Counter] (counter.go) has the mappings of functions and files, and finds the [spot] of a sample: its
//     counter, its function, and the place in that.
//   - It counts the address histogram of the survey (histogram.go). If that is not enough, it reads all
//     samples again (count.go: [Start]).
//   - The samples in each function are counted by address and event (hot.go). In the end, the hottest
//     functions are read again, for their names and lines (hottest.go).
//   - Functions that only call others are counted in callchains (callers.go).
package count
