// Package mono makes a dump from a log of Mono's profiler, and a trace from the calls in it.
//
// A [Log] has events for methods, without their code (log.go, events.go). Core dumps may have the
// code. No mapping names a log. It is found by Mono's options on perf record's command line
// (args.go) or by its contents (unnamed.go). It belongs to the process with its code in memory at
// its times (owner.go). Methods outside executable memory are dropped (unmapped.go). The calls in a
// log become events (trace.go, calls.go). Its threads are matched with those of the recording by
// name, time and number (threads.go).
package mono
