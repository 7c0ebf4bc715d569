package inject

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"slices"
)

// With Options.Sampled, only those functions are made that something in the
// recording touches. All is planned first, and then what nothing touches is dropped:
// so what stays is, to the byte, what it would have been.
//
// perf looks an address up among the mappings that its process has, or has from a
// forebear, at a time. A mapping is kept if any address in it is touched in its
// process or in one that comes from it, whenever. So of the mappings that hold an
// address which perf may look up, all are kept, and it finds what it would have
// found.

// dropUntouched drops from a plan what the recording does not touch. Where that cannot
// be told, everything stays, and the summary says why.
func (p *plan) dropUntouched(ctx context.Context, rec *recording, sum *Summary) error {
	if len(p.mappings) == 0 {
		return nil
	}
	t := newTouched(rec, p)
	err := rec.eachTouch(ctx, t.bounds, t.touch)
	var why unknowable
	if errors.As(err, &why) {
		sum.note(fmt.Sprintf("%s: which functions it touches cannot be told: %s; all of them are there", Printable(rec.in.path), why))
		return nil
	}
	if err != nil {
		return inputError(rec.in.path, err)
	}
	p.keep(t, sum)
	return nil
}

// keep drops the mappings that are not touched, and the objects that none of the
// others is about.
func (p *plan) keep(t *touched, sum *Summary) {
	type function struct{ dump, number int }
	had, has := make(map[function]bool, len(p.objects)), make(map[function]bool)
	for i := range p.objects {
		o := &p.objects[i]
		had[function{o.dump.number, o.function}] = true
	}
	p.mappings = slices.DeleteFunc(p.mappings, func(m mapping) bool { return !t.isTouched(&m, p.objects[m.object].room) })
	moved := make([]int, len(p.objects)) // where an object is to be, and 1
	for i := range p.mappings {
		moved[p.mappings[i].object] = 1
	}
	kept := p.objects[:0]
	for i := range p.objects {
		if moved[i] == 0 {
			continue
		}
		o := p.objects[i]
		kept = append(kept, o)
		moved[i] = len(kept)
		has[function{o.dump.number, o.function}] = true
	}
	p.objects = kept
	for i := range p.mappings {
		p.mappings[i].object = moved[p.mappings[i].object] - 1
	}
	for f := range had {
		if !has[f] {
			sum.Dumps[f.dump].Untouched++
		}
	}
}

// touched knows which parts of the processes' jitted code are touched.
type touched struct {
	rec    *recording
	ignore uint64             // bits of addresses that say nothing about where they are
	code   map[uint32]*pieces // of a process, by its own mappings
	all    map[uint32]*family // of a process, with what it has from its forebears
	seen   [1 << 12]seenTouch
}

// A seenTouch is an address that was touched before: most of them are, again and
// again.
type seenTouch struct {
	addr uint64
	pid  uint32
}

// A family is the code of a process and of its forebears; nil if there is none.
type family struct {
	lo, hi uint64 // it is all between them, both included
	of     []*pieces
}

// pieces are the addresses of a process's mappings, cut wherever one of these begins
// or ends.
type pieces struct {
	starts  []uint64 // sorted, without equal ones
	touched []bool   // from that start to the next one
}

func newTouched(rec *recording, p *plan) *touched {
	t := &touched{rec: rec, code: make(map[uint32]*pieces), all: make(map[uint32]*family)}
	for i := range p.mappings {
		m := &p.mappings[i]
		switch elf.Machine(p.objects[m.object].dump.source.Target().Machine) {
		case elf.EM_AARCH64:
			// The upper bits of a return address may sign it, and those of a data
			// address are the program's own.
			t.ignore |= 0xffff << 48
		case elf.EM_ARM:
			t.ignore |= 1 // the instruction set
		}
	}
	for i := range p.mappings {
		m := &p.mappings[i]
		of := t.code[m.pid]
		if of == nil {
			of = new(pieces)
			t.code[m.pid] = of
		}
		for _, r := range t.ranges(m, p.objects[m.object].room) {
			of.starts = append(of.starts, r.lo, r.hi)
		}
	}
	for _, of := range t.code {
		slices.Sort(of.starts)
		of.starts = slices.Compact(of.starts)
		of.touched = make([]bool, len(of.starts))
	}
	return t
}

// ranges returns the addresses of a mapping, and of one of unwind tables beside it.
// The first address behind code belongs to it: a call that never returns may be its
// last instruction.
func (t *touched) ranges(m *mapping, room uint64) []addrRange {
	from := func(lo, n uint64) addrRange {
		lo &^= t.ignore
		return addrRange{lo, lo + min(n, math.MaxUint64-lo)}
	}
	r := [2]addrRange{from(m.addr, m.len+1), from(m.tables, room)}
	if m.tables == 0 {
		return r[:1]
	}
	return r[:]
}

// find returns the number of the piece that an address is in; -1 if it is before all
// of them.
func (p *pieces) find(addr uint64) int {
	i, found := slices.BinarySearch(p.starts, addr)
	if !found {
		i--
	}
	return i
}

// familyOf returns the code that a process may have, or nil. Whatever process it may
// have come from counts, at any time.
func (t *touched) familyOf(pid uint32) *family {
	f, known := t.all[pid]
	if known {
		return f
	}
	line := []uint32{pid}
	for i := 0; i < len(line) && i < maxGenerations; i++ {
		of := t.code[line[i]]
		if of != nil && len(of.starts) > 0 {
			if f == nil {
				f = &family{lo: of.starts[0]}
			}
			f.lo, f.hi = min(f.lo, of.starts[0]), max(f.hi, of.starts[len(of.starts)-1])
			f.of = append(f.of, of)
		}
		for _, b := range t.rec.genealogy.of[line[i]] {
			if !slices.Contains(line, b.parent) {
				line = append(line, b.parent)
			}
		}
	}
	t.all[pid] = f
	return f
}

// bounds says between which addresses a process may have jitted code.
func (t *touched) bounds(pid uint32) (lo, hi uint64, ok bool) {
	f := t.familyOf(pid)
	switch {
	case f == nil:
		return 0, 0, false
	case t.ignore>>48 != 0: // signed addresses are anywhere
		return 0, ^uint64(0), true
	}
	return f.lo, f.hi, true
}

// touch takes in that a process touches an address.
func (t *touched) touch(pid uint32, _, addr uint64) {
	addr &^= t.ignore
	s := &t.seen[(addr^addr>>12^uint64(pid))%uint64(len(t.seen))]
	if s.addr == addr && s.pid == pid {
		return
	}
	*s = seenTouch{addr, pid}
	for _, of := range t.familyOf(pid).of {
		if i := of.find(addr); i >= 0 {
			of.touched[i] = true
		}
	}
}

// isTouched reports whether anything in a mapping is touched.
func (t *touched) isTouched(m *mapping, room uint64) bool {
	of := t.code[m.pid]
	for _, r := range t.ranges(m, room) {
		i, _ := slices.BinarySearch(of.starts, r.lo)
		for ; i < len(of.starts) && of.starts[i] < r.hi; i++ {
			if of.touched[i] {
				return true
			}
		}
	}
	return false
}
