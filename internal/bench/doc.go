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
// The parts are erlang (a real recording of 15,817 functions), functions (a made-up
// one of 100,000) and tiny (100,000 functions of three instructions). floor has each
// mode beside a program that does only its reads and writes. long is a recording of
// 1 GB with few functions. readers has the time that perf report and others take for
// the results. total adds the injector and the first reader, for 1,000 to 300,000
// functions; total-long does so for 1 GB of samples, and total-huge for 10 GB. With
// -disk, some are measured on a disk as well, and total-huge only there. -write puts
// the tables into the documentation, between its markers. -large says how much memory
// a dump of 4 GB takes.
package main
