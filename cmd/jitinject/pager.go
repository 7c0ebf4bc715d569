package main

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/pager"
)

// paged starts a pager if stdout is a terminal, and returns where the output goes. finish waits
// until the pager is left.
func paged(stdout *os.File, stderr io.Writer) (out *os.File, finish func()) {
	if !isTerminal(stdout) {
		return stdout, func() {}
	}
	return pager.Start(stdout, stderr)
}

// isTerminal reports whether f is one.
func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// noBrokenPipe makes writing to a pipe that nobody reads an error, which it is not for
// standard output otherwise. restore undoes that.
func noBrokenPipe() (restore func()) {
	signal.Ignore(syscall.SIGPIPE)
	return func() { signal.Reset(syscall.SIGPIPE) }
}

// isClosed reports whether an error of writing says that nobody reads any more.
func isClosed(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed)
}
