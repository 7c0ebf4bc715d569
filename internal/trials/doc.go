// Package trials holds no code, only tests: jitinject record with real runtimes, a real perf and a
// real terminal. They run the command as it is built.
//
// A trial is a way to start a program, and a way to end it. It runs twice, without jitinject and
// with it. The exit code, the standard output and the standard error of the program must be the
// same, and every sample in code of a JIT compiler must have a name. Nothing may be left but the
// recording, the result and the directory of files, and jitinject clean must remove these.
//
//	what                                                           file
//	ways to start: runtimes, npm, npx, scripts, children, jars     ways_test.go
//	ways to end: exit codes, Ctrl-C, SIGTERM, SIGKILL              ends_test.go
//	ways x ends                                                    matrix_test.go
//	job control of a shell, -d, processes that run already         terminal_test.go
//	processes that share memory for code                           workers_test.go
//	other users, containers, versions of perf, no perf             places_test.go
//	the table in docs/record-results.md                            table_test.go
//
// The programs are in testdata. With JITINJECT_ALL=1 (make interop) all ways are tried with more
// ends, in its long form with all. Programs from npm are installed into JITINJECT_ROOTS then, and tried.
package trials
