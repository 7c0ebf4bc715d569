// Command jitinject puts the functions of just-in-time compilers into a
// perf.data, so that perf report, annotate and script show their names, lines and
// instructions. It replaces perf inject --jit.
package main

import (
	"io"
	"os"
	"slices"

	"github.com/jitinject/jitinject/internal/addr2line"
	"github.com/jitinject/jitinject/internal/stdio"
)

func main() {
	if addr2line.IsFilter(os.Args) {
		os.Exit(addr2line.Filter(os.Args))
	}
	code := program()
	if !stdio.Close(os.Stdout, os.Stderr) {
		code = max(code, exitIncomplete)
	}
	os.Exit(code)
}

// program is the program up to its exit code.
func program() int {
	if len(os.Args) > 1 && slices.Contains([]string{"record", "report", "annotate", "script", "diff"}, os.Args[1]) {
		return run(os.Args, os.Stdin, os.Stdout, os.Stderr) // the program that it starts gets the limits as they are
	}
	if code := prepare(newConsole(os.Args[0], os.Stderr)); code != exitOK {
		return code
	}
	return run(os.Args, os.Stdin, os.Stdout, os.Stderr)
}

// prepare checks and sets limits of the process, for work on recordings.
func prepare(stderr io.Writer) (code int) {
	if err := enoughFiles(); err != nil {
		printError(stderr, err)
		return exitFailed
	}
	limitGarbage()
	return exitOK
}
