package v8

import (
	"slices"

	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/jitdump"
)

// Positions of a log become lines and, for each inlined call, ranges of code.

// A codeRange is a range of the code of a call.
type codeRange struct {
	jitdump.CodeRange
	next int32 // of the same call: index plus 1, or 0 after the last one
}

// cover makes the lines, and finds the code of each call.
func (t *Trees) cover(o *object, size uint64) {
	t.ranges, t.path, t.since = t.ranges[:0], t.path[:0], t.since[:0]
	for i, p := range t.positions {
		if len(t.ranges) > jitdump.MaxRanges {
			return
		}
		if uint64(p.CodeOffset) >= size {
			t.faults.beyond++
			continue
		}
		if i+1 < len(t.positions) && t.positions[i+1].CodeOffset == p.CodeOffset {
			continue // it applies to no code
		}
		s, unit, at := o.script, p.ScriptOffset, p.Inlining
		switch {
		case at == v8log.None:
		case at >= int32(len(t.calls)):
			t.faults.outside++
			unit, at = v8log.None, v8log.None
		case t.calls[at].state == usable:
			s = t.x.functions[t.calls[at].function].script
		case t.calls[at].state == skipped:
			c := &t.calls[at]
			if unit, at = c.offset, c.parent; at != v8log.None {
				s = t.x.functions[t.calls[at].function].script
			}
		default:
			unit, at = v8log.None, v8log.None
		}
		t.enter(at, p.CodeOffset)
		line, column := t.x.scripts[s].Position(unit)
		t.info.Lines = append(t.info.Lines, jitdump.SourceLine{Offset: p.CodeOffset, File: t.file(s), Line: line, Column: column - 1})
	}
	t.enter(v8log.None, uint32(size))
}

// enter makes a call the innermost one from a code offset on.
func (t *Trees) enter(at int32, off uint32) {
	if n := len(t.path); at == v8log.None && n == 0 || n > 0 && t.path[n-1] == at {
		return
	}
	t.chain = t.chain[:0]
	for ; at != v8log.None; at = t.calls[at].parent {
		t.chain = append(t.chain, at)
	}
	slices.Reverse(t.chain)
	same := 0
	for same < len(t.path) && same < len(t.chain) && t.path[same] == t.chain[same] {
		same++
	}
	for k := same; k < len(t.path); k++ {
		if from := t.since[k]; off > from {
			t.addRange(&t.calls[t.path[k]], jitdump.CodeRange{Start: from, Size: off - from})
		}
	}
	t.path, t.since = t.path[:same], t.since[:same]
	for _, i := range t.chain[same:] {
		t.path, t.since = append(t.path, i), append(t.since, off)
	}
}

// addRange adds a range to the code of a call.
func (t *Trees) addRange(c *call, r jitdump.CodeRange) {
	t.ranges = append(t.ranges, codeRange{CodeRange: r})
	n := int32(len(t.ranges))
	if c.last == 0 {
		c.first = n
	} else {
		t.ranges[c.last-1].next = n
	}
	c.last = n
	c.count++
}
