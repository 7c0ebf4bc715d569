package source

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/jitinject/jitinject/internal/cfi"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// What functions of a dump do to the stack of those that call them. Unwind tables that
// are derived from code depend on it: see package cfi.

// callees knows the functions of a dump by their addresses.
type callees struct {
	events  int             // of the dump that have been taken in
	placed  []placed        // in the order of their addresses
	effects []atomic.Uint32 // by function: 0, or a cfi.Callee and 1
	strict  bool            // functions take arguments off their callers' stack
	copies  []Copy
}

// A placed function is one at an address.
type placed struct {
	addr     uint64
	function int
}

// lookAround takes in the functions that were scanned since it was called last. It must
// not run while functions are read.
func (d *Jitdump) lookAround() {
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
		if code, err := r.code(e.Function); err == nil {
			c.strict = cfi.TakesArguments(d.Target(), code)
		}
	}
	c.events = len(d.Events)
	slices.SortStableFunc(c.placed, func(a, b placed) int { return cmp.Compare(a.addr, b.addr) })
	if len(c.effects) < len(d.parts) {
		c.effects = make([]atomic.Uint32, len(d.parts))
	}
}

// code reads the code of the i-th function, valid until the next call.
func (r *Reader) code(i int) ([]byte, error) {
	at := r.d.parts[i].load
	if err := r.window.hold(r.d.src, at); err != nil {
		return nil, err
	}
	raw, err := r.window.record(at, r.d.order())
	if err != nil {
		return nil, err
	}
	l, err := raw.Load()
	return l.Code, err
}

// callee says what the function at an address does to its caller, or else that of which a
// copy is there.
func (r *Reader) callee(addr uint64) cfi.Callee {
	effect := r.placed(addr)
	for _, c := range r.d.callees.copies {
		if effect == cfi.CalleeUnknown && addr >= c.Lo && addr < c.Hi {
			effect = r.placed(addr - c.Lo + c.Home)
		}
	}
	return effect
}

// placed says what the function at an address does to its caller. Where several were
// there at different times, it is what all of them do.
func (r *Reader) placed(addr uint64) cfi.Callee {
	c := &r.d.callees
	i, _ := slices.BinarySearchFunc(c.placed, addr, func(p placed, addr uint64) int { return cmp.Compare(p.addr, addr) })
	effect := cfi.CalleeUnknown
	for first := i; i < len(c.placed) && c.placed[i].addr == addr; i++ {
		e := r.effect(c.placed[i].function)
		if i > first && e != effect {
			return cfi.CalleeUnknown
		}
		effect = e
	}
	return effect
}

// effect says what the i-th function does to its caller.
func (r *Reader) effect(i int) cfi.Callee {
	known := &r.d.callees.effects[i]
	if e := known.Load(); e != 0 {
		return cfi.Callee(e - 1)
	}
	if r.aside == nil {
		r.aside = r.d.Reader()
	}
	effect := cfi.CalleeUnknown
	if code, err := r.aside.code(i); err == nil {
		r.aside.frames.Strict = r.d.callees.strict
		found := r.aside.frames.Synthesize(r.d.Target(), code, nil)
		effect = found.Callee()
	}
	known.Store(uint32(effect) + 1)
	return effect
}
