package cost

import (
	"os"
	"strings"
)

// script gives the scene a perf whose perf script prints a text.
func (s *scene) script(text string) {
	s.t.Helper()
	s.Machine = "x86_64"
	s.samples(1)
	s.must(os.WriteFile(s.path("text"), []byte(text), 0o600))
	s.must(os.WriteFile(s.path("perf"), []byte("#!/bin/sh\ncase \"$*\" in script\\ -h | --version) echo perf version 6.1 ;; *) exec cat \"${0%perf}text\" ;; esac\n"), 0o700))
	s.variables = []string{"PATH=" + s.dir + ":" + os.Getenv("PATH")}
}

// printed returns a scene of a text of perf script: its beginning, and what is repeated.
func printed(begin, again string) func(s *scene, size int) {
	return func(s *scene, size int) {
		s.script(begin + strings.Repeat(again, size/len(again)))
	}
}

const sampleLine = "1/1 1.000000000: 1 cycles: \n"

// Texts of perf script.
var worstScripts = []worst{
	{"perf script", "frames of one sample", printed(sampleLine, "\t1 \n"), resultRuns},
	{"perf script", "lines of one name", printed(sampleLine+"\t1 ", "x\n"), resultRuns},
	{"perf script", "blank lines in a name", printed(sampleLine+"\t1 ", strings.Repeat("\n", 100)+"x"), resultRuns},
	{"perf script", "samples", printed("", sampleLine), resultRuns},
	{"perf script", "samples of events", func(s *scene, size int) {
		var b strings.Builder
		for b.Len() < size {
			b.WriteString("1/1 1.000000000: 1 " + strings.Repeat("a:", 1+b.Len()%100) + " \n")
		}
		s.script(b.String())
	}, resultRuns},
	{"perf script", "parentheses", printed(sampleLine+"\t1 f", " (f"), resultRuns},
	{"perf script", "frames of parentheses", printed(sampleLine, "\t1 f"+strings.Repeat(" (", 4<<10)+"\n"), resultRuns},
}
