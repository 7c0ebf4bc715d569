package inject

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/source"
)

// isMono reports whether a dump is a log of Mono's.
func isMono(d source.Dump) bool {
	_, ok := d.(*source.MonoLog)
	return ok
}

// reportMono adds what is to be said of a log of Mono's.
func (d *plannedDump) reportMono(sum *Summary) {
	log, ok := d.source.(*source.MonoLog)
	if !ok {
		return
	}
	s := &sum.Dumps[d.number]
	s.Nowhere, s.Merged = log.Addressless, log.Merged
	switch n := log.Addressless; {
	case n > 0 && log.HasCalls(): // Mono loses them in this mode, and nothing can be done about it
		sum.note(fmt.Sprintf("%s: of %d methods it does not say where they are: their calls have names, but samples in them have none; for those, record once more with mono --profile=log:nodefaults,jit", Printable(d.path), n))
	case n > 0:
		sum.problem(Problem{File: d.path, Offset: -1, Text: fmt.Sprintf("of %d methods it does not say where they are; samples in them stay without names", n),
			Advice: "record with mono --profile=log:nodefaults,jit"})
	}
}
