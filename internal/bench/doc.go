// Command bench measures jitinject beside perf inject --jit, and beside what the
// file system costs by itself. It runs all of them in turn, several times, on the
// same files, each time in a fresh directory that is also their HOME. It prints
// medians. Machines are noisy, so it also prints medians of the ratios within
// each round. In the end it says which of the required ratios were met.
//
//	go run ./internal/bench [-only PART,...] [-dir DIR] [-disk DIR] [-rounds N] [-write FILE]
//
// Parts are in parts.go. With -disk, some are measured on a disk as well. -write puts the tables into the
// documentation, between its markers. script/waits measures how long the first reader of a result takes.
package main
