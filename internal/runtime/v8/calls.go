package v8

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/jitdump"
)

// Inlined calls of a log: which of them can be used. A log may be damaged, so their parents may be
// missing, or may form a cycle.

// A call is an inlined call of a log, checked.
type call struct {
	function int32 // index in the index's functions, unknown, or missing
	offset   int32 // of the call in the script of the caller
	parent   int32 // index of a usable call, or v8log.None
	state    callState
	depth    int32 // of usable calls, from 0

	first, last int32 // of its ranges: indexes in Trees.ranges plus 1, or 0 without any
	count       int32 // of its ranges
}

// missing is the function of a call with an index outside the list of functions.
const missing = -2

// A callState says how far a call is checked.
type callState uint8

const (
	unchecked callState = iota
	checking
	usable  // it and its parents are known
	skipped // its code counts for its parent, at the place of the call
	bad     // it has no place in the tree
)

// faults count the calls and rows of a function that cannot be used.
type faults struct{ cyclic, outside, deep, unnamed, beyond int }

// check decides whether a call and its callers are usable.
func (t *Trees) check(i int32) {
	t.chain = t.chain[:0]
	for i != v8log.None && t.calls[i].state == unchecked {
		t.calls[i].state = checking
		t.chain = append(t.chain, i)
		if i = t.calls[i].parent; i >= int32(len(t.calls)) {
			t.faults.outside++
			t.fail()
			return
		}
	}
	if i != v8log.None && t.calls[i].state == checking {
		t.faults.cyclic++
		t.fail()
		return
	}
	for k := len(t.chain) - 1; k >= 0; k-- { // callers first
		t.decide(&t.calls[t.chain[k]])
	}
}

// fail marks the calls of the chain as bad.
func (t *Trees) fail() {
	for _, i := range t.chain {
		t.calls[i].state = bad
	}
}

// decide checks a call after its caller.
func (t *Trees) decide(c *call) {
	c.state, c.depth = usable, 0
	if c.parent != v8log.None {
		p := &t.calls[c.parent]
		switch p.state {
		case usable:
			c.depth = p.depth + 1
		case skipped: // the code of the parent counts for its caller
			c.offset = p.offset
			if c.parent = p.parent; c.parent != v8log.None {
				c.depth = t.calls[c.parent].depth + 1
			}
		default:
			c.state = bad
			return
		}
	}
	switch {
	case c.function == missing:
		c.state = skipped
	case c.function == unknown && t.late: // said of the whole log
		c.state = skipped
	case c.function == unknown || t.x.functions[c.function].script == unknown:
		t.faults.unnamed++
		c.state = skipped
	case c.depth > jitdump.MaxDepth:
		t.faults.deep++
		c.state = skipped
	}
}

// problem returns an error about the damaged parts of a function, or nil.
func (t *Trees) problem(o *object) error {
	f := &t.faults
	var text []byte
	for _, part := range []struct {
		n    int
		what string
	}{
		{f.cyclic, "inlined calls that contain themselves"},
		{f.outside, "indexes outside their lists"},
		{f.deep, fmt.Sprintf("inlined calls deeper than %d", jitdump.MaxDepth)},
		{f.unnamed, "inlined calls of functions that the log does not describe"},
		{f.beyond, "positions after the end of the code"},
	} {
		if part.n > 0 {
			if len(text) > 0 {
				text = append(text, ", "...)
			}
			text = fmt.Appendf(text, "%d %s", part.n, part.what)
		}
	}
	if len(text) == 0 {
		return nil
	}
	return t.x.problem(fmt.Errorf("%s: code-source-info at offset %#x: %s; these are left out", v8log.FormatName, o.positions.Off, text))
}
