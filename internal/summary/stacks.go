package summary

import (
	"fmt"
	"math/bits"

	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/words"
)

// Sizes for --call-graph dwarf, in bytes: one that is enough for most programs, and perf's
// maximum (builtin-record.c: round_down(USHRT_MAX, 8)).
const (
	usualStack = 8192 // perf's default
	largeStack = 32768
	maxStack   = 65528
)

// stackText returns a message that copies of stacks are too small, if more than half of them are full and
// larger ones would help, or that half of their size would do. Otherwise it returns "".
func stackText(s *report.StackSummary) string {
	if s == nil || s.Own || s.Samples < fewSamples {
		return ""
	}
	if enough := max(usualStack, 1<<bits.Len(uint(s.Used-1))); enough <= s.Room/2 {
		return fmt.Sprintf("its copies of stacks have at most %s of %s bytes: --call-graph dwarf,%d makes a smaller recording", words.Number(int64(s.Used)), words.Number(int64(s.Room)), enough)
	}
	if 2*s.Full <= s.Samples {
		return ""
	}
	text := fmt.Sprintf("%s of its %s have full copies of the stack (%s bytes)", words.Number(s.Full), words.Count(s.Samples, "sample"), words.Number(int64(s.Room)))
	switch {
	case s.Room < largeStack:
		return fmt.Sprintf("%s: if perf report lacks outer callers, record with --call-graph dwarf,%d", text, largeStack)
	case s.Room < maxStack-4096: // perf copies less if the sample would be too large
		return fmt.Sprintf("%s: if perf report lacks outer callers, record with --call-graph dwarf,%d", text, maxStack)
	}
	return text + ": outer callers may be missing, and copies cannot be larger"
}
