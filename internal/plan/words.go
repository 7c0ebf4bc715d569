package plan

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
)

// A finding is what planning found out for the user. This file has the sentences about all findings.
type finding int

const (
	manyCopies     finding = iota // functions in files are at too many addresses; at how many they have names
	manyDumps                     // a process has too many for bundles
	manySharers                   // functions are in the shared memory of too many processes; in how many they have names
	manyReplaced                  // memory came in place of too many functions; of how many, one by one
	fileUnnamed                   // functions lie in a file and stay without names; their number
	fileAbsent                    // a file with functions is not here; their number
	branchesUnread                // in functions of a dump; the error
	allKept                       // samples refer to anything, so no function is dropped; the reason
	allAlone                      // likewise, so each function of a bundle has a mapping of its own; the reason
)

// sentences has the text for each finding, advice, and the code of the problem. Findings without advice are notes: nothing is missing
// because of them.
var sentences = [...]struct{ text, advice, code string }{
	manyCopies:     {"files with jitted functions are mapped so often that these would be at more than %d further addresses; at the rest of them, they have no name", "record a shorter time", report.ProblemLimit},
	manyDumps:      {"a process has more than %d dumps, so each function has an object of its own", "", ""},
	manySharers:    {"functions lie in memory that so many processes share that these would have them more than %d times; in the rest of them, they have no name", "record fewer processes, or a shorter time", report.ProblemLimit},
	manyReplaced:   {"memory came in place of functions more than %d times; elsewhere in such memory, names may be those of earlier code, or missing", "record fewer processes, or a shorter time", report.ProblemLimit},
	fileUnnamed:    {"%d of the functions lie in this file, and perf needs the file itself to unwind stacks there, so they have a name only if it has symbols for them", "inject where the file is as it was recorded", report.ProblemUnnamed},
	fileAbsent:     {"this file is not here, and %d of the functions lie in it; on a machine that has it, perf 7 would lose stacks that go through the file: inject there again", "", ""},
	branchesUnread: {"the branches in its functions could not be read, so functions that they go to may have no objects: %v", "inject again", report.ProblemUnreadable},
	allKept:        {"which functions it touches cannot be told: %v; all of them are there", "", ""},
	allAlone:       {"what it touches before that is loaded cannot be told: %v; so each function of a bundle has a mapping of its own", "", ""},
}

// found adds a finding about a file, or about the run if that is "". arg is its argument.
func (f *Functions) found(what finding, file string, arg any) {
	s := sentences[what]
	text := fmt.Sprintf(s.text, arg)
	if s.advice == "" {
		f.Found.Note(quote.Printable(file) + ": " + text)
	} else {
		f.Found.Problem(report.Problem{Code: s.code, File: file, Offset: -1, Text: text, Advice: s.advice})
	}
}
