package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"
)

// What a command line without -i or -o reads and writes.

// streams completes the options with what standard input and output are. A bare jitinject
// stands in a pipeline if a recording comes from standard input; else it is for files,
// whatever reads what it says: programs are started by scripts, over ssh and by cron, with
// pipes that are nobody's recordings. With an input that was named, the result goes into
// a pipe, as perf inject's does. It fails if it cannot tell what standard input is.
func (o *options) streams(fs *pflag.FlagSet, stdin, stdout *os.File, stderr io.Writer) error {
	if !fs.Changed("input") {
		is, err := isRecording(stdin, stderr)
		if err != nil {
			return fmt.Errorf("standard input cannot be looked at: %w; name the recording with -i", err)
		}
		if is {
			o.input = "-"
		}
	}
	if !fs.Changed("output") && o.summary != "json" && (o.input == "-" && isStream(stdout) || fs.Changed("input") && hasMode(stdout, unix.S_IFIFO)) {
		o.output = "-"
	}
	o.defaultInput, o.defaultOutput = !fs.Changed("input"), !fs.Changed("output")
	return nil
}

// patience is how long a recording may take to come before the user is told.
const patience = 3 * time.Second

// isStream reports whether f is a pipe, or a file that the shell redirected.
func isStream(f *os.File) bool { return isPipe(f) || hasMode(f, unix.S_IFREG) }

func isPipe(f *os.File) bool { return hasMode(f, unix.S_IFIFO) || hasMode(f, unix.S_IFSOCK) }

func hasMode(f *os.File, mode uint32) bool {
	var st unix.Stat_t
	return f != nil && unix.Fstat(int(f.Fd()), &st) == nil && st.Mode&unix.S_IFMT == mode
}

// The magic of recordings, in both byte orders.
const magic, magicSwapped = "PERFILE2", "2ELIFREP"

// isRecording reports whether a recording comes from standard input: it may also be the
// script that a shell reads, or the list that a loop goes through. Nothing is taken out of
// it. A pipe is waited for. It fails if the system does, and not if there is no standard input.
func isRecording(f *os.File, stderr io.Writer) (bool, error) {
	if f == nil {
		return false, nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return false, ignore(err, unix.EBADF)
	}
	var begin [len(magic)]byte
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		n, err := unix.Pread(int(f.Fd()), begin[:], 0)
		return isMagic(begin[:max(n, 0)]), ignore(err, unix.EBADF, unix.EINVAL, unix.ESPIPE) // not for reading
	case unix.S_IFIFO, unix.S_IFSOCK:
	default:
		return false, nil
	}
	if !readable(f, patience) {
		fmt.Fprintf(stderr, "jitinject: waiting for a recording on standard input; -i perf.data reads the file\n")
		for !readable(f, time.Hour) {
		}
	}
	for {
		n, err := peek(f, begin[:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 { // it has ended, or has something else
			return false, ignore(err, unix.EBADF, unix.EAGAIN, unix.ENOTCONN, unix.ECONNRESET)
		}
		if n == len(begin) || !strings.HasPrefix(magic, string(begin[:n])) && !strings.HasPrefix(magicSwapped, string(begin[:n])) {
			is := isMagic(begin[:n])
			if !is {
				fmt.Fprintf(stderr, "jitinject: what comes from standard input is no recording; reading perf.data\n")
			}
			return is, nil
		}
		if over(f) {
			return false, nil
		}
		time.Sleep(time.Millisecond) // the rest of it will come
	}
}

// ignore returns err, or nil for the given ones, which say that a file has nothing to read.
func ignore(err error, known ...unix.Errno) error {
	for _, e := range known {
		if errors.Is(err, e) {
			return nil
		}
	}
	return err
}

func isMagic(b []byte) bool { return string(b) == magic || string(b) == magicSwapped }

// readable waits until there is something to read from f, or its end, for some time.
func readable(f *os.File, patience time.Duration) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	for end := time.Now().Add(patience); ; {
		n, err := unix.Poll(fds, int(max(0, time.Until(end)).Milliseconds()))
		if err != unix.EINTR {
			return n > 0 || err != nil
		}
	}
}

// over reports whether nothing more will come from a pipe.
func over(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n == 1 && fds[0].Revents&unix.POLLHUP != 0
}

// peek reads the beginning of what is in a pipe, and leaves it there.
func peek(f *os.File, b []byte) (int, error) {
	if hasMode(f, unix.S_IFSOCK) {
		n, _, err := unix.Recvfrom(int(f.Fd()), b, unix.MSG_PEEK)
		return n, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	defer w.Close()
	n, err := unix.Tee(int(f.Fd()), int(w.Fd()), len(b), 0)
	if n <= 0 || err != nil {
		return 0, err
	}
	return io.ReadFull(r, b[:n])
}
