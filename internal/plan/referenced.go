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
)

// DropUnreferenced drops from the plan what the recording does not touch. Where that cannot
// be told, everything stays, and a note says why.
func (p *Planner) DropUnreferenced(ctx context.Context, called calls.Each) error {
	if len(p.Mappings) == 0 {
		return nil
	}
	t := newReferenced(p.rec, &p.Plan)
	err := eachReference(ctx, p.rec, t.bounds, t.reference)
	var why unknowable
	if errors.As(err, &why) {
		p.Found.Note(fmt.Sprintf("%s: which functions it touches cannot be told: %s; all of them are there", quote.Printable(p.rec.In.Path), why))
		return nil
	}
	if err != nil {
		return recording.Error(p.rec.In.Path, err)
	}
	jitted := func(pid uint32) bool { return t.addressSpaceOf(pid) != nil }
	if err := called(ctx, jitted, t.reference); err != nil {
		return err
	}
	if err := referenceTargets(ctx, &p.Plan, t); err != nil {
		return err
	}
	p.keep(t)
	return nil
}

// keep drops the mappings that are not touched, and the objects that none of the
// others is about.
func (p *Planner) keep(t *referenced) {
	t.finish()
	var mappings []model.Mapping
	moved := make([]int, len(p.Objects)) // where an object is to be, and 1
	for i := range p.Mappings {
		if m := &p.Mappings[i]; t.isReferenced(m, p.Objects[m.Object].Room) {
			mappings = append(mappings, *m)
			moved[m.Object] = 1
		} else if d := p.Objects[m.Object].Dump; p.Absent != nil && !m.Clear {
			p.Absent[d] = append(p.Absent[d], addrs.Range{Lo: m.Addr, Hi: m.Addr + m.Len})
		}
	}
	var objects []model.Object
	functions := make([][]bool, len(p.Lines)) // of a dump: whether it has an object
	for i := range p.Objects {
		o := &p.Objects[i]
		n := o.Dump.Number
		if functions[n] == nil {
			functions[n] = make([]bool, o.Dump.Source.NumFunctions())
		}
		if moved[i] != 0 {
			objects = append(objects, *o)
			moved[i] = len(objects)
			functions[n][o.Function] = true
		}
	}
	for i := range p.Objects { // a function may have several
		if o := &p.Objects[i]; !functions[o.Dump.Number][o.Function] {
			functions[o.Dump.Number][o.Function] = true
			p.Lines[o.Dump.Number].Unreferenced++
		}
	}
	for i := range mappings {
		mappings[i].Object = moved[mappings[i].Object] - 1
	}
	p.Mappings, p.Objects = mappings, objects
}

// referenced knows which parts of the processes' jitted code are referenced.
type referenced struct {
	rec    *recording.Recording
	ignore uint64                   // bits of addresses that say nothing about where they are
	code   map[uint32]*pieces       // of a process, by its own mappings
	all    map[uint32]*addressSpace // of a process, with what it has from its forebears
	seen   [1 << 12]seenReference
}

// A seenReference is an address that was touched before: most of them are, again and
// again.
type seenReference struct {
	addr uint64
	pid  uint32
}

// pieces are the addresses of a process's mappings, cut wherever one of these begins
// or ends.
type pieces struct {
	starts     []uint64 // sorted, without equal ones
	referenced []bool   // from that start to the next one

	finished []addrs.Range // all that is touched, in order
}

func newReferenced(rec *recording.Recording, p *model.Plan) *referenced {
	t := &referenced{rec: rec, code: make(map[uint32]*pieces), all: make(map[uint32]*addressSpace)}
	var last *model.Dump
	for i := range p.Objects {
		d := p.Objects[i].Dump
		if d == last {
			continue
		}
		last = d
		switch elf.Machine(d.Source.Target().Machine) {
		case elf.EM_AARCH64:
			// The upper bits of a return address may sign it, and those of a data
			// address are the program's own.
			t.ignore |= 0xffff << 48
		case elf.EM_ARM:
			t.ignore |= 1 // the instruction set
		}
	}
	numbers := make(map[uint32]int) // of mappings
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
			if of = t.code[pid]; of == nil {
				of = &pieces{starts: make([]uint64, 0, 2*numbers[pid])}
				t.code[pid] = of
			}
		}
		r, n := t.ranges(m, p.Objects[m.Object].Room)
		for _, r := range r[:n] {
			of.starts = append(of.starts, r.Lo, r.Hi)
		}
	}
	for _, of := range t.code {
		slices.Sort(of.starts)
		of.starts = slices.Compact(of.starts)
		of.referenced = make([]bool, len(of.starts))
	}
	return t
}

// ranges returns the addresses of a mapping, and of one of unwind tables beside it.
// The first address behind code belongs to it: a call that never returns may be its
// last instruction.
func (t *referenced) ranges(m *model.Mapping, room uint64) (r [2]addrs.Range, n int) {
	from := func(lo, n uint64) addrs.Range {
		lo &^= t.ignore
		return addrs.Range{Lo: lo, Hi: lo + min(n, math.MaxUint64-lo)}
	}
	r[0] = from(m.Addr, m.Len+1)
	if m.Tables == 0 {
		return r, 1
	}
	r[1] = from(m.Tables, room)
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

// reference takes in that a process touches an address. It may be one without jitted code.
func (t *referenced) reference(pid uint32, _, addr uint64) {
	addr &^= t.ignore
	s := &t.seen[(addr^addr>>12^uint64(pid))%uint64(len(t.seen))]
	if s.addr == addr && s.pid == pid {
		return
	}
	*s = seenReference{addr, pid}
	f := t.addressSpaceOf(pid)
	if f == nil {
		return
	}
	for _, of := range f.of {
		of.reference(addr)
	}
}

// reference takes in that an address is touched.
func (p *pieces) reference(addr uint64) {
	if i := p.find(addr); i >= 0 {
		p.referenced[i] = true
	}
}

// finish collects what is touched so far.
func (t *referenced) finish() {
	for _, of := range t.code {
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

// isReferenced reports whether anything in a mapping is touched.
func (t *referenced) isReferenced(m *model.Mapping, room uint64) bool {
	of := t.code[m.PID]
	ranges, n := t.ranges(m, room)
	for _, r := range ranges[:n] {
		i, _ := slices.BinarySearchFunc(of.finished, r.Lo, func(s addrs.Range, lo uint64) int { return cmp.Compare(s.Lo, lo) })
		if i < len(of.finished) && of.finished[i].Lo < r.Hi {
			return true
		}
	}
	return false
}
