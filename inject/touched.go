package inject

import (
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"slices"
)

// With Options.Sampled, only those functions are made that something in the
// recording touches, and those that they branch to (targets.go). All is planned first,
// and then what nothing touches is dropped: so what stays is, to the byte, what it would
// have been.
//
// perf looks an address up among the mappings that its process has, or has from a
// forebear, at a time. A mapping is kept if any address in it is touched in its
// process or in one that comes from it, whenever. So of the mappings that hold an
// address which perf may look up, all are kept, and it finds what it would have
// found.

// An eachCall calls f for the functions that logs of calls tell of, each any number of
// times. Logs of processes for which wanted is false are not read.
type eachCall func(ctx context.Context, wanted func(pid uint32) bool, f func(pid uint32, time, addr uint64)) error

// dropUntouched drops from a plan what the recording does not touch. Where that cannot
// be told, everything stays, and the summary says why.
func (p *plan) dropUntouched(ctx context.Context, rec *recording, called eachCall, sum *Summary) error {
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
	jitted := func(pid uint32) bool { return t.familyOf(pid) != nil }
	if err := called(ctx, jitted, t.touch); err != nil {
		return err
	}
	if err := p.touchTargets(ctx, t); err != nil {
		return err
	}
	p.keep(t, sum)
	return nil
}

// keep drops the mappings that are not touched, and the objects that none of the
// others is about.
func (p *plan) keep(t *touched, sum *Summary) {
	t.settle()
	var mappings []mapping
	moved := make([]int, len(p.objects)) // where an object is to be, and 1
	for i := range p.mappings {
		if m := &p.mappings[i]; t.isTouched(m, p.objects[m.object].room) {
			mappings = append(mappings, *m)
			moved[m.object] = 1
		} else if d := p.objects[m.object].dump; p.absent != nil && !m.clear {
			p.absent[d] = append(p.absent[d], addrRange{m.addr, m.addr + m.len})
		}
	}
	var objects []object
	functions := make([][]bool, len(sum.Dumps)) // of a dump: whether it has an object
	for i := range p.objects {
		o := &p.objects[i]
		n := o.dump.number
		if functions[n] == nil {
			functions[n] = make([]bool, o.dump.source.NumFunctions())
		}
		if moved[i] != 0 {
			objects = append(objects, *o)
			moved[i] = len(objects)
			functions[n][o.function] = true
		}
	}
	for i := range p.objects { // a function may have several
		if o := &p.objects[i]; !functions[o.dump.number][o.function] {
			functions[o.dump.number][o.function] = true
			sum.Dumps[o.dump.number].Untouched++
		}
	}
	for i := range mappings {
		mappings[i].object = moved[mappings[i].object] - 1
	}
	p.mappings, p.objects = mappings, objects
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

// pieces are the addresses of a process's mappings, cut wherever one of these begins
// or ends.
type pieces struct {
	starts  []uint64 // sorted, without equal ones
	touched []bool   // from that start to the next one

	settled []addrRange // all that is touched, in order
}

func newTouched(rec *recording, p *plan) *touched {
	t := &touched{rec: rec, code: make(map[uint32]*pieces), all: make(map[uint32]*family)}
	var last *dump
	for i := range p.objects {
		d := p.objects[i].dump
		if d == last {
			continue
		}
		last = d
		switch elf.Machine(d.source.Target().Machine) {
		case elf.EM_AARCH64:
			// The upper bits of a return address may sign it, and those of a data
			// address are the program's own.
			t.ignore |= 0xffff << 48
		case elf.EM_ARM:
			t.ignore |= 1 // the instruction set
		}
	}
	numbers := make(map[uint32]int) // of mappings
	for i := 0; i < len(p.mappings); {
		pid, from := p.mappings[i].pid, i
		for i < len(p.mappings) && p.mappings[i].pid == pid {
			i++
		}
		numbers[pid] += i - from
	}
	var of *pieces
	var pid uint32
	for i := range p.mappings {
		m := &p.mappings[i]
		if of == nil || m.pid != pid {
			pid = m.pid
			if of = t.code[pid]; of == nil {
				of = &pieces{starts: make([]uint64, 0, 2*numbers[pid])}
				t.code[pid] = of
			}
		}
		r, n := t.ranges(m, p.objects[m.object].room)
		for _, r := range r[:n] {
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
func (t *touched) ranges(m *mapping, room uint64) (r [2]addrRange, n int) {
	from := func(lo, n uint64) addrRange {
		lo &^= t.ignore
		return addrRange{lo, lo + min(n, math.MaxUint64-lo)}
	}
	r[0] = from(m.addr, m.len+1)
	if m.tables == 0 {
		return r, 1
	}
	r[1] = from(m.tables, room)
	return r, 2
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

// touch takes in that a process touches an address. It may be one without jitted code.
func (t *touched) touch(pid uint32, _, addr uint64) {
	addr &^= t.ignore
	s := &t.seen[(addr^addr>>12^uint64(pid))%uint64(len(t.seen))]
	if s.addr == addr && s.pid == pid {
		return
	}
	*s = seenTouch{addr, pid}
	f := t.familyOf(pid)
	if f == nil {
		return
	}
	for _, of := range f.of {
		of.touch(addr)
	}
}

// touch takes in that an address is touched.
func (p *pieces) touch(addr uint64) {
	if i := p.find(addr); i >= 0 {
		p.touched[i] = true
	}
}

// settle collects what is touched so far.
func (t *touched) settle() {
	for _, of := range t.code {
		of.settle()
	}
}

func (p *pieces) settle() {
	p.settled = p.settled[:0]
	for i := 0; i+1 < len(p.starts); i++ {
		if p.touched[i] {
			p.settled = append(p.settled, addrRange{p.starts[i], p.starts[i+1]})
		}
	}
}

// isTouched reports whether anything in a mapping is touched.
func (t *touched) isTouched(m *mapping, room uint64) bool {
	of := t.code[m.pid]
	ranges, n := t.ranges(m, room)
	for _, r := range ranges[:n] {
		i, _ := slices.BinarySearchFunc(of.settled, r.lo, func(s addrRange, lo uint64) int { return cmp.Compare(s.lo, lo) })
		if i < len(of.settled) && of.settled[i].lo < r.hi {
			return true
		}
	}
	return false
}
