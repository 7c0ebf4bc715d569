package jitdump

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/jitinject/jitinject/internal/cfi"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/runtime/jitdump/hotspot"
	"github.com/jitinject/jitinject/internal/source"
)

// Effects of a dump's functions on the stacks of their callers. Unwind tables derived from code
// depend on them: see package cfi.

// callees has the functions of a dump by address.
type callees struct {
	events  int             // number of the dump's events added so far
	placed  []placed        // sorted by address
	agreed  []atomic.Uint32 // by the index of the first function at an address: as in effects, of all there
	effects []atomic.Uint32 // by function: 0 for unknown, else a cfi.Callee + 1
	strict  bool            // functions remove arguments from their callers' stacks
	barrier hotspot.ReturnBarrier
	copies  []source.Copy
}

// A placed function is a function with its address.
type placed struct {
	addr     uint64
	function int
}

// collectCallees adds the functions scanned since the last call. It must not run while
// functions are read.
func (d *Dump) collectCallees() {
	c := &d.callees
	if !d.derive || c.events == len(d.Events) {
		return
	}
	r := d.Reader()
	c.strict = c.strict || cfi.TakesArgumentsAlways(d.Target())
	for i := c.events; i < len(d.Events); i++ {
		e := &d.Events[i]
		c.placed = append(c.placed, placed{e.Addr, e.Function})
		if c.strict || e.Kind != jitcode.Load {
			continue
		}
		if code, err := r.codeOf(e.Function); err == nil {
			c.strict = cfi.TakesArguments(d.Target(), code)
			c.barrier.Observe(e.Addr, code)
		}
	}
	c.events = len(d.Events)
	slices.SortStableFunc(c.placed, func(a, b placed) int { return cmp.Compare(a.addr, b.addr) })
	if len(c.effects) < len(d.parts) {
		c.effects = make([]atomic.Uint32, len(d.parts))
	}
	c.agreed = make([]atomic.Uint32, len(c.placed))
}

// codeOf returns the code of the i-th function, valid until the next call.
func (r *Reader) codeOf(i int) ([]byte, error) {
	at := r.d.parts[i].load.span()
	if err := r.window.hold(r.d.src, at); err != nil {
		return nil, err
	}
	raw, err := r.window.record(at, r.d.order())
	if err != nil {
		return nil, err
	}
	l, err := raw.Load()
	return r.unsalted(l.Code), err
}

// callee returns the effect of the function at addr on its caller, or of the function that
// addr has a copy of.
func (r *Reader) callee(addr uint64) cfi.Callee {
	effect := r.placed(addr)
	for _, c := range r.d.callees.copies {
		if effect == cfi.CalleeUnknown && addr >= c.Lo && addr < c.Hi {
			effect = r.placed(addr - c.Lo + c.Home)
		}
	}
	return effect
}

// placed returns the effect of the function at addr on its caller. If several functions
// were there at different times, their effects must agree.
func (r *Reader) placed(addr uint64) cfi.Callee {
	c := &r.d.callees
	i, _ := slices.BinarySearchFunc(c.placed, addr, func(p placed, addr uint64) int { return cmp.Compare(p.addr, addr) })
	if i == len(c.placed) || c.placed[i].addr != addr {
		return cfi.CalleeUnknown
	}
	known := &c.agreed[i]
	if e := known.Load(); e != 0 {
		return cfi.Callee(e - 1)
	}
	effect := r.effect(c.placed[i].function)
	for i++; i < len(c.placed) && c.placed[i].addr == addr; i++ {
		if r.effect(c.placed[i].function) != effect {
			effect = cfi.CalleeUnknown
			break
		}
	}
	known.Store(uint32(effect) + 1)
	return effect
}

// effect returns the effect of the i-th function on its caller.
func (r *Reader) effect(i int) cfi.Callee {
	known := &r.d.callees.effects[i]
	if e := known.Load(); e != 0 {
		return cfi.Callee(e - 1)
	}
	if r.aside == nil {
		r.aside = r.d.Reader()
	}
	effect := cfi.CalleeUnknown
	if code, err := r.aside.codeOf(i); err == nil {
		r.aside.frames.Strict = r.d.callees.strict
		found := r.aside.frames.Synthesize(r.d.Target(), code, nil)
		effect = found.Callee()
	}
	known.Store(uint32(effect) + 1)
	return effect
}
