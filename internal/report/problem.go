package report

import (
	"fmt"
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
