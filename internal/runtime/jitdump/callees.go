package jitdump

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/jitinject/jitinject/internal/cfi"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/runtime/jitdump/hotspot"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/source"
)

// Effects of a dump's functions on the stacks of their callers. Unwind tables derived from code
// depend on them: see package cfi.

// callees has the functions of a dump by address, and what is known of their effects. Only
// DeriveFrames and Scan change it; the effects are cached.
type callees struct {
	derive      bool              // unwind tables are derived from code; nothing is set otherwise
	interpreter *jitcode.FrameRow // frame in which the dump's traces run, or nil
	copies      []source.Copy

	events  int             // number of the dump's events added so far
	placed  []placed        // sorted by address
	agreed  []atomic.Uint32 // by the index of the first function at an address: as in effects, of all there
	effects []atomic.Uint32 // by function: 0 for unknown, else a cfi.Callee + 1
	strict  bool            // functions remove arguments from their callers' stacks
	barrier hotspot.ReturnBarrier
}

// A placed function is a function with its address.
type placed struct {
	addr     uint64
	function int
}

// collect adds the functions scanned since the last call, if tables are derived. It must not run
// while functions are read.
func (c *callees) collect(l *listing) {
	if !c.derive || c.events == len(l.Events) {
		return
	}
	r := l.NewCodeReader()
	c.strict = c.strict || cfi.TakesArgumentsAlways(l.Target())
	for i := c.events; i < len(l.Events); i++ {
		e := &l.Events[i]
		c.placed = append(c.placed, placed{e.Addr, int(e.Function)})
		if c.strict || e.Kind != jitcode.Load {
			continue
		}
		if _, code, err := r.Code(int(e.Function)); err == nil {
			c.strict = cfi.TakesArguments(l.Target(), code)
			c.barrier.Observe(e.Addr, code)
		}
	}
	c.events = len(l.Events)
	sorting.Stable(c.placed, func(a, b placed) int { return cmp.Compare(a.addr, b.addr) })
	if len(c.effects) < len(l.functions) {
		c.effects = make([]atomic.Uint32, len(l.functions))
	}
	c.agreed = make([]atomic.Uint32, len(c.placed))
}

// An effectReader finds the effects of functions on their callers.
type effectReader struct {
	*callees
	code   *CodeReader
	frames cfi.Synthesizer
}

// of returns the effect of the function at addr on its caller, or of the function that addr has a
// copy of.
func (r *effectReader) of(addr uint64) cfi.Callee {
	effect := r.at(addr)
	for _, c := range r.copies {
		if effect == cfi.CalleeUnknown && addr >= c.Lo && addr < c.Hi {
			effect = r.at(addr - c.Lo + c.Home)
		}
	}
	return effect
}

// at returns the effect of the function at addr on its caller. If several functions were there at
// different times, their effects must agree.
func (r *effectReader) at(addr uint64) cfi.Callee {
	i, _ := slices.BinarySearchFunc(r.placed, addr, func(p placed, addr uint64) int { return cmp.Compare(p.addr, addr) })
	if i == len(r.placed) || r.placed[i].addr != addr {
		return cfi.CalleeUnknown
	}
	known := &r.agreed[i]
	if e := known.Load(); e != 0 {
		return cfi.Callee(e - 1)
	}
	effect := r.effect(r.placed[i].function)
	for i++; i < len(r.placed) && r.placed[i].addr == addr; i++ {
		if r.effect(r.placed[i].function) != effect {
			effect = cfi.CalleeUnknown
			break
		}
	}
	known.Store(uint32(effect) + 1)
	return effect
}

// effect returns the effect of a function on its caller.
func (r *effectReader) effect(function int) cfi.Callee {
	known := &r.effects[function]
	if e := known.Load(); e != 0 {
		return cfi.Callee(e - 1)
	}
	effect := cfi.CalleeUnknown
	if _, code, err := r.code.Code(function); err == nil {
		r.frames.Strict = r.strict
		found := r.frames.Synthesize(r.code.listing.Target(), code, nil)
		effect = found.Callee()
	}
	known.Store(uint32(effect) + 1)
	return effect
}
