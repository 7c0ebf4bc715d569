package summary

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/words"
)

// writeTraces says what came of logs of calls.
func writeTraces(w io.Writer, s *report.Summary) {
	for i := range s.Traces {
		t := &s.Traces[i]
		fmt.Fprintf(w, "%d %s: %s in %s, %s of their own time (waiting included), in event %s, from %s\n", t.PID, quote.Printable(t.Command), words.Count(t.Calls, "call"), words.Count(t.Threads, "thread"),
			precise(t.Traced), t.Event, quote.Printable(t.Path))
		for _, n := range traceNotes(t) {
			fmt.Fprintf(w, "    %s\n", n)
		}
	}
}

func callsOf(s *report.Summary) (n int64) {
	for i := range s.Traces {
		n += s.Traces[i].Calls
	}
	return n
}

// badClock is what times may be off without a word, in nanoseconds: a sample or two.
const badClock = 500_000

func traceNotes(t *report.TraceSummary) (notes []string) {
	note := func(n int64, one, many string) {
		if n > 0 {
			notes = append(notes, words.Plural(int(n), one, many))
		}
	}
	if text := clockText(t.Clock); text != "" {
		notes = append(notes, strings.Replace(text, "functions may be there", "calls may have ended", 1))
	}
	if x := t.XRay; x != nil && x.Measured {
		claimed := "does not name the frequency"
		if x.Claimed != 0 {
			claimed = fmt.Sprintf("claims %.3f MHz", float64(x.Claimed)/1e6)
		}
		notes = append(notes, fmt.Sprintf("its clock counted %.3f MHz, by the times in it; it %s", x.Frequency/1e6, claimed))
	}
	if x := t.XRay; x != nil && t.Clock.Error > badClock {
		notes = append(notes, fmt.Sprintf("its times are accurate to %s only, from the starts of its %s", precise(uint64(t.Clock.Error)), words.Count(int64(x.Anchors), "buffer")))
	}
	if x := t.XRay; x != nil && x.More > 0 {
		notes = append(notes, fmt.Sprintf("with %s of the same process", words.Count(int64(x.More), "more file")))
	}
	if x := t.XRay; x != nil && x.Unchecked {
		notes = append(notes, fmt.Sprintf("names are from %s; the recording has no build id of the program, so it is unknown whether this build was recorded", quote.Printable(x.Program)))
	}
	note(t.Notes, "message of the program is in event "+t.Event+"-notes", "messages of the program are in event "+t.Event+"-notes")
	note(t.Inferred, "call has no end in the log, and ended when its caller did, or its thread's log", "calls have no ends in the log, and ended when their callers did, or their threads' logs")
	note(t.Unmatched, "call has no beginning in the log, and is left out", "calls have no beginnings in the log, and are left out")
	note(t.Gaps, "time a part of a thread's log is missing; all of its calls ended there", "times a part of a thread's log is missing; all of its calls ended there")
	note(t.Backward, "entry of the log is older than the entry before, and got its time", "entries of the log are older than the entry before, and got its time")
	note(t.Cut, "callchain is longer than 127 calls: it has the 63 outermost and the innermost", "callchains are longer than 127 calls: they have the 63 outermost and the innermost")
	note(t.CutNotes, "note is longer than fits, and lost its end", "notes are longer than fit, and lost their ends")
	note(t.TooDeep, "time more than 65,536 calls of a thread were running, from deep recursion or exceptions in a loop: those in the middle of the stack ended then",
		"times more than 65,536 calls of a thread were running, from deep recursion or exceptions in a loop: those in the middle of the stack ended then")
	note(int64(t.Unknown), "thread has a synthetic number, from 4194305 on: its number in the recording is unknown; a core dump has it (--code-from)",
		"threads have synthetic numbers, from 4194305 on: their numbers in the recording are unknown; a core dump has them (--code-from)")
	if outside := t.Early + t.Late; outside > 0 {
		notes = append(notes, fmt.Sprintf("%s before the first record of the recording, %s after the last", words.Number(t.Early), words.Number(t.Late)))
	}
	return notes
}

// precise is a time of nanoseconds as people say it.
func precise(ns uint64) string {
	d := time.Duration(min(ns, 1<<62))
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f us", float64(d)/1e3)
	case d < time.Second:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.3f s", d.Seconds())
}
