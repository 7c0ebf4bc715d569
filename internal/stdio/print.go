package stdio

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Print writes a text to standard output. If that fails, it says so on stderr and returns false.
func Print(stdout, stderr io.Writer, text string) bool {
	_, err := io.WriteString(stdout, text)
	return !lost(stderr, err)
}

// lost reports whether there is an error of writing, and says so on stderr.
func lost(stderr io.Writer, err error) bool {
	if err != nil {
		fmt.Fprintf(stderr, "jitinject: the output cannot be written: %v\n", err)
	}
	return err != nil
}

// Close closes standard output: some file systems return errors of writing only then. If that fails,
// it says so on stderr and returns false.
func Close(stdout *os.File, stderr io.Writer) bool {
	err := sys.Of(stdout).Close()
	if errors.Is(err, unix.EBADF) || errors.Is(err, os.ErrClosed) { // it was closed from the start
		return true
	}
	return !lost(stderr, err)
}

// A Lines writes lines to standard output and keeps the first error.
type Lines struct {
	W   io.Writer
	err error
}

// Print writes a line, unless one before it was lost.
func (l *Lines) Print(line string) {
	if l.err == nil {
		_, l.err = fmt.Fprintln(l.W, line)
	}
}

// Written reports whether all lines were written. Otherwise it says why not on stderr.
func (l *Lines) Written(stderr io.Writer) bool { return !lost(stderr, l.err) }
