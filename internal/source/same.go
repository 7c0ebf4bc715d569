package source

import (
	"bytes"

	"github.com/jitinject/jitinject/jitdump"
)

// A Comparer is a Dump that can find repeated functions.
type Comparer interface {
	// Same returns a function that reports whether two functions have the same name, code,
	// lines, inlined calls and unwind tables. It is for one goroutine.
	Same() func(i, j int) bool
}

// Same implements Comparer.
func (d *Jitdump) Same() func(i, j int) bool {
	var in [2]window
	return func(i, j int) bool {
		var all [2]parts
		for k, f := range [2]int{i, j} {
			p := d.parts[f]
			if in[k].hold(d.src, p.load, p.debug, p.inline, p.unwind) != nil {
				return false
			}
			all[k] = p
		}
		a, b := &all[0], &all[1]
		return d.sameLoad(&in, a.load, b.load) && d.samePayload(&in, a.debug, b.debug) &&
			d.samePayload(&in, a.inline, b.inline) && d.samePayload(&in, a.unwind, b.unwind)
	}
}

// sameLoad reports whether two loads have the same name and code.
func (d *Jitdump) sameLoad(in *[2]window, a, b span) bool {
	var loads [2]jitdump.Load
	for k, s := range [2]span{a, b} {
		raw, err := in[k].record(s, d.order())
		if err != nil {
			return false
		}
		if loads[k], err = raw.Load(); err != nil {
			return false
		}
	}
	return bytes.Equal(loads[0].Name, loads[1].Name) && bytes.Equal(loads[0].Code, loads[1].Code)
}

// samePayload reports whether two records agree but for their times, or both are missing.
func (d *Jitdump) samePayload(in *[2]window, a, b span) bool {
	if a.size == 0 || b.size == 0 {
		return a.size == b.size
	}
	x, err := in[0].record(a, d.order())
	if err != nil {
		return false
	}
	y, err := in[1].record(b, d.order())
	return err == nil && x.ID == y.ID && bytes.Equal(x.Body, y.Body)
}
