package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// fewFiles is with how many open files the program gets along. With fewer, Go's runtime
// cannot even begin to wait for files, and says so in its own words.
const fewFiles = 16

// enoughFiles checks the limit of open files.
func enoughFiles() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err == nil && limit.Cur < fewFiles {
		return fmt.Errorf("only %d files may be open at once, and %d are needed: too many open files; raise the limit (ulimit -n)", limit.Cur, fewFiles)
	}
	return nil
}
