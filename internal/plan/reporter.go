package plan

import "github.com/jitinject/jitinject/internal/report"

// A reporter is a dump of a format that has findings of its own once all of it was read. Report
// fills the fields of s for that format. path is the dump's name for the user.
type reporter interface {
	Report(path string, s *report.DumpSummary) report.Findings
}
