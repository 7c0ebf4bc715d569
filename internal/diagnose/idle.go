package diagnose

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/count"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
)

// Idle reports the processes with memory in code that had no code registered for debuggers when that
// was read. Samples in JIT memory that no dump covers make it a problem: the user named the process for
// them. t is the sample counter, or nil. Then the number of these samples is unknown, and all are notes.
func Idle(rec *recording.Recording, code *codebytes.Files, t *count.Counter) (found report.Findings) {
	for _, f := range idle(code) {
		pid, when := f.Idle(), "now"
		if f.Core != nil {
			when = "when the core dump was made"
		}
		samples := int64(0)
		if t != nil && t.Processes[pid] != nil && rec.HasFiles(pid) {
			samples = t.Processes[pid].Unattributed
		}
		switch {
		case samples > 0:
			found.Problem(report.Problem{Code: report.ProblemNoCode, File: f.Path, Offset: -1,
				Text:   fmt.Sprintf("process %d had no code registered for debuggers %s, and %s of it lie in executable memory without a file: programs free code after its last use", pid, when, report.SamplesOf(samples)),
				Advice: adviceRegistered})
		case t == nil:
			found.Note(fmt.Sprintf("%s: process %d had no code registered for debuggers %s; its samples were not counted", quote.Printable(f.Path), pid, when))
		default:
			found.Note(fmt.Sprintf("%s: process %d had no code registered for debuggers %s; none is missing: no sample of it lies in executable memory without a file or a dump", quote.Printable(f.Path), pid, when))
		}
	}
	return found
}

// idle returns the memories of processes without registered code. code may be nil.
func idle(code *codebytes.Files) (files []*codebytes.File) {
	if code == nil {
		return nil
	}
	for _, f := range code.Files {
		if f.Idle() != 0 {
			files = append(files, f)
		}
	}
	return files
}

// isIdle reports whether a process had no registered code.
func isIdle(code *codebytes.Files, pid uint32) bool {
	for _, f := range idle(code) {
		if f.Idle() == pid {
			return true
		}
	}
	return false
}
