package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/source"
)

// reportCaptures adds what is to be said of captures.
func (d *Dump) reportCaptures(s *report.DumpSummary) {
	if c := model.CaptureDump(d.Source); c != nil {
		s.Kind, s.Captures, s.Merged = report.KindJ9, len(c.Captures()), c.Repeated
	}
}

// reportMono adds what is to be said of a log of Mono's.
func (d *Dump) reportMono(sum *report.Summary) {
	log, ok := d.Source.(*source.MonoLog)
	if !ok {
		return
	}
	s := &sum.Dumps[d.Number]
	s.Nowhere, s.Merged = log.Addressless, log.Merged
	switch n := log.Addressless; {
	case n > 0 && log.HasCalls(): // Mono loses them in this mode, and nothing can be done about it
		sum.Note(fmt.Sprintf("%s: %s no address in this log: their calls have names, samples in them have none; record with mono --profile=log:nodefaults,jit for those", quote.Printable(d.Path), haveMethods(n)))
	case n > 0 && onlyMethods(log.Header().Args): // nothing can be done about that either
		sum.Note(fmt.Sprintf("%s: %s no address in this log, because Mono freed their code before it wrote the log, as when AppDomains are unloaded; samples in them stay without names", quote.Printable(d.Path), haveMethods(n)))
	case n > 0:
		sum.Problem(report.Problem{File: d.Path, Offset: -1, Text: fmt.Sprintf("of %d methods it does not say where they are; samples in them stay without names", n),
			Advice: "record with mono --profile=log:nodefaults,jit"})
	}
}

func haveMethods(n int) string {
	if n == 1 {
		return "1 method has"
	}
	return fmt.Sprintf("%d methods have", n)
}

// onlyMethods reports whether the options of Mono's profiler, as they are in the header of a
// log, ask for methods and for no other events.
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
