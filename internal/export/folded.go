package export

import (
	"bufio"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/jitinject/jitinject/internal/profile"
)

// writeFolded writes a line for each distinct stack: its frames from the outermost, separated by
// semicolons, a space and the sum of the periods. The lines are sorted.
//
// The form is that of FlameGraph's stackcollapse-perf.pl --all: the first frame is the name of the
// thread, and suffixes say where code comes from (inlined _[i], kernel _[k], JIT _[j]). An inlined
// call has only the first of them. If there are several events, the name of the event comes before
// the thread, because the sum of different units has no meaning.
func writeFolded(w *bufio.Writer, p *profile.Profile, _ Options) error {
	type key struct{ thread, event, stack int }
	sums := make(map[key]uint64)
	for i := range p.Samples {
		s := &p.Samples[i]
		sums[key{s.Thread, s.Event, stackOf(p, i)}] += weight(s)
	}
	names := make([]string, len(p.Functions))
	for i := range p.Functions {
		names[i] = foldedName(functionName(&p.Functions[i]))
	}
	several := len(usedEvents(p)) > 1
	// Stacks differ by addresses and lines, folded ones only by names.
	lines := make(map[string]uint64)
	var line strings.Builder
	var buffer []int
	for k, sum := range sums {
		line.Reset()
		if several {
			line.WriteString(foldedName(text(p.Events[k.event])) + ";")
		}
		line.WriteString(strings.ReplaceAll(foldedName(threadName(&p.Threads[k.thread])), " ", "_"))
		buffer = frames(buffer, p, k.stack)
		for _, f := range buffer {
			frame := &p.Frames[f]
			line.WriteByte(';')
			line.WriteString(names[frame.Function])
			line.WriteString(suffix(frame.Inlined, p.Functions[frame.Function].Kind))
		}
		lines[line.String()] += sum
	}
	for _, stack := range slices.Sorted(maps.Keys(lines)) {
		if _, err := fmt.Fprintf(w, "%s %d\n", stack, lines[stack]); err != nil {
			return err
		}
	}
	return nil
}

// suffix is FlameGraph's annotation of a frame.
func suffix(inlined bool, kind profile.Kind) string {
	switch {
	case inlined:
		return "_[i]"
	case kind == profile.Kernel:
		return "_[k]"
	case kind == profile.JIT:
		return "_[j]"
	}
	return ""
}

// foldedName is a name without what separates frames and lines. A number at its end loses the space
// before it: flamegraph.pl takes two numbers at the end of a line for those of two recordings.
func foldedName(name string) string {
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == ';':
			return ':'
		case unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			return ' '
		}
		return r
	}, name))
	if name == "" {
		return "[unknown]"
	}
	head := strings.TrimRight(name, "0123456789.")
	if len(head) == len(name) || !strings.HasSuffix(head, " ") {
		return name
	}
	return strings.TrimRight(head, " ") + "_" + name[len(head):]
}
