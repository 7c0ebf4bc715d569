// Package mono finds the logs of Mono's profiler and the processes that wrote them.
//
// No mapping names a log. It is found by the options of Mono on perf record's command line
// (args.go) or by its contents (unnamed.go), and belongs to the process that has its code
// in memory at its times (owner.go). The calls in it become a source of events (calls.go);
// the threads of the log are those of the recording by name, time and number (threads.go).
package mono
