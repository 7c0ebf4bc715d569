package callstats

import (
	"fmt"
	"math"
	"strconv"

	"github.com/jitinject/jitinject/internal/show"
)

// A Table is what a trace or log says of the calls of its functions.
type Table struct {
	Ledger     *Ledger
	Unfinished map[uint64]uint64 // by function, calls without an end of their own
	Unit       string            // of lengths: "ns", or "ticks" of a clock with an unknown rate
	Length     func(ticks float64) float64
	Name       func(id uint64) string // "" if it is not known
	Key        string                 // what functions are known by, for JSON
	Hex        bool                   // which is an address
	shared     map[string]bool        // names that several functions have
}

// A Total is what there was in all of a trace or log.
type Total struct {
	Threads    int    `show:"threads"`
	Functions  int    `show:"functions"`
	Calls      int64  `show:"calls"`
	Unfinished int64  `show:"unfinished"`
	Unmatched  int64  `show:"unmatched_exits"`
	Events     int64  `show:"events"`
	Gaps       int64  `show:"gaps,opt"`
	Backward   int64  `show:"backward,opt"`
	TooDeep    int64  `show:"stacks_too_deep,opt"`
	CallsDeep  int64  `show:"calls_too_deep,opt"`
	Refused    uint64 `show:"calls_of_further_functions,opt"`
	Clock      string `show:"clock,opt"`
}

// Show shows the total, whatever the filter says of its calls.
func (t *Total) Show(v *show.Viewer) {
	v.Out.Begin(show.Item{Offset: -1, Type: "total", Size: -1})
	v.Fields(v.Out, t, nil)
	v.Out.End()
}

// Show shows a table of functions, those with the largest sums first, and returns how
// many there are. People get columns, programs an object for each function.
func (c *Table) Show(o show.Form) int {
	ids := c.Ledger.order(c.Unfinished)
	t, text := o.(*show.TextForm)
	if !text {
		for _, id := range ids {
			if o.Lost() != nil {
				break
			}
			c.item(o, id)
		}
		return len(ids)
	}
	if len(ids) == 0 {
		return 0
	}
	t.Release()
	c.findShared(ids)
	width, ended := c.countWidth()
	c.head(t, width, ended)
	for _, id := range ids {
		if o.Lost() != nil {
			break
		}
		c.row(t, id, width, ended)
	}
	t.End()
	return len(ids)
}

// item shows a function for programs.
func (c *Table) item(o show.Form, id uint64) {
	o.Begin(show.Item{Offset: -1, Type: "calls", Size: -1})
	if c.Hex {
		o.Hex(c.Key, id)
	} else {
		o.Num(c.Key, id)
	}
	if d := c.Ledger.functions[id]; d == nil {
		o.Num("count", 0)
	} else {
		o.Num("count", d.count)
		for _, n := range []struct {
			name  string
			ticks float64
		}{
			{"min", float64(d.min)}, {"median", float64(d.rank(0.5))}, {"p90", float64(d.rank(0.9))}, {"p99", float64(d.rank(0.99))},
			{"max", float64(d.max)}, {"sum", d.sum()}, {"self", d.self()},
		} {
			o.Float(n.name+"_"+c.Unit, c.Length(n.ticks))
		}
		if !d.exact() {
			o.Word("ranks", "within 0.4 %")
		}
	}
	if n := c.Unfinished[id]; n > 0 {
		o.Num("unfinished", n)
	}
	if name := c.Name(id); name != "" {
		o.Str("name", []byte(name))
	}
	o.End()
}

// countWidth returns how many characters counts of calls need, and those of calls without
// an end, 0 if there are none.
func (c *Table) countWidth() (calls, unfinished int) {
	calls = len("calls")
	for _, d := range c.Ledger.functions {
		calls = max(calls, len(strconv.FormatUint(d.count, 10)))
	}
	for _, n := range c.Unfinished {
		unfinished = max(unfinished, len("unfinished"), len(strconv.FormatUint(n, 10)))
	}
	return calls, unfinished
}

// lengthWidth is how many characters a column of lengths has: those of "123.4 ms", or of
// counts of a clock, and two blanks in front of them.
func (c *Table) lengthWidth() int {
	if c.Unit == "ticks" {
		return 16
	}
	return 10
}

// head begins a table with a line that says what is in its columns.
func (c *Table) head(t *show.TextForm, calls, unfinished int) {
	t.Raw("\n")
	t.Right("calls", calls)
	for _, head := range []string{"sum", "self", "min", "median", "90 %", "99 %", "max"} {
		t.Right(head, c.lengthWidth())
	}
	if unfinished > 0 {
		t.Right("unfinished", unfinished+2)
	}
	t.Raw("  function")
	if c.Unit == "ticks" {
		t.Raw(" (lengths in counts of a clock of unknown rate)")
	}
	t.End()
}

// row shows a function. What comes from buckets, and is a little off, has a ~.
func (c *Table) row(t *show.TextForm, id uint64, calls, unfinished int) {
	d := c.Ledger.functions[id]
	if d == nil {
		t.Right("0", calls)
		for range 7 {
			t.Right("-", c.lengthWidth())
		}
	} else {
		t.Right(strconv.FormatUint(d.count, 10), calls)
		about := ""
		if !d.exact() {
			about = "~"
		}
		for _, ticks := range []float64{d.sum(), d.self(), float64(d.min)} {
			t.Right(c.text(ticks), c.lengthWidth())
		}
		for _, share := range []float64{0.5, 0.9, 0.99} {
			t.Right(about+c.text(float64(d.rank(share))), c.lengthWidth())
		}
		t.Right(c.text(float64(d.max)), c.lengthWidth())
	}
	if unfinished > 0 {
		n := "-"
		if v := c.Unfinished[id]; v > 0 {
			n = strconv.FormatUint(v, 10)
		}
		t.Right(n, unfinished+2)
	}
	t.Raw("  ")
	name := c.Name(id)
	if name != "" {
		t.Clean([]byte(name))
		if !c.shared[name] {
			t.End()
			return
		}
		t.Raw(", ")
	}
	number := strconv.FormatUint(id, 10)
	if c.Hex {
		number = fmt.Sprintf("%#x", id)
	}
	t.Raw(c.Key + " " + number)
	t.End()
}

// findShared finds the names that do not tell functions apart.
func (c *Table) findShared(ids []uint64) {
	seen := make(map[string]bool, len(ids))
	c.shared = make(map[string]bool)
	for _, id := range ids {
		if name := c.Name(id); seen[name] {
			c.shared[name] = true
		} else {
			seen[name] = true
		}
	}
}

// text is a length as people read it: with four digits, in the unit that fits.
func (c *Table) text(ticks float64) string {
	v := c.Length(ticks)
	if c.Unit == "ticks" {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return readable(v)
}

// readable returns nanoseconds with four digits, in ns, us, ms or s.
func readable(ns float64) string {
	v, unit := ns, "ns"
	for _, next := range []string{"us", "ms", "s"} {
		if v < 999.95 {
			break
		}
		v, unit = v/1000, next
	}
	decimals := 0
	switch {
	case unit == "ns" && v == math.Trunc(v), v >= 999.95:
	case v >= 99.995:
		decimals = 1
	case v >= 9.9995:
		decimals = 2
	default:
		decimals = 3
	}
	return strconv.FormatFloat(v, 'f', decimals, 64) + " " + unit
}
