package jitdump

import (
	"bytes"

	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// Same implements source.Comparer.
func (d *Dump) Same() func(i, j int) bool {
	in := [2]window{d.window(), d.window()}
	return func(i, j int) bool {
		// Code at two times may have other functions inlined.
		if d.description.has(i) || d.description.has(j) {
			return false
		}
		var all [2]parts
		for k, f := range [2]int{i, j} {
			p := d.partsOf(f)
			if in[k].hold(p.load, p.debug, p.inline, d.ownUnwinding(&p)) != nil {
				return false
			}
			all[k] = p
		}
		a, b := &all[0], &all[1]
		return sameLoad(&in, a.load, b.load) && samePayload(&in, a.debug, b.debug) &&
			samePayload(&in, a.inline, b.inline) && d.sameUnwinding(&in, a.unwind, b.unwind)
	}
}

// sameLoad reports whether two loads have the same name and code.
func sameLoad(in *[2]window, a, b source.Span) bool {
	var loads [2]jitdump.Load
	for k, s := range [2]source.Span{a, b} {
		raw, err := in[k].record(s)
		if err != nil {
			return false
		}
		if loads[k], err = raw.Load(); err != nil {
			return false
		}
	}
	return bytes.Equal(loads[0].Name, loads[1].Name) && bytes.Equal(loads[0].Code, loads[1].Code)
}

// sameUnwinding is samePayload for unwinding records.
func (l *listing) sameUnwinding(in *[2]window, a, b source.Span) bool {
	x, y := l.batchOf(a), l.batchOf(b)
	if x != nil && y != nil {
		return x.sum == y.sum
	}
	return x == nil && y == nil && samePayload(in, a, b)
}

// samePayload reports whether two records are equal except for their times, or both missing.
func samePayload(in *[2]window, a, b source.Span) bool {
	if a.Size == 0 || b.Size == 0 {
		return a.Size == b.Size
	}
	x, err := in[0].record(a)
	if err != nil {
		return false
	}
	y, err := in[1].record(b)
	return err == nil && x.ID == y.ID && bytes.Equal(x.Body, y.Body)
}
