package show

import (
	"fmt"
	"math"
	"strconv"
)

// A callsTable is what a trace or log says of the calls of its functions.
type callsTable struct {
	ledger     *ledger
	unfinished map[uint64]uint64 // by function, calls without an end of their own
	unit       string            // of lengths: "ns", or "ticks" of a clock whose rate nobody says
	length     func(ticks float64) float64
	name       func(id uint64) string // "" if it is not known
	key        string                 // what functions are known by, for JSON
	hex        bool                   // which is an address
	shared     map[string]bool        // names that several functions have
}

// show shows a table of functions, those with the largest sums first, and returns how
// many there are. People get columns, programs an object for each function.
func (c *callsTable) show(o form) int {
	ids := c.ledger.order(c.unfinished)
	t, text := o.(*textForm)
	if !text {
		for _, id := range ids {
			if o.lost() != nil {
				break
			}
			c.item(o, id)
		}
		return len(ids)
	}
	if len(ids) == 0 {
		return 0
	}
	t.release()
	c.findShared(ids)
	width, ended := c.countWidth()
	c.head(t, width, ended)
	for _, id := range ids {
		if o.lost() != nil {
			break
		}
		c.row(t, id, width, ended)
	}
	t.end()
	return len(ids)
}

// item shows a function for programs.
func (c *callsTable) item(o form, id uint64) {
	o.begin(item{offset: -1, typ: "calls", size: -1})
	if c.hex {
		o.hex(c.key, id)
	} else {
		o.num(c.key, id)
	}
	if d := c.ledger.functions[id]; d == nil {
		o.num("count", 0)
	} else {
		o.num("count", d.count)
		for _, n := range []struct {
			name  string
			ticks float64
		}{
			{"min", float64(d.min)}, {"median", float64(d.rank(0.5))}, {"p90", float64(d.rank(0.9))}, {"p99", float64(d.rank(0.99))},
			{"max", float64(d.max)}, {"sum", d.sum()}, {"self", d.self()},
		} {
			o.float(n.name+"_"+c.unit, c.length(n.ticks))
		}
		if !d.exact() {
			o.word("ranks", "within 0.4 %")
		}
	}
	if n := c.unfinished[id]; n > 0 {
		o.num("unfinished", n)
	}
	if name := c.name(id); name != "" {
		o.str("name", []byte(name))
	}
	o.end()
}

// countWidth returns how many characters counts of calls need, and those of calls without
// an end, 0 if there are none.
func (c *callsTable) countWidth() (calls, unfinished int) {
	calls = len("calls")
	for _, d := range c.ledger.functions {
		calls = max(calls, len(strconv.FormatUint(d.count, 10)))
	}
	for _, n := range c.unfinished {
		unfinished = max(unfinished, len("unfinished"), len(strconv.FormatUint(n, 10)))
	}
	return calls, unfinished
}

// lengthWidth is how many characters a column of lengths has: those of "123.4 ms", or of
// counts of a clock, and two blanks in front of them.
func (c *callsTable) lengthWidth() int {
	if c.unit == "ticks" {
		return 16
	}
	return 10
}

// head begins a table with a line that says what is in its columns.
func (c *callsTable) head(t *textForm, calls, unfinished int) {
	t.raw("\n")
	t.right("calls", calls)
	for _, head := range []string{"sum", "self", "min", "median", "90 %", "99 %", "max"} {
		t.right(head, c.lengthWidth())
	}
	if unfinished > 0 {
		t.right("unfinished", unfinished+2)
	}
	t.raw("  function")
	if c.unit == "ticks" {
		t.raw(" (lengths in counts of a clock of unknown rate)")
	}
	t.end()
}

// row shows a function. What comes from buckets, and is a little off, has a ~.
func (c *callsTable) row(t *textForm, id uint64, calls, unfinished int) {
	d := c.ledger.functions[id]
	if d == nil {
		t.right("0", calls)
		for range 7 {
			t.right("-", c.lengthWidth())
		}
	} else {
		t.right(strconv.FormatUint(d.count, 10), calls)
		about := ""
		if !d.exact() {
			about = "~"
		}
		for _, ticks := range []float64{d.sum(), d.self(), float64(d.min)} {
			t.right(c.text(ticks), c.lengthWidth())
		}
		for _, share := range []float64{0.5, 0.9, 0.99} {
			t.right(about+c.text(float64(d.rank(share))), c.lengthWidth())
		}
		t.right(c.text(float64(d.max)), c.lengthWidth())
	}
	if unfinished > 0 {
		n := "-"
		if v := c.unfinished[id]; v > 0 {
			n = strconv.FormatUint(v, 10)
		}
		t.right(n, unfinished+2)
	}
	t.raw("  ")
	name := c.name(id)
	if name != "" {
		t.clean([]byte(name))
		if !c.shared[name] {
			t.end()
			return
		}
		t.raw(", ")
	}
	number := strconv.FormatUint(id, 10)
	if c.hex {
		number = fmt.Sprintf("%#x", id)
	}
	t.raw(c.key + " " + number)
	t.end()
}

// findShared finds the names that do not tell functions apart.
func (c *callsTable) findShared(ids []uint64) {
	seen := make(map[string]bool, len(ids))
	c.shared = make(map[string]bool)
	for _, id := range ids {
		if name := c.name(id); seen[name] {
			c.shared[name] = true
		} else {
			seen[name] = true
		}
	}
}

// text is a length as people read it: with four digits, in the unit that fits.
func (c *callsTable) text(ticks float64) string {
	v := c.length(ticks)
	if c.unit == "ticks" {
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
