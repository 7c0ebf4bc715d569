// Command bench measures jitinject beside perf inject --jit, and beside what the
// file system costs by itself. It runs all of them in turn, several times, on the
// same files, each time in a fresh directory that is also their HOME. It prints
// medians. Machines are noisy, so it also prints medians of the ratios within
// each round. In the end it says which of the required ratios were met.
//
//	go run ./internal/bench [-only PART,...] [-dir DIR] [-disk DIR] [-rounds N] [-write FILE]
//	go run ./internal/bench -growth [-write FILE]
//	go run ./internal/bench -large DIR
//
// The parts are erlang (a real recording of 15,817 functions) and functions (a
// made-up one of 100,000). floor has each mode beside a program that does only its
// reads and writes. long is a recording of 1 GB with few functions. readers has the
// time that perf report and others take for the results. With -disk, erlang and
// functions are measured on a disk as well. -write puts the tables into the
// documentation, between its markers. -large says how much memory a dump of 4 GB
// takes.
package main
