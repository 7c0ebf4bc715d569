package inject

import (
	"time"

	"github.com/jitinject/jitinject/internal/report"
)

// SummaryVersion is the version of the summary's JSON form. It changes when a field goes, or gets
// another meaning. New fields may come without a change.
const SummaryVersion = 1

// A Summary has the results of a run. Its JSON form is that of jitinject --summary json.
type Summary struct {
	Version  int            `json:"version"` // SummaryVersion
	Input    string         `json:"input"`
	Output   string         `json:"output"`
	Dumps    []DumpSummary  `json:"dumps"`
	Traces   []TraceSummary `json:"traces,omitempty"`
	Samples  *SampleSummary `json:"samples"` // nil if they were not counted
	Hottest  *Hottest       `json:"hottest"` // nil if samples were not counted
	Problems []Problem      `json:"problems"`
	// Reasons say why there was nothing to inject, or nothing of a process.
	Reasons []Reason `json:"reasons,omitempty"`
	// Notes say what was done in another way than requested, without anything missing.
	Notes []string `json:"notes,omitempty"`

	// Cmdline is the command line of perf record; empty if Input does not have it.
	Cmdline []string `json:"-"`

	// Markers counts the marker records in Input, and the processes with named dumps and
	// without markers.
	Markers int `json:"markers"`
	// AlreadyInjected counts the mappings in Input that an earlier run made.
	AlreadyInjected int `json:"already_injected"`

	Mappings int `json:"mappings"` // records added
	// MostMappings is the number of these in the process that has most.
	MostMappings int `json:"most_mappings"`
	// Tables counts the records added for unwind tables with addresses of their own.
	Tables  int `json:"tables"`
	Dropped int `json:"dropped"` // markers, and records of anonymous memory, left out

	Objects     int   `json:"objects"`      // files made, and files found as they should be
	Unchanged   int   `json:"unchanged"`    // of these, files that existed
	Replaced    int   `json:"replaced"`     // of these, files that existed with other contents
	Cached      int   `json:"cached"`       // of these, files that are in Options.BuildIDCache
	ObjectBytes int64 `json:"object_bytes"` // size of all Objects

	Elapsed time.Duration `json:"elapsed_ns"`
	// BytesRead is the size of Input and of the dumps, each counted once.
	BytesRead    int64 `json:"bytes_read"`
	BytesWritten int64 `json:"bytes_written"` // size of Output
}

// Complete reports whether everything that could be injected was injected. A dump that ends
// inside a record is complete: its process was killed, or still writes.
func (s *Summary) Complete() bool { return len(s.Problems) == 0 }

// Functions returns how many functions of all dumps were loaded.
func (s *Summary) Functions() (n int) {
	for i := range s.Dumps {
		n += s.Dumps[i].Functions
	}
	return n
}

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
	ProblemRecording  = report.ProblemRecording  // records of the recording are missing, damaged or left out
	ProblemNoDump     = report.ProblemNoDump     // the dump of a process is gone, or cannot be used as that
	ProblemUnused     = report.ProblemUnused     // a side file, or a part of several, is not used: it is broken, of another run, or of an unknown process
	ProblemUnreadable = report.ProblemUnreadable // reading a file has failed, at least for a part of it
	ProblemDamage     = report.ProblemDamage     // damaged parts of a side file are left out
	ProblemNoCode     = report.ProblemNoCode     // the code of functions is missing, or is not known to be theirs
	ProblemClock      = report.ProblemClock      // times cannot be matched with those of the recording, or only roughly
	ProblemUnnamed    = report.ProblemUnnamed    // samples or functions have no names
	ProblemCalls      = report.ProblemCalls      // calls of a log are missing, or cannot be added
	ProblemLimit      = report.ProblemLimit      // a limit of memory or of addresses is reached
	ProblemNotWritten = report.ProblemNotWritten // objects, sources or entries of the build-id cache are missing
	ProblemLeftOver   = report.ProblemLeftOver   // files of this run, or of an earlier one, could not be removed
)

// String returns the problem as one line.
func (p Problem) String() string { return report.Problem(p).String() }

// A Reason says why there was nothing to inject. It is about the recording, or about one process
// in it that ran jitted code.
type Reason struct {
	Kind string `json:"kind"` // one of the constants below
	PID  uint32 `json:"pid,omitempty"`
	// Command is the name of the process in the recording.
	Command string `json:"command,omitempty"`
	// Samples counts the samples of the process in user space that are in no file: in jitted
	// code.
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

// A SampleSummary counts the samples of the recording.
type SampleSummary struct {
	Total int64 `json:"total"` // in all processes and in the kernel
	JitSamples

	// WithoutDump counts the samples in user space that are in no file, in programs without a
	// usable dump.
	WithoutDump int64 `json:"without_dump"`
}

// JitSamples counts the samples in jitted code. Those have an instruction pointer in user space.
// Their program has a dump, or was forked from such a program while that had it. The address is
// either in a function that the result names at that time, or in no file that the process had
// mapped. In the latter case it is in memory that the recording calls anonymous, or does not
// mention. Callers and other data of samples do not count.
//
// perf script -F ip,sym,dso shows the same of the result. Samples in functions have one of the
// objects as dso, and a symbol. The others have [unknown].
type JitSamples struct {
	InJIT    int64 `json:"in_jitted_code"`
	Resolved int64 `json:"resolved"` // of them, those in functions

	// Early counts those in memory that gets a function later: perf shows no function there.
	// With Options.Sampled, only functions with objects count.
	Early int64 `json:"early"`

	// Left counts those where a function was that has moved away, or whose memory was replaced, and no other came.
	Left int64 `json:"left,omitempty"`
}
