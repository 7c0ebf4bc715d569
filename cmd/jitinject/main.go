// Command jitinject puts the functions of just-in-time compilers into a
// perf.data, so that perf report, annotate and script show their names, lines and
// instructions. It replaces perf inject --jit.
package main

import "os"

func main() {
	if err := enoughFiles(); err != nil {
		printError(os.Stderr, err)
		os.Exit(exitFailed)
	}
	os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}
