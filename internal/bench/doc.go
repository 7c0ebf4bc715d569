// Command bench measures jitinject beside perf inject --jit, and beside what the
// file system costs by itself. It runs all of them in turn, several times, on the
// same files in memory (tmpfs), HOME included, and prints medians and, because
// machines are noisy, medians of the ratios within each round.
//
//	go run ./internal/bench [-rounds N] [-dir DIR]
//
// The table for documentation is printed at the end, in Markdown.
package main
