package inject

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"
)

// What people can do about problems.

// An advisedError is an error with what may be done about it.
type advisedError struct {
	err    error
	advice string
}

func (e *advisedError) Error() string { return withAdvice(e.err.Error(), e.advice) }
func (e *advisedError) Unwrap() error { return e.err }

// advise adds to an error what may be done about it.
func advise(err error, format string, args ...any) error {
	return &advisedError{err, fmt.Sprintf(format, args...)}
}

// problemOf makes a problem of an error. otherwise is what to do if it does not say so
// itself.
func problemOf(file string, err error, otherwise string) Problem {
	p := Problem{File: file, Offset: -1, Text: err.Error(), Advice: otherwise}
	var advised *advisedError
	if errors.As(err, &advised) {
		if text, ok := strings.CutSuffix(p.Text, advised.Error()); ok {
			p.Text, p.Advice = text+advised.err.Error(), advised.advice
		}
	}
	return p
}

// withAdvice puts advice behind what happened.
func withAdvice(text, advice string) string {
	if strings.HasSuffix(text, "?") {
		return text + " " + strings.ToUpper(advice[:1]) + advice[1:]
	}
	return text + "; " + advice
}

const (
	adviceClock     = "record again with perf record -k mono"
	adviceMonotonic = "have the runtime write CLOCK_MONOTONIC"
	adviceObjects   = "name another directory with --objects DIR"
	adviceRoom      = "make room, or name another directory with --objects DIR"
	adviceEnd       = "stop perf record with Ctrl-C, and see to it that it has room to write"
)

// adviceVerify is what to do about damage in a dump, or about a dump that does not fit
// its recording: its files. A recording from a pipe is left out.
func adviceVerify(files ...string) string {
	advice := "for the likely cause: jitinject verify"
	for _, path := range files {
		if path != "-" {
			advice += " " + shellWord(path)
		}
	}
	return advice
}

// adviceNamed is what to do where a file is not believed to be a process's dump.
func adviceNamed(pid uint32, err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "run jitinject as its owner or as root, or copy it beside the recording"
	}
	return fmt.Sprintf("if you have the right one, name it with --dump %d=FILE", pid)
}

// adviceStore is what to do about objects that cannot be written.
func adviceStore(err error) string {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return adviceRoom
	}
	return adviceObjects
}
