// Package watcher has a small process watch the program.
//
// Where threads, memory or descriptors are short, Go's runtime ends the process with exit code 2
// and a dump of all goroutines. It may do so before main, so only code that needs no runtime can
// replace that by a sentence and the documented exit code. The entry point of the program is
// therefore entry, in assembly:
//
//	go build -ldflags '-E github.com/jitinject/jitinject/internal/watcher.entry'
//
// It forks. The child goes on with the start of Go's runtime. The parent is the watcher. It is
// a page or two of memory, has one thread, and never runs Go code. It
//
//   - waits for the child, and exits with its exit code, or by its signal;
//   - passes on signals that were sent to it alone, and SIGCONT;
//   - takes the child with it when it is killed (PR_SET_PDEATHSIG).
//
// The commands record, report, annotate, script and diff run without a watcher: they start programs,
// pass signals to them themselves, and record is the program that perf starts to become the recorded
// command. So does the filter addr2line, which perf starts hundreds of times.
//
// If the child has crashed, the watcher starts the program a second time, in mode [After]. That
// names the resource that was short, from the output of the runtime and from the CPU time, and
// removes the files of the first run. They share memory for that. If the second run crashes too,
// the watcher prints a sentence of its own: threads or memory, if the runtime wrote these words, or
// that the cause is unknown.
//
// Without that entry point, and on machines without entry, the program runs as a single process in
// mode [Alone].
package watcher
