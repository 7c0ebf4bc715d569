// Package mono makes a dump of a log of Mono's profiler, and a trace of the calls in it.
//
// A [Log] has events for methods and none of their code (log.go, events.go); core dumps may have
// it. No mapping names a log. It is found by the options of Mono on perf record's command line
// (args.go) or by its contents (unnamed.go), and belongs to the process that has its code
// in memory at its times (owner.go). Methods outside executable memory are dropped (unmapped.go).
// The calls in a log become events (trace.go, calls.go); its threads are matched with those of
// the recording by name, time and number (threads.go).
package mono
