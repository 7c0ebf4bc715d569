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
	type frame struct {
		Name string `json:"name"`
		File string `json:"file,omitempty"`
		Line int    `json:"line,omitempty"`
	}
	merged := p.Merge(false)
	several := len(usedEvents(p)) > 1
	return writeObject(w,
		member{name: "$schema", value: "https://www.speedscope.app/file-format-schema.json"},
		member{name: "activeProfileIndex", value: 0},
		member{name: "exporter", value: options.Program},
		member{name: "name", value: title(&p.Recording)},
		member{name: "shared", value: map[string][]frame{"frames": mapped(merged.First, func(function int) frame {
			f := &p.Functions[function]
			return frame{functionName(f), sourceOf(f), max(0, f.Line)}
		})}},
		member{name: "profiles", values: func(yield func(any) bool) {
			for _, s := range divide(p) {
				if !yield(speedscopeProfileOf(p, merged, s, several)) {
					return
				}
			}
		}},
	)
}

// A speedscopeProfile is a profile of one thread and event.
type speedscopeProfile struct {
	Type       string   `json:"type"`
	Name       string   `json:"name"`
	Unit       string   `json:"unit"`
	StartValue uint64   `json:"startValue"`
	EndValue   uint64   `json:"endValue"`
	Samples    [][]int  `json:"samples"` // frames from the outermost on
	Weights    []uint64 `json:"weights"` // JavaScript rounds those above 2^53
}

func speedscopeProfileOf(p *profile.Profile, merged profile.Merged, s series, several bool) *speedscopeProfile {
	thread, event := &p.Threads[s.thread], p.Events[s.event]
	out := &speedscopeProfile{Type: "sampled", Name: fmt.Sprintf("%s %d/%d", threadName(thread), thread.PID, thread.TID), Unit: "none"}
	if several {
		out.Name += " " + text(event)
	}
	if isClock(event) {
		out.Unit = "nanoseconds"
	}
	framesOf := make(map[int][]int) // by stack
	last := -1
	for _, i := range s.samples {
		stack, counted := stackOf(p, i), weight(&p.Samples[i])
		if stack != last {
			if framesOf[stack] == nil {
				framesOf[stack] = mapped(frames(nil, p, stack), func(frame int) int { return merged.Of[p.Frames[frame].Function] })
			}
			out.Samples, out.Weights = append(out.Samples, framesOf[stack]), append(out.Weights, 0)
			last = stack
		}
		out.Weights[len(out.Weights)-1] += counted
		out.EndValue += counted
	}
	return out
}
