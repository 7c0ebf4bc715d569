package plan

import (
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/samplerefs"
)

// With Options.Sampled, only referenced functions are made, and the targets of their branches
// (targets.go). First everything is planned, then unreferenced functions are
// dropped. So the remaining ones are identical, byte by byte. Regions are planned with all functions,
// too, and lose them when their objects are made (addOne): so the modules of libdw, and the places of
// unwind tables, are those of a plan without Options.Sampled.
//
// perf looks an address up among the mappings of a process, its own or inherited from an ancestor,
// at a time. A mapping is kept if any address in it is referenced, at any time, in its process or a
// descendant. So all mappings of an address that perf may look up are kept, and perf gets the same
// result.

// DropUnreferenced drops the functions from the plan that the recording does not refer to: with
// sampled those of all dumps, otherwise only those of large ones. If the references are unknown, it
// keeps everything and adds a note with the reason. called calls its function for the references of a
// call trace. Errors are ctx's or those of reading the recording.
func (p *Planner) DropUnreferenced(ctx context.Context, called calls.Each, large func(*model.Dump) bool, sampled bool) error {
	if len(p.Mappings) == 0 {
		return nil
	}
	t := newReferenced(p.rec, &p.Plan)
	err := samplerefs.Each(ctx, p.rec, t.bounds, t.reference)
	var why samplerefs.Unknowable
	if errors.As(err, &why) {
		p.Found.Note(fmt.Sprintf("%s: which functions it touches cannot be told: %s; all of them are there", quote.Printable(p.rec.In.Path), why))
		return nil
	}
	if err != nil {
		return recording.Error(p.rec.In.Path, err)
	}
	jitted := func(pid uint32) bool { return t.spaces.Get(pid) != nil }
	if err := called(ctx, jitted, t.reference); err != nil {
		return err
	}
	if err := referenceTargets(ctx, &p.Plan, t, &p.Found); err != nil {
		return err
	}
	t.finish()
	kept, _ := p.keep(t, large)
	p.Plan = *kept
	if sampled {
		all := p.Plan
		kept, isKept := p.keep(t, func(*model.Dump) bool { return true })
		p.Plan = *kept
		if p.rec.CopiesStacks() {
			p.all, p.isKept = &all, isKept
		}
	}
	return nil
}

// keep returns the plan without the mappings of some dumps that are not referenced, and without the
// objects that lose all mappings. isKept has the objects of p that stay.
func (p *Planner) keep(t *referenced, of func(*model.Dump) bool) (kept *model.Plan, isKept []bool) {
	kept, isKept = &model.Plan{Absent: p.Absent}, make([]bool, len(p.Objects))
	stays := func(m *model.Mapping) bool {
		o := &p.Objects[m.Object]
		return !of(o.Dump) || t.isReferenced(m, o.Room())
	}
	left := 0
	for i := range p.Mappings {
		if m := &p.Mappings[i]; stays(m) {
			left++
			isKept[m.Object] = true
		}
	}
	functions := make([][]bool, len(p.Lines)) // by dump and function: it has an object
	moved := make([]int32, len(p.Objects))    // by object: its new index
	for i := range p.Objects {
		o := &p.Objects[i]
		n := o.Dump.Number
		if functions[n] == nil {
			functions[n] = make([]bool, o.Dump.Source.NumFunctions())
		}
		if isKept[i] {
			moved[i] = int32(len(kept.Objects))
			kept.Objects = append(kept.Objects, *o)
			functions[n][o.Function] = true
		}
	}
	for i := range p.Objects { // a function may have several
		if o := &p.Objects[i]; !functions[o.Dump.Number][o.Function] {
			functions[o.Dump.Number][o.Function] = true
			p.Lines[o.Dump.Number].Unreferenced++
		}
	}
	kept.Mappings = make([]model.Mapping, 0, left)
	for i := range p.Mappings {
		m := p.Mappings[i]
		if d := p.Objects[m.Object].Dump; stays(&m) {
			m.Object = moved[m.Object]
			kept.Mappings = append(kept.Mappings, m)
		} else if p.Absent != nil && !m.Clear {
			p.Absent[d] = append(p.Absent[d], addrs.Range{Lo: m.Addr, Hi: m.Addr + m.Len})
		}
	}
	return kept, isKept
}

// referenced records which jitted code of each process is referenced.
type referenced struct {
	rec    *recording.Recording
	ignore uint64                           // bits of an address that are no part of the location
	code   map[uint32]*pieces               // by process, from its own mappings
	spaces recording.Descent[*addressSpace] // by process, with code inherited from ancestors
	// seen caches recent addresses.
	seen [1 << 12]seenReference
}

// A seenReference is an address that was referenced before. Most addresses recur often.
type seenReference struct {
	addr uint64
	pid  uint32
}

// pieces are the addresses of a process's mappings, cut wherever a mapping begins or ends.
type pieces struct {
	starts     []uint64 // in ascending order, without duplicates
	referenced []bool   // from the start with the same index to the next one

	finished []addrs.Range // all referenced ranges, in order; set by finish
}

func newReferenced(rec *recording.Recording, p *model.Plan) *referenced {
	ref := &referenced{rec: rec, code: make(map[uint32]*pieces)}
	ref.spaces = recording.Descent[*addressSpace]{Tree: &rec.ProcessTree, Own: func(pid uint32) bool { return ref.code[pid] != nil }, Of: ref.addressSpaceOf}
	var last *model.Dump
	for i := range p.Objects {
		d := p.Objects[i].Dump
		if d == last {
			continue
		}
		last = d
		switch elf.Machine(d.Source.Target().Machine) {
		case elf.EM_AARCH64:
			// The upper bits of a return address may sign it. Those of a data address
			// belong to the program.
			ref.ignore |= 0xffff << 48
		case elf.EM_ARM:
			ref.ignore |= 1 // bit 0 selects the instruction set
		}
	}
	numbers := make(map[uint32]int) // of mappings, by process
	for i := 0; i < len(p.Mappings); {
		pid, from := p.Mappings[i].PID, i
		for i < len(p.Mappings) && p.Mappings[i].PID == pid {
			i++
		}
		numbers[pid] += i - from
	}
	var of *pieces
	var pid uint32
	for i := range p.Mappings {
		m := &p.Mappings[i]
		if of == nil || m.PID != pid {
			pid = m.PID
			if of = ref.code[pid]; of == nil {
				of = &pieces{starts: make([]uint64, 0, 2*numbers[pid])}
				ref.code[pid] = of
			}
		}
		r, n := ref.ranges(m, p.Objects[m.Object].Room())
		for _, r := range r[:n] {
			of.starts = append(of.starts, r.Lo, r.Hi)
		}
	}
	for _, of := range ref.code {
		slices.Sort(of.starts)
		of.starts = slices.Compact(of.starts)
		of.referenced = make([]bool, len(of.starts))
	}
	return ref
}

// ranges returns the addresses of a mapping and, if it has one, of its mapping of unwind tables.
// The first address after code counts as part of it: the last instruction may be a call that
// never returns.
func (ref *referenced) ranges(m *model.Mapping, room uint64) (r [2]addrs.Range, n int) {
	from := func(lo, n uint64) addrs.Range {
		lo &^= ref.ignore
		return addrs.Range{Lo: lo, Hi: lo + min(n, math.MaxUint64-lo)}
	}
	r[0] = from(m.Addr, m.Len+1)
	if m.Tables == 0 {
		return r, 1
	}
	r[1] = from(m.Tables, room)
	return r, 2
}

// find returns the index of the piece that contains an address, or -1 if the address is before
// all of them.
func (p *pieces) find(addr uint64) int {
	i, found := slices.BinarySearch(p.starts, addr)
	if !found {
		i--
	}
	return i
}

// reference records that a process refers to an address. The process may have no jitted code.
func (ref *referenced) reference(pid uint32, _, addr uint64) {
	addr &^= ref.ignore
	s := &ref.seen[(addr^addr>>12^uint64(pid))%uint64(len(ref.seen))]
	if s.addr == addr && s.pid == pid {
		return
	}
	*s = seenReference{addr, pid}
	f := ref.spaces.Get(pid)
	if f == nil {
		return
	}
	for _, of := range f.of {
		of.reference(addr)
	}
}

// reference records that an address is referenced.
func (p *pieces) reference(addr uint64) {
	if i := p.find(addr); i >= 0 {
		p.referenced[i] = true
	}
}

// finish collects the ranges that are referenced so far.
func (ref *referenced) finish() {
	for _, of := range ref.code {
		of.finish()
	}
}

func (p *pieces) finish() {
	p.finished = p.finished[:0]
	for i := 0; i+1 < len(p.starts); i++ {
		if p.referenced[i] {
			p.finished = append(p.finished, addrs.Range{Lo: p.starts[i], Hi: p.starts[i+1]})
		}
	}
}

// isReferenced reports whether any address of a mapping is referenced.
func (ref *referenced) isReferenced(m *model.Mapping, room uint64) bool {
	of := ref.code[m.PID]
	ranges, n := ref.ranges(m, room)
	for _, r := range ranges[:n] {
		i, _ := slices.BinarySearchFunc(of.finished, r.Lo, func(s addrs.Range, lo uint64) int { return cmp.Compare(s.Lo, lo) })
		if i < len(of.finished) && of.finished[i].Lo < r.Hi {
			return true
		}
	}
	return false
}
