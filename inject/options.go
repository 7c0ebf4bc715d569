package inject

import "fmt"

// Options say what Run does. Input and Output are required, the zero value of
// everything else is useful.
type Options struct {
	Input  string // the recording
	Output string // where the result goes; an existing file becomes Output.old

	// Objects is the directory for the objects, made if it is not there. Empty
	// means beside each dump, where perf puts them.
	Objects string

	// DumpDirs are searched for a dump that is neither where it was recorded nor
	// beside Input.
	DumpDirs []string

	// Force reads an Input that belongs to someone else.
	Force bool

	// Strict treats everything that would be missing as an error: nothing is
	// written then.
	Strict bool

	// DWARF is the version of debugging information in the objects, 4 or 5; 0 is 5.
	DWARF int

	// Producer is named in the objects as what made them; empty is "jitinject".
	Producer string

	// Jobs is the number of objects made at once; 0 is one for each CPU. The
	// result does not depend on it.
	Jobs int

	// Log, if it is not nil, gets a line for each step. Level 1 is what a user
	// may want to follow, higher levels are for finding faults.
	Log func(level int, line string)
}

func (o *Options) logf(level int, format string, args ...any) {
	if o.Log != nil {
		o.Log(level, fmt.Sprintf(format, args...))
	}
}

// A Problem is something that is missing in the output, or may be.
type Problem struct {
	File   string // empty for the run as a whole
	Offset int64  // in File, or -1
	Text   string
}

// String formats the problem as one line.
func (p Problem) String() string {
	switch {
	case p.File == "":
		return p.Text
	case p.Offset < 0:
		return fmt.Sprintf("%s: %s", printable(p.File), p.Text)
	}
	return fmt.Sprintf("%s: %#x: %s", printable(p.File), p.Offset, p.Text)
}

// A Summary says what Run did.
type Summary struct {
	Input, Output string
	Dumps         []DumpSummary
	Markers       int // marker records in Input
	Mappings      int // records added
	Dropped       int // records of anonymous memory and markers left out
	Objects       int // files made or found as they should be
	ObjectBytes   int64
	Unchanged     int // of Objects: found as they should be
	Problems      []Problem
}

// A DumpSummary is about one side file.
type DumpSummary struct {
	PID       uint32 // the process in the recording
	Path      string
	Functions int // loaded
	Empty     int // of them without code, which need no object
	WithLines int
	Moved     int
	Repairs   []Repair
}

// A Repair is a habit of a producer that was put right.
type Repair struct {
	Name  string
	Count int64
	Text  string
}

// Complete reports whether everything that could be injected was.
func (s *Summary) Complete() bool { return len(s.Problems) == 0 }
