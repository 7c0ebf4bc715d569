package jitelf

import (
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/ehframe"
)

// An index has the content of the debugging information, by address.
type index struct {
	lines lines
	tree  tree
	of    []described // by function
	read  bool        // all but of

	maxName, maxPath int // bounds of names of inlined functions, and of paths, in bytes

	frames []byte         // .eh_frame
	batch  *ehframe.Batch // nil without usable tables
}

// A described has the parts of the index that describe a function.
type described struct {
	subprogram int32 // -1 if there is none
	frames     bool  // it has unwind tables
}

// maxShared bounds the number of functions that describe each inlined call and each of its ranges, on average: functions with their
// code at several places share a tree.
const maxShared = 16

// read reads the debugging information, if that was not done before.
func (o *Object) read() {
	if o.index.read {
		return
	}
	o.index.read = true
	c := o.contents()
	o.readTree(c)
	o.index.lines.finish()
	o.readFrames(c)
}

// load finds the debugging information of each function. It runs once.
func (o *Object) load() {
	o.read()
	t := &o.index.tree
	o.index.of = make([]described, len(o.functions))
	work := make([]int, len(t.calls)+1) // calls, and their ranges, up to a call
	for i := range t.calls {
		work[i+1] = work[i] + 1 + int(t.calls[i].last-t.calls[i].first)
	}
	left := maxShared*work[len(t.calls)] + 1024
	without := 0
	for i := range o.functions {
		f := &o.functions[i]
		s := t.subprogramFor(f.Addr, f.Addr+f.Size)
		if s >= 0 {
			if left -= work[t.subprograms[s].last] - work[t.subprograms[s].first]; left < 0 {
				s = -1
				without++
			}
		}
		o.index.of[i] = described{subprogram: s, frames: o.index.batch != nil && o.index.batch.Has(f.Addr, f.Size)}
	}
	if without > 0 {
		o.problem(fmt.Errorf("DWARF: functions share inlined calls; those of %d functions are left out", without))
	}
	o.boundTexts()
	if o.dropped > 0 {
		o.problems = append(o.problems, fmt.Errorf("%s: %d more problems", FormatName, o.dropped))
	}
}

// readFrames reads the unwind tables.
func (o *Object) readFrames(c *contents) {
	if err := c.need(ehFrame, debugFrame); err != nil {
		o.problem(fmt.Errorf("%w; unwind tables are left out", err))
		return
	}
	x := &o.index
	at := c.frames
	// wasmtime registers .eh_frame without its address, which pointers count from.
	if x.frames = c.data[ehFrame]; isBlank(x.frames) || at == 0 && !isBlank(c.data[debugFrame]) {
		if x.frames = o.framesOf(c.data[debugFrame]); len(x.frames) == 0 {
			return
		}
		at = o.nowhere
	}
	text := uint64(0) // base of pointers that LuaJIT and PHP write
	if i := slices.IndexFunc(o.sections, func(s section) bool { return s.name == ".text" }); i >= 0 {
		text = o.sections[i].addr
	}
	b, err := ehframe.NewBatch(o.order, o.addrSize, x.frames, at, text)
	if err != nil {
		o.problem(fmt.Errorf("%w; unwind tables are left out", err))
		return
	}
	x.batch = b
}

// isBlank reports whether b has only zeros.
func isBlank(b []byte) bool { return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 }) }
