package report

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/quote"
)

// What people can do about problems.

// An AdvisedError is an error with what may be done about it.
type AdvisedError struct {
	err    error
	advice string
}

func (e *AdvisedError) Error() string { return withAdvice(e.err.Error(), e.advice) }

func (e *AdvisedError) Unwrap() error { return e.err }

// Advise adds to an error what may be done about it.
func Advise(err error, format string, args ...any) error {
	return &AdvisedError{err, fmt.Sprintf(format, args...)}
}

// ProblemOf makes a problem of an error. otherwise is what to do if it does not say so
// itself.
func ProblemOf(file string, err error, otherwise string) Problem {
	p := Problem{File: file, Offset: -1, Text: err.Error(), Advice: otherwise}
	var advised *AdvisedError
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

// What helps in most cases of a kind.
const (
	AdviceClock     = "record again with perf record -k mono"
	AdviceMonotonic = "have the runtime write CLOCK_MONOTONIC"
	AdviceEnd       = "stop perf record with Ctrl-C, and see to it that it has room to write"
)

// What helps where objects cannot be written.
var (
	AdviceObjects = "name another directory with " + Mentioned("Objects", "DIR")
	AdviceRoom    = "make room, or " + AdviceObjects
)

// AdviceVerify is what to do about damage in a dump, or about a dump that does not fit
// its recording: its files. A recording from a pipe is left out.
func AdviceVerify(files ...string) string {
	advice := "for the likely cause: jitinject verify"
	for _, path := range files {
		if path != "-" {
			advice += " " + quote.ShellWord(path)
		}
	}
	return advice
}

// AdviceNamed is what to do where a file is not believed to be a process's dump.
func AdviceNamed(pid uint32, err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "run jitinject as its owner or as root, or copy it beside the recording"
	}
	return "if you have the right one, name it with " + NamedDump(pid)
}

// AdviceStore is what to do about objects that cannot be written.
func AdviceStore(err error) string {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return AdviceRoom
	}
	return AdviceObjects
}

// AdviceOtherRun is what to do about a log of another run.
const AdviceOtherRun = "name the one that the recorded run wrote, or record again if it was overwritten"

// NamedDump is the dump of a process as a message names it.
func NamedDump(pid uint32) string { return MentionedFile("", fmt.Sprint(pid), "FILE") }
