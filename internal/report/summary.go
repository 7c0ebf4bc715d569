package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/jitinject/jitinject/internal/quote"
)

// SummaryVersion is the version of the summary's JSON form. It changes when a field goes, or gets
// another meaning. New fields may come without a change.
const SummaryVersion = 1

// A Summary has the results of a run.
type Summary struct {
	Version         int            `json:"version"` // SummaryVersion
	Input           string         `json:"input"`
	Output          string         `json:"output"`
	Dumps           []DumpSummary  `json:"dumps"`
	Traces          []TraceSummary `json:"traces,omitempty"`
	Samples         *SampleSummary `json:"samples"` // nil if they were not counted
	Hottest         *Hottest       `json:"hottest"` // nil if samples were not counted
	Problems        []Problem      `json:"problems"`
	Reasons         []Reason       `json:"reasons,omitempty"`
	Notes           []string       `json:"notes,omitempty"`
	Cmdline         []string       `json:"-"`
	Markers         int            `json:"markers"`
	AlreadyInjected int            `json:"already_injected"`
	Mappings        int            `json:"mappings"` // records added
	MostMappings    int            `json:"most_mappings"`
	Tables          int            `json:"tables"`
	Dropped         int            `json:"dropped"`      // markers, and records of anonymous memory, left out
	Objects         int            `json:"objects"`      // files made, and files found as they should be
	Unchanged       int            `json:"unchanged"`    // of these, files that existed
	Replaced        int            `json:"replaced"`     // of these, files that existed with other contents
	Cached          int            `json:"cached"`       // of these, files that are in Options.BuildIDCache
	ObjectBytes     int64          `json:"object_bytes"` // size of all Objects
	Elapsed         time.Duration  `json:"elapsed_ns"`
	BytesRead       int64          `json:"bytes_read"`
	BytesWritten    int64          `json:"bytes_written"` // size of Output
	problems        index[Problem]
	notes           index[string]
}

// Note adds a note, once.
func (s *Summary) Note(text string) { s.Notes = s.notes.once(s.Notes, text) }

// Problem adds a problem, once.
func (s *Summary) Problem(p Problem) { s.Problems = s.problems.once(s.Problems, p) }

// Add adds the findings of a stage.
func (s *Summary) Add(found Findings) {
	s.Problems, s.Notes = s.problems.once(s.Problems, found.Problems...), s.notes.once(s.Notes, found.Notes...)
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

// A SampleSummary counts the samples of the recording.
type SampleSummary struct {
	Total int64 `json:"total"` // in all processes and in the kernel
	JitSamples
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
	Early    int64 `json:"early"`
	Left     int64 `json:"left,omitempty"`
}

// A DumpSummary has the results for one side file.
type DumpSummary struct {
	PID           uint32         `json:"pid"`               // the process in the recording
	Command       string         `json:"command,omitempty"` // its name in the recording
	Kind          string         `json:"kind"`              // a Kind constant of package inject
	Path          string         `json:"path"`
	Note          string         `json:"note,omitempty"`
	Objects       string         `json:"objects"` // directory of its objects
	Captures      int            `json:"captures,omitempty"`
	Functions     int            `json:"functions"` // loaded
	Empty         int            `json:"empty"`
	Repeated      int            `json:"repeated"`
	Unreferenced  int            `json:"untouched"` // left out by Options.Sampled
	Nowhere       int            `json:"without_address"`
	Merged        int            `json:"merged"`
	WithoutCode   int            `json:"codeless"`
	CodeFiles     int            `json:"code_files"`
	Late          int            `json:"late"`
	InImages      int            `json:"in_images"`
	Elsewhere     int            `json:"elsewhere,omitempty"`
	Overwritten   int            `json:"overwritten,omitempty"`
	WithLines     int            `json:"with_lines"`
	Inlining      int            `json:"with_inlines"` // functions into which calls were inlined
	Unwind        Unwind         `json:"unwind"`
	Frames        string         `json:"frames,omitempty"`
	Stacks        *StackSummary  `json:"stacks,omitempty"`
	Callers       *Callers       `json:"callers,omitempty"`
	Sources       int            `json:"sources"` // source files in the dump
	Moved         int            `json:"moved"`
	Samples       *JitSamples    `json:"samples"` // nil if they were not counted
	Clock         Clock          `json:"clock"`
	Bytes         int64          `json:"bytes"` // the dump's size
	Cut           int64          `json:"cut"`
	CutName       string         `json:"cut_name,omitempty"`
	Fixes         []Fix          `json:"repairs"`
	Writer        Writer         `json:"-"`
	Logs          []LogSummary   `json:"logs,omitempty"`
	Unlogged      int            `json:"unlogged,omitempty"`
	LineAddresses *LineAddresses `json:"line_addresses,omitempty"`
}

// A LogSummary has the results for a log of V8 that describes functions of a dump.
type LogSummary struct {
	Path      string `json:"path"`
	Bytes     int64  `json:"bytes"`     // its size
	Optimized int    `json:"optimized"` // code objects in it with lines and inlined calls
	Paired    int    `json:"paired"`    // of these, those that are in the dump
	Damaged   int    `json:"damaged"`   // lines that were left out
}

// Unwind counts functions by where their unwind tables come from.
type Unwind struct {
	Sent     int `json:"sent"` // from the runtime
	Fixed    int `json:"repaired"`
	Derived  int `json:"derived"`  // from the code
	Unplaced int `json:"unplaced"` // no address was free for them
}

// A Fix is a quirk of a producer that was fixed.
type Fix struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
	Text  string `json:"text"`
}

// CutText says that a dump ends too early.
func (d *DumpSummary) CutText() string {
	if d.CutName != "" {
		return fmt.Sprintf("it ends at offset %#x, in the record of %q: the runtime could not read all of its code and stopped writing", d.Cut, quote.Printable(d.CutName))
	}
	return fmt.Sprintf("it ends inside a record, at offset %#x", d.Cut)
}

// CutAdvice returns advice about that. again returns a proposal of a run with another setting.
func (d *DumpSummary) CutAdvice(again func(Setting) string) string {
	if strings.HasPrefix(d.CutName, dotnetStub) {
		return ".NET 10.0 does so up to 10.0.11: set DOTNET_PerfMapStubGranularity=2 and record again"
	}
	if d.CutName != "" {
		return "record again, with another version of the runtime if there is one"
	}
	return d.CutCause() + "; " + map[Writer]string{
		WriterUnknown: "if there is a longer copy, name its directory with " + Mentioned("DumpDirs", "") + "; to keep the rest next time: " + recordCommand,
		WriterRuns:    "let it end, and inject again, or read the rest from its memory: " + again(Setting{Field: "Live", Value: fmt.Sprint(d.PID), Again: true}),
		WriterEnded:   "to keep the rest next time: " + recordCommand,
	}[d.Writer]
}

// recordCommand records what a process leaves unwritten, too.
const recordCommand = "jitinject record -- COMMAND"

// CutCause returns why the file ends inside a record, if its runtime did not stop there.
func (d *DumpSummary) CutCause() string {
	switch d.Writer {
	case WriterRuns:
		return fmt.Sprintf("process %d still runs, and has not written the rest", d.PID)
	case WriterEnded:
		return fmt.Sprintf("process %d ended before it wrote the rest, or the disk was full", d.PID)
	}
	return "the rest was not written, or not copied"
}

// A Writer says what is known of the process that writes a dump.
type Writer uint8

const (
	WriterUnknown Writer = iota // also if the recording is of another machine
	WriterRuns
	WriterEnded
)

// dotnetStub begins the names of .NET's stubs (PerfMap::LogStubs of perfmap.cpp).
const dotnetStub = "stub"
