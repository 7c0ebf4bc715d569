package report

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/quote"
)

// This file has advice for users about problems.

// An AdvisedError is an error with advice about it.
type AdvisedError struct {
	err    error
	advice string
}

// Error returns the fault with the advice.
func (e *AdvisedError) Error() string { return withAdvice(e.err.Error(), e.advice) }

// Unwrap returns the error without the advice.
func (e *AdvisedError) Unwrap() error { return e.err }

// Advise returns an error with advice. format and args are those of fmt.Sprintf.
func Advise(err error, format string, args ...any) error {
	return &AdvisedError{err, AdviceOr(err, fmt.Sprintf(format, args...))}
}

// AdviceOr returns the advice about a limit that an error says is reached, or else otherwise: with
// too few open files, another file or directory would not help.
func AdviceOr(err error, otherwise string) string {
	switch {
	case errors.Is(err, unix.EMFILE):
		return "raise the limit of open files (ulimit -n)"
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return strings.TrimSuffix("make room, or "+otherwise, ", or ")
	case errors.Is(err, unix.ENFILE):
		return "end other programs, or raise the system's limit of open files (sysctl fs.file-max)"
	}
	return otherwise
}

// ProblemOf returns the problem of a file that cannot be used because of an error. otherwise is the advice if the error has
// none.
func ProblemOf(file string, err error, otherwise string) Problem {
	p := Problem{Code: ProblemUnused, File: file, Offset: -1, Text: err.Error(), Advice: AdviceOr(err, otherwise)}
	if errors.As(err, new(*fs.PathError)) || errors.As(err, new(unix.Errno)) {
		p.Code = ProblemUnreadable
	}
	var advised *AdvisedError
	if errors.As(err, &advised) {
		if text, ok := strings.CutSuffix(p.Text, advised.Error()); ok {
			p.Text, p.Advice = text+advised.err.Error(), advised.advice
		}
	}
	return p
}

func withAdvice(text, advice string) string {
	if strings.HasSuffix(text, "?") {
		return text + " " + strings.ToUpper(advice[:1]) + advice[1:]
	}
	return text + "; " + advice
}

// These are the most common pieces of advice of a kind.
const (
	AdviceClock     = "record again with perf record -k mono"
	AdviceMonotonic = "have the runtime write CLOCK_MONOTONIC"
	AdviceEnd       = "stop perf record with Ctrl-C, and give it enough disk space"
	AdvicePipe      = "perf record was killed, or the output of a program is among the records (2>&1); to keep output apart: " + PipeCommand
	PipeCommand     = "perf record -k mono -o - PROGRAM 2>perf.log"
)

// AdviceObjects returns advice about objects that cannot be written.
func AdviceObjects() string { return "name another directory with " + Mentioned("Objects", "DIR") }

// AdviceRoom returns advice about a full disk.
func AdviceRoom() string { return "make room, or " + AdviceObjects() }

// AdviceVerify returns advice about damage in a dump, or about a dump that does not fit its
// recording. files are the paths to verify. A recording from a pipe is omitted.
func AdviceVerify(files ...string) string {
	advice := "for the likely cause: jitinject verify"
	for _, path := range files {
		if path != "-" {
			advice += " " + quote.ShellWord(path)
		}
	}
	return advice
}

// AdviceDamage returns advice about damage in a file of a kind that verify does not check.
func AdviceDamage(path string) string {
	return "copy it again, or record again; to see the damage: jitinject dump " + quote.ShellWord(path)
}

// AdviceNamed returns advice about a file that err prevents from being used as the dump of a
// process.
func AdviceNamed(pid uint32, err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "run jitinject as its owner or as root, or copy it beside the recording"
	}
	return AdviceOr(err, "if you have the right one, name it with "+NamedDump(pid))
}

// AdviceStore returns advice about objects that cannot be written.
func AdviceStore(err error) string {
	return AdviceOr(err, AdviceObjects())
}

// AdviceOtherRun is advice about a log of another run.
const AdviceOtherRun = "name the one that the recorded run wrote, or record again if it was overwritten"

// NamedDump returns the dump of a process as messages mention it.
func NamedDump(pid uint32) string { return MentionedFile("", fmt.Sprint(pid), "FILE") }
