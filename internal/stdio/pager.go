package stdio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Paged starts a pager if stdout is a terminal, as git and perf do, and returns where the output
// goes. finish waits until the user leaves the pager.
//
// JITINJECT_PAGER or PAGER name the pager. The default is less, which ends by itself if all fits on
// the screen. cat, or an empty name, means none.
func Paged(stdout *os.File, stderr io.Writer) (out *os.File, finish func()) {
	none := func() {}
	if !isTerminal(stdout) {
		return stdout, none
	}
	pager, set := os.LookupEnv("JITINJECT_PAGER")
	if !set {
		if pager, set = os.LookupEnv("PAGER"); !set {
			pager = "less"
		}
	}
	if pager == "" || pager == "cat" || os.Getenv("TERM") == "dumb" && !set {
		return stdout, none
	}
	if _, err := exec.LookPath(pager); err != nil && !set { // a small system, without less
		return stdout, none
	}
	r, w, err := os.Pipe()
	if err != nil {
		return stdout, none
	}
	cmd := exec.Command("/bin/sh", "-c", pager)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r, stdout, stderr
	cmd.Env = os.Environ()
	if _, set := os.LookupEnv("LESS"); !set {
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	err = cmd.Start()
	r.Close()
	if err != nil {
		w.Close()
		return stdout, none
	}
	// The keyboard's interrupt is the pager's: it stops reading, and is not left.
	signal.Ignore(os.Interrupt)
	return w, func() {
		w.Close()
		if err := cmd.Wait(); exitCode(err) == 127 {
			fmt.Fprintf(stderr, "jitinject: the pager %q cannot be run; name another in JITINJECT_PAGER; cat means none\n", pager)
		}
		signal.Reset(os.Interrupt)
	}
}

// PrintPaged writes a text to standard output, through a pager as [Paged]. If that fails, it says so
// on stderr and returns false. A user may leave the pager before the end.
func PrintPaged(stdout *os.File, stderr io.Writer, text string) bool {
	out, finish := Paged(stdout, stderr)
	_, err := io.WriteString(out, text)
	if out != stdout && IsClosed(err) {
		err = nil
	}
	finish()
	return !lost(stderr, err)
}

func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// ErrorForPipe makes writing to a pipe without a reader an error. Otherwise, a signal ends the
// program if the pipe is standard output. restore undoes that.
func ErrorForPipe() (restore func()) {
	signal.Ignore(syscall.SIGPIPE)
	return func() { signal.Reset(syscall.SIGPIPE) }
}

// IsClosed reports whether an error of writing says that the reader has gone.
func IsClosed(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed)
}

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
