package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxNamed bounds how many processes a sentence names.
const maxNamed = 3

// LeftOutText returns the text that the functions of processes are missing in the result.
func LeftOutText(pids []uint32) string {
	pids = slices.Compact(slices.Sorted(slices.Values(pids)))
	if len(pids) == 1 {
		return fmt.Sprintf("the functions of process %d are left out", pids[0])
	}
	var names []string
	for _, pid := range pids[:min(len(pids), maxNamed)] {
		names = append(names, fmt.Sprint(pid))
	}
	if more := len(pids) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	last := len(names) - 1
	return fmt.Sprintf("the functions of processes %s and %s are left out", strings.Join(names[:last], ", "), names[last])
}

// MaxProblems bounds how many problems of one file are listed; the others are only counted.
const MaxProblems = 50

// SamplesOf returns a number of samples in words.
func SamplesOf(n int64) string {
	if n == 1 {
		return "1 sample"
	}
	return fmt.Sprintf("%d samples", n)
}

// ErrNothing says that there are side files, but none of their functions could be injected.
var ErrNothing = errors.New("none of the functions could be injected; no output was written")

// ErrStrict says that a result would be incomplete, and was not written because of
// Options.Strict.
var ErrStrict error = strictError{}

// ErrStrictWritten is ErrStrict if the result has gone to a pipe already, which cannot take it back.
var ErrStrictWritten error = strictError{written: true}

type strictError struct{ written bool }

// Is implements [errors.Is].
func (strictError) Is(target error) bool { return target == ErrStrict }

func (e strictError) Error() string {
	if e.written {
		return "the incomplete result is written all the same, in spite of " + Mentioned("Strict", "") + ": a pipe does not give it back"
	}
	return "nothing was written, because of " + Mentioned("Strict", "")
}

// NothingToInject returns the error of a run in which no dump could be used: the problems and
// ErrNothing.
func NothingToInject(problems []Problem) error {
	return fmt.Errorf("%w\n%w", ProblemsError(problems), ErrNothing)
}

// ProblemsError returns problems as one error.
func ProblemsError(problems []Problem) error {
	errs := make([]error, len(problems))
	for i, p := range problems {
		errs[i] = errors.New(p.String())
	}
	return errors.Join(errs...)
}
