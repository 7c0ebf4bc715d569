package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Problem is something that is, or may be, missing in the output.
type Problem struct {
	Code   string `json:"code"`             // one of the constants below
	File   string `json:"file,omitempty"`   // empty for the run as a whole
	Offset int64  `json:"offset"`           // in File, in bytes, or -1
	Text   string `json:"text"`             // the fault and its effect
	Advice string `json:"advice,omitempty"` // what to do
}

// These values are the codes of problems.
const (
	ProblemRecording     = "recording"     // records of the recording are missing, damaged or left out
	ProblemNoDump        = "no-dump"       // the dump of a process is gone, or cannot be used as that
	ProblemUnused        = "unused"        // a side file, or a part of several, is not used: it is broken, of another run, or of an unknown process
	ProblemUnreadable    = "unreadable"    // reading a file has failed, at least for a part of it
	ProblemDamage        = "damage"        // damaged parts of a side file are left out
	ProblemNoCode        = "no-code"       // the code of functions is missing, or is not known to be theirs
	ProblemClock         = "clock"         // times cannot be matched with those of the recording, or only roughly
	ProblemUnnamed       = "unnamed"       // samples or functions have no names
	ProblemContradiction = "contradiction" // sources describe one place differently
	ProblemCalls         = "calls"         // calls of a log are missing, or cannot be added
	ProblemLimit         = "limit"         // a limit of memory or of addresses is reached
	ProblemNotWritten    = "not-written"   // objects, sources or entries of the build-id cache are missing
	ProblemLeftOver      = "left-over"     // files of this run, or of an earlier one, could not be removed
)

// String returns the problem as one line.
func (p Problem) String() string {
	s := p.Text
	if at := fmt.Sprintf("%#x", p.Offset); p.Offset >= 0 && !strings.Contains(s, at) {
		s = "at offset " + at + ": " + s
	}
	if p.Advice != "" {
		s = withAdvice(s, p.Advice)
	}
	if p.File != "" {
		return About(p.File, s)
	}
	return Once(s)
}

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

// A Reason says why there was nothing to inject. It is about the recording, or about one process
// in it that ran jitted code.
type Reason struct {
	Kind    string `json:"kind"` // one of the constants below
	PID     uint32 `json:"pid,omitempty"`
	Command string `json:"command,omitempty"`
	Samples int64  `json:"samples,omitempty"`
	Text    string `json:"text"`             // what the recording shows
	Advice  string `json:"advice,omitempty"` // what to do; a command stands alone in it
}

// These values are the kinds of reasons.
const (
	ReasonInjected     = "already-injected" // an earlier run has made the recording
	ReasonNoSamples    = "no-samples"       // it has no samples
	ReasonNoJittedCode = "no-jitted-code"   // all samples are in files: nothing is missing
	// ReasonNoMarker means that there is a dump, but the recording has no marker of it.
	ReasonNoMarker = "no-marker"
	// ReasonPerfMap means that there is a perf-PID.map that was not used: it is of another run, or
	// the recording is a pipe, and perf reads the map by itself.
	ReasonPerfMap        = "perf-map"
	ReasonFlagMissing    = "flag-missing"    // the runtime writes a dump only with a flag
	ReasonNoDump         = "no-dump"         // it got that flag, but there is no dump
	ReasonUnknownRuntime = "unknown-runtime" // the runtime is unknown
	ReasonMore           = "more"            // further processes like these
)
