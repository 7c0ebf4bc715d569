package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// fewFiles is how many open files the program needs: a run with one dump, with --objects, --sources
// and --buildid-cache, works with 21 of them, on amd64. More dumps and more workers may need more,
// and say so. With very few, Go's runtime ends the program in its own words.
const fewFiles = 24

// enoughFiles checks the limit of open files.
func enoughFiles() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err == nil && limit.Cur < fewFiles {
		return fmt.Errorf("only %d files may be open at once, and %d are needed: too many open files; raise the limit (ulimit -n)", limit.Cur, fewFiles)
	}
	return nil
}

// limitGarbage makes the garbage collector run when memory has grown by 40 %, and not by 100 %. The
// environment variable GOGC overrides that.
func limitGarbage() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(40)
	}
}
