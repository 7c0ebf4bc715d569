package judge

import (
	"fmt"
	"strings"
)

// A Kind is the kind of a loss.
type Kind string

// The kinds of losses, the worst first.
const (
	Absent      Kind = "absent"
	Surplus     Kind = "surplus"
	NoBottom    Kind = "no bottom"
	FewerFrames Kind = "fewer frames"
	OtherFrames Kind = "other frames"
	NoSymbol    Kind = "no symbol"
	OtherSymbol Kind = "other symbol"
)

// Kinds has all kinds, in the order in which tables show them.
var Kinds = []Kind{Absent, Surplus, NoBottom, FewerFrames, OtherFrames, NoSymbol, OtherSymbol}

// A Loss is a difference of one sample between theirs and ours, to the worse.
type Loss struct {
	Kind   Kind
	Theirs *Sample // nil if it is Surplus
	Ours   *Sample // nil if it is Absent
	// Frame is the index of the first frame that differs; in either stack it may be one
	// past the last frame.
	Frame int
	Rule  string // the name of the rule that excuses the loss, or ""
}

// Sample returns their sample, or ours if theirs has none.
func (l *Loss) Sample() *Sample {
	if l.Theirs != nil {
		return l.Theirs
	}
	return l.Ours
}

// Frames returns the frames that differ: theirs and ours. Either is nil after the end of
// its stack.
func (l *Loss) Frames() (theirs, ours *Frame) {
	if l.Theirs != nil && l.Frame < len(l.Theirs.Frames) {
		theirs = &l.Theirs.Frames[l.Frame]
	}
	if l.Ours != nil && l.Frame < len(l.Ours.Frames) {
		ours = &l.Ours.Frames[l.Frame]
	}
	return theirs, ours
}

// String describes the loss in one line: the sample, the loss, the place.
func (l *Loss) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %s", l.Sample(), l.Kind)
	if l.Kind == Absent || l.Kind == Surplus {
		return b.String()
	}
	theirs, ours := l.Frames()
	switch l.Kind {
	case NoSymbol, OtherSymbol:
		fmt.Fprintf(&b, ": frame %d is %v, with perf inject %v", l.Frame, ours, theirs)
	default:
		fmt.Fprintf(&b, ": %d frames, with perf inject %d", len(l.Ours.Frames), len(l.Theirs.Frames))
		switch {
		case ours != nil && theirs != nil:
			fmt.Fprintf(&b, "; they part at frame %d: %v, with perf inject %v", l.Frame, ours, theirs)
		case theirs != nil:
			fmt.Fprintf(&b, "; after %s perf inject's goes on with %v", l.last(), theirs)
		}
	}
	if l.Rule != "" {
		fmt.Fprintf(&b, " (excused: %s)", l.Rule)
	}
	return b.String()
}

// last describes our last frame before the stacks differ.
func (l *Loss) last() string {
	if l.Frame == 0 || l.Frame > len(l.Ours.Frames) {
		return "nothing"
	}
	return l.Ours.Frames[l.Frame-1].String()
}

// Real returns the losses that no rule excuses.
func Real(losses []Loss) (real []Loss) {
	for i := range losses {
		if losses[i].Rule == "" {
			real = append(real, losses[i])
		}
	}
	return real
}

// Summary counts losses by kind, in one line: "3 no bottom, 1 other symbol".
func Summary(losses []Loss) string {
	counts := make(map[Kind]int)
	for i := range losses {
		counts[losses[i].Kind]++
	}
	var parts []string
	for _, kind := range Kinds {
		if n := counts[kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, kind))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
