package plan

import "github.com/jitinject/jitinject/internal/report"

// A reporter is a dump of a format that has more to say when all of it was read. It fills
// the fields of s that are its own; path is how it is called.
type reporter interface {
	Report(path string, s *report.DumpSummary) report.Findings
}
