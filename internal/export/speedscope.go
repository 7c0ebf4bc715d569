package export

import (
	"bufio"
	"fmt"

	"github.com/jitinject/jitinject/internal/profile"
)

// writeSpeedscope writes speedscope's own format. Its import of pprof files drops inlined calls.
//
// There is a profile for each thread and event. The one with the most samples is first, and is
// shown at the beginning. Samples are in the order of time. Those that follow each other with the
// same stack are one, as speedscope draws them.
//
// A frame is a function with the line where it begins: speedscope adds up by frames. See
// https://github.com/jlfwong/speedscope/blob/main/src/lib/file-format-spec.ts.
func writeSpeedscope(w *bufio.Writer, p *profile.Profile, options Options) error {
	j := &jsonWriter{Writer: w}
	j.raw(`{"$schema":"https://www.speedscope.app/file-format-schema.json","activeProfileIndex":0`)
	if options.Program != "" {
		j.raw(`,"exporter":`)
		j.quote(options.Program)
	}
	j.raw(`,"name":`)
	j.quote(title(&p.Recording))
	j.raw(",\n\"shared\":{\"frames\":[")
	merged := p.Merge(false)
	for i, function := range merged.First {
		if i > 0 {
			j.raw(",\n")
		}
		f := &p.Functions[function]
		j.raw(`{"name":`)
		j.quote(functionName(f))
		if file := sourceOf(f); file != "" {
			j.raw(`,"file":`)
			j.quote(file)
		}
		if f.Line > 0 {
			j.raw(`,"line":`)
			j.integer(f.Line)
		}
		j.raw("}")
	}
	j.raw("]},\n\"profiles\":[")
	several := len(usedEvents(p)) > 1
	for i, s := range divide(p) {
		if i > 0 {
			j.raw(",\n")
		}
		j.speedscopeProfile(p, merged, s, several)
	}
	j.raw("]}\n")
	return nil
}

// A run has samples that follow each other with the same stack.
type run struct {
	stack  int
	weight uint64
}

// speedscopeProfile writes the samples of a series.
func (j *jsonWriter) speedscopeProfile(p *profile.Profile, merged profile.Merged, s series, several bool) {
	var runs []run
	total := uint64(0)
	for _, i := range s.samples {
		stack, counted := stackOf(p, i), weight(&p.Samples[i])
		if n := len(runs); n == 0 || runs[n-1].stack != stack {
			runs = append(runs, run{stack: stack})
		}
		runs[len(runs)-1].weight += counted
		total += counted
	}
	thread, event := &p.Threads[s.thread], p.Events[s.event]
	name := fmt.Sprintf("%s %d/%d", threadName(thread), thread.PID, thread.TID)
	if several {
		name += " " + event
	}
	unit := "none"
	if isClock(event) {
		unit = "nanoseconds"
	}
	j.raw(`{"type":"sampled","name":`)
	j.quote(name)
	j.raw(`,"unit":"` + unit + `","startValue":0,"endValue":`)
	j.unsigned(total)
	j.raw(",\n\"samples\":[")
	var buffer []int
	for i, r := range runs {
		if i > 0 {
			j.raw(",")
		}
		buffer = frames(buffer, p, r.stack)
		for k, frame := range buffer {
			buffer[k] = merged.Of[p.Frames[frame].Function]
		}
		j.integers(buffer)
	}
	j.raw("],\n\"weights\":[")
	for i, r := range runs {
		if i > 0 {
			j.raw(",")
		}
		j.unsigned(r.weight)
	}
	j.raw("]}")
}
