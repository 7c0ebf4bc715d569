// Command runtimes tries jitinject on the runtimes that npm, Debian and Go's proxy offer:
//
//	go run ./internal/runtimes [-list] [-keep] [-write PAGE] [RUNTIME...]
//
// A runtime is FAMILY@VERSION/SUITE, such as node@25, java@21/trixie or php@8.2/bookworm;
// families are in families.go, and those that run without arguments in table.go. A
// version that is not in the table needs no change: node@26, java@26/sid.
//
// For each runtime, it:
//
//  1. installs it: with npm, or with apt in a folder of that Debian release
//     (script/debian-root), or on this machine if it runs that release; for a Go module, it
//     builds a program of testdata/truth/wasm with it;
//  2. records a program of testdata/truth, once with -g and once with --call-graph
//     dwarf,32768, with the perf of this machine;
//  3. injects with jitinject, and with perf inject of each perf: this machine's, and those
//     of trixie and sid (script/perf-root);
//  4. judges names and lines by the program's marks (internal/truth), and stacks against
//     perf inject's, under each perf (internal/judge);
//  5. writes a row of each table in docs/runtimes/results.md. Rows of other runtimes stay.
//
// With -keep, recordings and files from /tmp are kept below -roots/work. It prints the
// command that shows them together.
//
// A runtime that cannot be installed or recorded is reported, and the exit code is 1. The
// others are tried all the same. Installed files stay below -roots. The command needs root:
// for debootstrap, and for a /tmp of its own, in which some runtimes leave their dumps.
//
// A runtime from another release runs by that release's own dynamic loader with full
// paths, so that the recording names files of this machine.
package main
