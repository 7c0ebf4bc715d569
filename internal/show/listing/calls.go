package listing

import "github.com/jitinject/jitinject/internal/show"

// ShowCalls shows inlined calls as a list, each below the one that it is in. The runs of a call follow
// each other.
func ShowCalls(o show.Form, calls []Call) {
	o.List("inline_calls")
	for i := 0; i < len(calls); {
		c := &calls[i]
		o.Row()
		o.Depth(uint64(c.Depth))
		o.Label("function", []byte(c.Function))
		o.CalledAt([]byte(c.File), c.Line, c.Column)
		o.Array("ranges")
		for id := c.ID; i < len(calls) && calls[i].ID == id; i++ {
			o.ElemRange(calls[i].First, calls[i].End)
		}
		o.EndArray()
	}
	o.EndList()
}
