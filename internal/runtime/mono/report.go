package mono

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/report"
)

// Report adds the numbers of methods to the summary, and explains methods without an address.
func (m *Log) Report(path string, s *report.DumpSummary) (found report.Findings) {
	s.Nowhere, s.Merged = m.Addressless, m.Merged
	switch n := m.Addressless; {
	case n > 0 && m.HasCalls(): // Mono loses them in this mode; there is no remedy
		found.Note(fmt.Sprintf("%s: %s no address in this log: their calls have names, samples in them have none; record with mono --profile=log:nodefaults,jit for those", path, haveMethods(n)))
	case n > 0 && onlyMethods(m.header.Args): // there is no remedy here, either
		found.Note(fmt.Sprintf("%s: %s no address in this log, because Mono freed their code before it wrote the log, as when AppDomains are unloaded; samples in them stay without names", path, haveMethods(n)))
	case n > 0:
		found.Problem(report.Problem{Code: report.ProblemUnnamed, File: s.Path, Offset: -1, Text: fmt.Sprintf("it has no addresses of %d methods; samples in them have no names", n),
			Advice: "record with mono --profile=log:nodefaults,jit"})
	}
	return found
}

// haveMethods returns the subject and verb of a sentence about n methods.
func haveMethods(n int) string {
	if n == 1 {
		return "1 method has"
	}
	return fmt.Sprintf("%d methods have", n)
}

// onlyMethods reports whether the profiler options in a log's header ask for methods and for no
// other events.
func onlyMethods(args string) bool {
	_, options, _ := strings.Cut(args, ":")
	none, methods := false, false
	for option := range strings.SplitSeq(options, ",") {
		name, _, hasValue := strings.Cut(option, "=")
		switch {
		case name == "nodefaults":
			none = true
		case name == "jit":
			methods = true
		case !hasValue && slices.Contains(otherMonoEvents, name):
			return false
		}
	}
	return none && methods
}

// otherMonoEvents are options that put many events into a log.
var otherMonoEvents = []string{"calls", "alloc", "legacy", "exception", "monitor", "gc", "gcalloc", "gcmove", "gcroot", "gchandle", "allocation", "finalization", "counter", "sample", "sample-real", "heapshot"}
