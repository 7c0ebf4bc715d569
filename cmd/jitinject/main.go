// Command jitinject puts the functions of just-in-time compilers into a
// perf.data, so that perf report, annotate and script show their names, lines and
// instructions. It replaces perf inject --jit.
package main

import (
	"os"

	"github.com/jitinject/jitinject/internal/journal"
	"github.com/jitinject/jitinject/internal/watcher"
)

func main() {
	os.Stderr = watcher.Stderr()
	if watcher.Started() == watcher.After {
		os.Exit(afterCrash(os.Args, os.Stdout, os.Stderr))
	}
	if err := enoughFiles(); err != nil {
		printError(os.Stderr, err)
		os.Exit(exitFailed)
	}
	journal.Begin(watcher.Memory())
	os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}
