package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jitinject/jitinject/internal/quote"
)

// SummaryVersion is the version of the summary's JSON form. It changes when a field
// goes, or comes to mean something else; new fields may come without.
const SummaryVersion = 1

// A Summary says what Run did.
type Summary struct {
	Version  int            `json:"version"` // SummaryVersion
	Input    string         `json:"input"`
	Output   string         `json:"output"`
	Dumps    []DumpSummary  `json:"dumps"`
	Traces   []TraceSummary `json:"traces,omitempty"`
	Samples  *SampleSummary `json:"samples"` // nil if they were not counted
	Problems []Problem      `json:"problems"`
	Reasons  []Reason       `json:"reasons,omitempty"` // why there was nothing to inject, or nothing of a process
	Notes    []string       `json:"notes,omitempty"`   // what was done otherwise than asked for, without anything missing

	Markers         int `json:"markers"`          // marker records in Input, and processes whose dump was named without any
	AlreadyInjected int `json:"already_injected"` // mappings of objects that were in Input before: an earlier run made it

	Mappings int `json:"mappings"` // records added
	Tables   int `json:"tables"`   // records added for unwind tables that have a place of their own
	Dropped  int `json:"dropped"`  // markers, and records of anonymous memory, left out

	Objects     int   `json:"objects"`      // files made or found as they should be
	Unchanged   int   `json:"unchanged"`    // of them, those that were there
	Replaced    int   `json:"replaced"`     // of them, those that were there with another content
	Cached      int   `json:"cached"`       // of them, those that are in Options.BuildIDCache
	ObjectBytes int64 `json:"object_bytes"` // of all of them, those that were there included

	Elapsed      time.Duration `json:"elapsed_ns"`
	BytesRead    int64         `json:"bytes_read"`    // the sizes of Input and of the dumps, however often they were read
	BytesWritten int64         `json:"bytes_written"` // the size of Output
}

// Note adds a note, once.
func (s *Summary) Note(text string) {
	if !slices.Contains(s.Notes, text) {
		s.Notes = append(s.Notes, text)
	}
}

// Problem adds a problem, once.
func (s *Summary) Problem(p Problem) {
	if !slices.Contains(s.Problems, p) {
		s.Problems = append(s.Problems, p)
	}
}

// Add adds the findings of a stage.
func (s *Summary) Add(found Findings) {
	for _, p := range found.Problems {
		s.Problem(p)
	}
	for _, text := range found.Notes {
		s.Note(text)
	}
}

// Complete reports whether everything that could be injected was. A dump that
// ends inside a record is complete: its process was killed, or still writes.
func (s *Summary) Complete() bool { return len(s.Problems) == 0 }

// Functions returns how many functions of all dumps were loaded.
func (s *Summary) Functions() (n int) {
	for i := range s.Dumps {
		n += s.Dumps[i].Functions
	}
	return n
}

// A Problem is something that is missing in the output, or may be.
type Problem struct {
	File   string `json:"file,omitempty"`   // empty for the run as a whole
	Offset int64  `json:"offset"`           // in File, or -1
	Text   string `json:"text"`             // what happened, and what came of it
	Advice string `json:"advice,omitempty"` // what to do
}

// String formats the problem as one line.
func (p Problem) String() string {
	s := p.Text
	if at := fmt.Sprintf("%#x", p.Offset); p.Offset >= 0 && !strings.Contains(s, at) {
		s = "at offset " + at + ": " + s
	}
	if p.Advice != "" {
		s = withAdvice(s, p.Advice)
	}
	if p.File != "" {
		s = quote.Printable(p.File) + ": " + s
	}
	return s
}

// A SampleSummary counts the samples of the recording.
type SampleSummary struct {
	Total int64 `json:"total"` // in all processes and in the kernel
	JitSamples

	// WithoutDump counts those in user space that are in no file, in programs without a
	// dump that could be used.
	WithoutDump int64 `json:"without_dump"`
}

// JitSamples counts the samples in jitted code: those whose instruction pointer is in
// user space, in a program that has a dump, or was forked from such a one while it had
// it, and at an address that is either in a function which the result names at that time, or
// in no file that the process had mapped: in memory that the recording calls
// anonymous, or does not tell of at all. Callers, and what else a sample carries, do not
// count.
//
// What perf script -F ip,sym,dso says of the result is the same: the first are those
// whose dso is one of the objects, with a symbol; of the others it shows [unknown].
type JitSamples struct {
	InJIT    int64 `json:"in_jitted_code"`
	Resolved int64 `json:"resolved"` // of them, those in functions
}

// A DumpSummary is about one side file.
type DumpSummary struct {
	PID          uint32        `json:"pid"`               // the process in the recording
	Command      string        `json:"command,omitempty"` // its name in the recording
	Kind         string        `json:"kind"`              // one of the constants below
	Path         string        `json:"path"`
	Note         string        `json:"note,omitempty"`     // why this file was chosen among several
	Objects      string        `json:"objects"`            // directory of its objects
	Captures     int           `json:"captures,omitempty"` // their number, for captures that are one dump; Path is the first one's
	Functions    int           `json:"functions"`          // loaded
	Empty        int           `json:"empty"`              // functions without code, which need no object
	Repeated     int           `json:"repeated"`           // functions loaded again with the same code at the same place
	Unreferenced int           `json:"untouched"`          // left out by Options.Sampled
	Nowhere      int           `json:"without_address"`    // methods of a Mono log without an address; not in Functions
	Merged       int           `json:"merged"`             // further names of functions that have one already, in a Mono log
	WithoutCode  int           `json:"codeless"`           // functions whose code is unknown; their objects have no code bytes
	CodeFiles    int           `json:"code_files"`         // files of Options.CodeFrom that belong to its process
	Late         int           `json:"late"`               // functions known to be loaded after the core dumps were taken
	InImages     int           `json:"in_images"`          // functions of a Mono log that are left to files
	WithLines    int           `json:"with_lines"`
	Inlining     int           `json:"with_inlines"` // functions into which calls were inlined
	Unwind       Unwind        `json:"unwind"`
	Frames       string        `json:"frames,omitempty"` // obstacle to unwinding stacks through its functions
	Stacks       *StackSummary `json:"stacks,omitempty"` // nil if no sample has a copy of the stack, or samples were not counted
	Sources      int           `json:"sources"`          // source files in the dump
	Moved        int           `json:"moved"`
	Samples      *JitSamples   `json:"samples"` // nil if they were not counted
	Clock        Clock         `json:"clock"`
	Bytes        int64         `json:"bytes"`              // the dump's size
	Cut          int64         `json:"cut"`                // offset of a record that the end of the file cuts, or -1
	CutName      string        `json:"cut_name,omitempty"` // the function in that record, if its name is whole and all of its code is missing
	Fixes        []Fix         `json:"repairs"`

	LineAddresses *LineAddresses `json:"line_addresses,omitempty"` // nil if it has no lines, or its kind records no addresses of lines
}

// Unwind counts functions by where their unwind tables come from.
type Unwind struct {
	Sent     int `json:"sent"`     // from the runtime
	Fixed    int `json:"repaired"` // of them, those in an order or for a place that perf cannot follow, put right
	Derived  int `json:"derived"`  // from the code
	Unplaced int `json:"unplaced"` // there was no place for them
}

// A Fix is a habit of a producer that was put right.
type Fix struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
	Text  string `json:"text"`
}

// CutText says that a dump ends too early.
func (d *DumpSummary) CutText() string {
	if d.CutName != "" {
		return fmt.Sprintf("it ends at offset %#x in front of the code of %q: its runtime could not read that, and wrote nothing more", d.Cut, quote.Printable(d.CutName))
	}
	return fmt.Sprintf("it ends inside a record, at offset %#x", d.Cut)
}

// CutAdvice says what to do about it.
func (d *DumpSummary) CutAdvice() string {
	if strings.HasPrefix(d.CutName, dotnetStub) {
		return ".NET 10.0 does so up to 10.0.11: set DOTNET_PerfMapStubGranularity=2 and record again"
	}
	if d.CutName != "" {
		return "record again, with another version of the runtime if there is one"
	}
	return "its process was killed, or still writes; inject again when it has ended"
}

// dotnetStub begins the names of .NET's stubs (PerfMap::LogStubs of perfmap.cpp).
const dotnetStub = "stub"
