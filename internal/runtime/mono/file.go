package mono

import (
	"debug/elf"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/source"
)

// Kind is the kind of logs of Mono's profiler in the summary and in options.
const Kind = "mono-log"

// Identify reports whether a file begins as a log of Mono's profiler, plain or packed by gzip.
func Identify(src io.ReaderAt, _ string) bool {
	var head [4]byte
	n, _ := src.ReadAt(head[:], 0)
	switch b := string(head[:n]); {
	case b == "\x01ZPM":
		return true
	case len(b) > 1 && b[:2] == "\x1f\x8b":
		_, err := ReadLog(src)
		return err == nil
	}
	return false
}

// Open is ReadLog for callers that open files of several formats.
func Open(src io.ReaderAt) (source.Dump, error) {
	var first [1]byte
	if n, _ := src.ReadAt(first[:], 0); n > 0 && first[0] != 0x01 && first[0] != 0x1f {
		return nil, ErrNotLog // a reader needs 160 kB, and most files are others
	}
	m, err := ReadLog(src)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// The clock of a log, and the machine of its code.

// Began returns the start time of the log, from its header, or else its first time.
func (m *Log) Began() uint64 {
	if m.header.StartupTime > 0 {
		return m.header.StartupTime
	}
	first, _ := m.Span()
	return first
}

// Span returns the times of the first and the last event about code; both are 0 if there is none.
func (m *Log) Span() (first, last uint64) {
	for i := range m.Events {
		t := m.Events[i].Time
		if i == 0 {
			first = t
		}
		first, last = min(first, t), max(last, t)
	}
	return first, last
}

// Clock returns the clock of the log's times. It fails for logs of Mono of 2010 that were recorded
// with a clock that counts something else. Their events have no usable times.
func (m *Log) Clock() (source.Clock, error) {
	if m.header.StartupTime == 0 && m.latest < minMonoTime {
		return 0, fmt.Errorf("its times are not real times, the latest is %d: it was recorded with time=null or time=fast; record without that option of Mono's profiler", m.latest)
	}
	return source.MonotonicClock, nil
}

// minMonoTime is the earliest plausible time after boot, in nanoseconds. time=null counts events
// instead.
const minMonoTime = 1e9

// SetMachine sets the byte order, and the machine if the header has none, to the recording's.
func (m *Log) SetMachine(machine source.Machine) {
	if m.Code.Machine == uint32(elf.EM_NONE) {
		m.Code.Machine = uint32(source.MachineOf(machine.Name, m.header.PtrSize))
	}
	m.Code.Order = machine.Order
}

// Traits returns the traits of logs.
func (m *Log) Traits() source.Traits {
	return source.Traits{Kind: Kind, Trust: source.TrustLog, Images: true, Unchecked: true}
}

// Prepare removes the parameters from the names of a log's functions if opts say so.
func Prepare(d source.Dump, opts *config.Options) {
	if m, ok := d.(*Log); ok {
		m.Short = opts.ShortNames
	}
}

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
