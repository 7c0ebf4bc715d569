package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/words"
)

// A fact is a line about what was recorded.
type fact struct {
	Label string `json:"label"`
	Text  string `json:"text"`
}

// facts says what was recorded, in plain words. What the recording does not say is left out.
func facts(p *profile.Profile) []fact {
	r := p.Recording
	list := []fact{}
	add := func(label string, parts ...string) {
		var known []string
		for _, part := range parts {
			if part != "" {
				known = append(known, shown(part))
			}
		}
		if len(known) > 0 {
			list = append(list, fact{label, strings.Join(known, ", ")})
		}
	}
	add("Command", r.Command)
	add("File", r.Path)
	add("Recorded", r.Date, lastsFor(p))
	add("Machine", r.Host, r.CPU, r.Arch)
	if r.Kernel != "" {
		add("Kernel", "Linux "+r.Kernel)
	}
	add("Recorder", prefixed("perf ", r.Perf))
	frequency := ""
	if r.Frequency > 0 {
		frequency = "at most " + words.Number(int64(r.Frequency)) + " samples a second on each CPU"
	}
	label := "Events"
	if len(p.Events) == 1 {
		label = "Event"
	}
	add(label, append(append([]string{}, p.Events...), frequency)...)
	add("Samples", samplesOf(p))
	if r.Lost > 0 {
		add("Lost", words.Number(int64(r.Lost))+" samples, because the kernel's buffer was full")
	}
	if len(p.Samples) > 0 {
		add("Resolved", resolved(p))
	}
	return list
}

func prefixed(prefix, s string) string {
	if s == "" || strings.HasPrefix(s, prefix) {
		return s
	}
	return prefix + s
}

// lastsFor returns the time between the first and the last sample, "" if there is none.
func lastsFor(p *profile.Profile) string {
	if len(p.Samples) < 2 {
		return ""
	}
	first, last := p.Samples[0].Time, p.Samples[0].Time
	for _, s := range p.Samples {
		first, last = min(first, s.Time), max(last, s.Time)
	}
	if last == first {
		return ""
	}
	return fmt.Sprintf("%.3g s from the first to the last sample", float64(last-first)/1e9)
}

func samplesOf(p *profile.Profile) string {
	processes := make(map[uint32]bool)
	threads := make(map[int]bool)
	for _, s := range p.Samples {
		threads[s.Thread] = true
		processes[p.Threads[s.Thread].PID] = true
	}
	if len(p.Samples) == 0 {
		return "none"
	}
	return fmt.Sprintf("%s in %s and %s", words.Number(int64(len(p.Samples))), words.Count(int64(len(threads)), "thread"), words.Plural(len(processes), "process", "processes"))
}

// resolved says how many samples have a symbol where they were taken, and how many stacks have one
// in all frames.
func resolved(p *profile.Profile) string {
	isUnknown := func(stack int) bool {
		return p.Functions[p.Frames[p.Stacks[stack].Frame].Function].Kind == profile.Unknown
	}
	// Whether a stack has an unknown frame; 0 if not yet looked at.
	const complete, incomplete = 1, 2
	state := make([]byte, len(p.Stacks))
	leaves, whole := 0, 0
	var path []int
	for _, s := range p.Samples {
		if s.Stack < 0 {
			continue
		}
		if !isUnknown(s.Stack) {
			leaves++
		}
		path = path[:0]
		at := s.Stack
		for ; at >= 0 && state[at] == 0; at = p.Stacks[at].Caller {
			path = append(path, at)
		}
		outer := byte(complete)
		if at >= 0 {
			outer = state[at]
		}
		for i := len(path) - 1; i >= 0; i-- {
			if isUnknown(path[i]) {
				outer = incomplete
			}
			state[path[i]] = outer
		}
		if state[s.Stack] == complete {
			whole++
		}
	}
	return fmt.Sprintf("%s of samples are in a known function; %s have known functions in all frames",
		percent(leaves, len(p.Samples)), percent(whole, len(p.Samples)))
}

// percent never rounds to 0% or 100% what is not.
func percent(part, whole int) string {
	switch share := 100 * float64(part) / float64(whole); {
	case part > 0 && share < 0.1:
		return "less than 0.1%"
	case part < whole && share > 99.9:
		return "more than 99.9%"
	case part == whole:
		return "100%"
	default:
		return strconv.FormatFloat(share, 'f', 1, 64) + "%"
	}
}

func comparedWith(base *profile.Profile) fact {
	text := words.Number(int64(len(base.Samples))) + " samples"
	for _, part := range []string{base.Recording.Path, base.Recording.Date, base.Recording.Command} {
		if part != "" {
			text += ", " + shown(part)
		}
	}
	return fact{"Compared with", text}
}
