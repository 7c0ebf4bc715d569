package count

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/source"
)

// hotCounts has the samples of each event in each function, by address. perf report shows the periods
// of samples instead of their number, so both are counted.
type hotCounts struct {
	events    []recording.Weight // of each attr, in functions or not
	addresses map[hotAddress]*recording.Weight
	// cold has the functions whose addresses have no counts of their own.
	cold map[hotFunction]*recording.Weight
	free []recording.Weight // memory for new ones
}

// A hotFunction is a function, and an event, in one number, which maps find fast: the dump from bit 42 on,
// the attr from bit 32 on, and the function.
type hotFunction uint64

func hotFunctionOf(f functionID, attr int) hotFunction {
	return hotFunction(f.dump)<<42 | hotFunction(attr)<<32 | hotFunction(uint32(f.function))
}

func (f hotFunction) id() functionID { return functionID{int32(f >> 42), int32(uint32(f))} }
func (f hotFunction) attr() int      { return int(f >> 32 & recording.MaxAttr) }

// A hotAddress is an address in a function, and an event.
type hotAddress struct {
	function hotFunction
	offset   uint64 // from the start of the function, in bytes; noOffset if unknown
}

const (
	// noOffset is the offset of samples at an unknown place in their function.
	noOffset = 1<<32 - 1

	// maxHot is how many addresses have counts of their own; each takes about 80 bytes.
	maxHot = 1 << 17
)

// at returns the weight of an event at a spot, creating it if needed. It is nil if that is in no
// function. moved says that weights that were returned before do not count any more.
func (c *hotCounts) at(s spot, attr int) (w *recording.Weight, moved bool) {
	if s.function == nowhere {
		return nil, false
	}
	f := hotFunctionOf(s.function, attr)
	if len(c.cold) > 0 {
		if w = c.cold[f]; w != nil {
			return w, false
		}
	}
	key := hotAddress{f, uint64(s.offset)}
	if w = c.addresses[key]; w != nil {
		return w, false
	}
	if len(c.addresses) >= maxHot {
		c.cool()
		w, _ = c.at(s, attr)
		return w, true
	}
	if c.addresses == nil {
		c.addresses = make(map[hotAddress]*recording.Weight)
	}
	w = c.new()
	c.addresses[key] = w
	return w, false
}

// new returns a weight of zero.
func (c *hotCounts) new() *recording.Weight {
	if len(c.free) == 0 {
		c.free = make([]recording.Weight, 256)
	}
	w := &c.free[0]
	c.free = c.free[1:]
	return w
}

// cool makes functions cold until at most half of maxHot addresses are left, those with the fewest
// samples first.
func (c *hotCounts) cool() {
	of := make(map[hotFunction]int)
	weights := make(map[hotFunction]recording.Weight)
	for key, w := range c.addresses {
		of[key.function]++
		sum := weights[key.function]
		sum.Add(*w)
		weights[key.function] = sum
	}
	functions := sorting.Sorted(maps.Keys(of), func(a, b hotFunction) int {
		return cmp.Or(cmp.Compare(weights[a].Samples, weights[b].Samples), cmp.Compare(a, b))
	})
	if c.cold == nil {
		c.cold = make(map[hotFunction]*recording.Weight)
	}
	left := len(c.addresses)
	for _, f := range functions {
		if left <= maxHot/2 {
			break
		}
		left -= of[f]
		w := c.new()
		*w = weights[f]
		c.cold[f] = w
	}
	warm := make(map[hotAddress]*recording.Weight, left)
	for key, w := range c.addresses {
		if c.cold[key.function] == nil {
			warm[key] = w
		}
	}
	c.addresses = warm
}

// each calls f with the samples of each function, maybe several times.
func (c *hotCounts) each(f func(f hotFunction, w recording.Weight)) {
	for key, w := range c.addresses {
		f(key.function, *w)
	}
	for key, w := range c.cold {
		f(key, *w)
	}
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
	sorting.By(all, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(b.Period, a.Period), cmp.Compare(b.Samples, a.Samples), cmp.Compare(a.function.dump, b.function.dump), cmp.Compare(a.function.function, b.function.function))
	})
	return all[:min(len(all), candidates)]
}

// functions returns the samples of an event in each function.
func (c *hotCounts) functions(attr int) map[functionID]recording.Weight {
	in := make(map[functionID]recording.Weight)
	c.each(func(f hotFunction, w recording.Weight) {
		if f.attr() == attr {
			sum := in[f.id()]
			sum.Add(w)
			in[f.id()] = sum
		}
	})
	return in
}

// mainAttr returns the attr with the most samples in functions. several says that others have samples,
// too, maybe in no function.
func (c *hotCounts) mainAttr() (attr int, several bool) {
	in := make([]int64, len(c.events))
	c.each(func(f hotFunction, w recording.Weight) { in[f.attr()] += w.Samples })
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
