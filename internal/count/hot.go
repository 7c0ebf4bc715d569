package count

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/source"
)

// hotCounts has the samples of each event in each function, by address. perf report shows the periods
// of samples instead of their number, so both are counted.
type hotCounts struct {
	events    []recording.Weight // of each attr, in functions or not
	addresses map[hotAddress]*recording.Weight
	over      bool                         // there were more than maxHot addresses
	kept      map[functionID]*keptFunction // of dumps that are closed
}

// A hotAddress is an address in a function, and an event.
type hotAddress struct {
	function functionID
	offset   uint32 // from the start of the function, in bytes; noOffset if unknown
	attr     uint32
}

const (
	// noOffset is the offset of samples at an unknown place in their function.
	noOffset = 1<<32 - 1

	// maxHot is how many addresses have counts of their own; each takes about 64 bytes. The samples of
	// later ones count for their functions.
	maxHot = 1 << 18
)

// at returns the weight of an event at a spot, creating it if needed. It is nil if that is in no
// function.
func (c *hotCounts) at(s spot, attr int) *recording.Weight {
	if s.function == nowhere {
		return nil
	}
	key := hotAddress{s.function, s.offset, uint32(attr)}
	w := c.addresses[key]
	if w == nil && len(c.addresses) >= maxHot {
		c.over = c.over || key.offset != noOffset
		key.offset = noOffset
		w = c.addresses[key]
	}
	if w == nil {
		if c.addresses == nil {
			c.addresses = make(map[hotAddress]*recording.Weight)
		}
		w = new(recording.Weight)
		c.addresses[key] = w
	}
	return w
}

// A weighed is a function with the samples of one event.
type weighed struct {
	function functionID
	recording.Weight
}

// candidates is how many functions are compared by name: each must be read.
const candidates = 100

// heaviest returns the functions with the most samples of an event, at most candidates. Those of equal
// weight are in the order of their dumps.
func heaviest(functions map[functionID]recording.Weight) []weighed {
	all := make([]weighed, 0, len(functions))
	for f, w := range functions {
		all = append(all, weighed{f, w})
	}
	slices.SortFunc(all, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(b.Period, a.Period), cmp.Compare(b.Samples, a.Samples), cmp.Compare(a.function.dump, b.function.dump), cmp.Compare(a.function.function, b.function.function))
	})
	return all[:min(len(all), candidates)]
}

// functions returns the samples of an event in each function.
func (c *hotCounts) functions(attr int) map[functionID]recording.Weight {
	in := make(map[functionID]recording.Weight)
	for key, w := range c.addresses {
		if int(key.attr) == attr {
			sum := in[key.function]
			sum.Add(*w)
			in[key.function] = sum
		}
	}
	return in
}

// mainAttr returns the attr with the most samples in functions. several says that others have samples,
// too, maybe in no function.
func (c *hotCounts) mainAttr() (attr int, several bool) {
	in := make([]int64, len(c.events))
	for key, w := range c.addresses {
		in[key.attr] += w.Samples
	}
	events := 0
	for i := range in {
		if in[i] > in[attr] {
			attr = i
		}
		if c.events[i].Samples > 0 {
			events++
		}
	}
	return attr, events > 1
}

// A keptFunction is a copy of what is needed of a function.
type keptFunction struct {
	name   string
	addr   uint64
	files  []string
	lines  []jitcode.Line
	origin *jitcode.Origin // nil if unknown
}

// readerOf returns a reader of the functions of a dump for such copies.
func readerOf(d *model.Dump) source.FunctionReader {
	if lined, ok := d.Source.(source.Lined); ok {
		return lined.Inspect()
	}
	return d.Source.Functions()
}

// keptOf returns a copy of a function, or nil if it cannot be read.
func keptOf(r source.FunctionReader, function int32) *keptFunction {
	fn, err := r.Function(int(function))
	r.TakeProblems() // known since its object was made
	if err != nil {
		return nil
	}
	k := &keptFunction{name: string(fn.Name), addr: fn.Addr, files: slices.Clone(fn.Files), lines: slices.Clone(fn.Lines)}
	if len(fn.Origins) > 0 {
		o := fn.Origins[0]
		o.Name = bytes.Clone(o.Name)
		k.origin = &o
	}
	return k
}

// keep keeps the hottest functions of a dump.
func (c *hotCounts) keep(d *model.Dump) {
	r := readerOf(d)
	for attr := range c.events {
		in := c.functions(attr)
		for f := range in {
			if int(f.dump) != d.Number {
				delete(in, f)
			}
		}
		for _, f := range heaviest(in) {
			if k := keptOf(r, f.function.function); k != nil {
				if c.kept == nil {
					c.kept = make(map[functionID]*keptFunction)
				}
				c.kept[f.function] = k
			}
		}
	}
}
