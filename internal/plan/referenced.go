package plan

import (
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/samplerefs"
)

// With Options.Sampled, only referenced functions are made, and the targets of their branches
// (targets.go). All functions are placed first, then unreferenced ones are dropped. So the remaining ones
// are identical, byte by byte. Regions are planned with all functions, too, and lose them when their objects
// are made (addOne): so the modules of libdw, and the places of unwind tables, are those of a plan without
// Options.Sampled.
//
// perf looks an address up among the mappings of a process, its own or inherited from an ancestor,
// at a time. A mapping is kept if any address in it is referenced, at any time, in its process or a
// descendant. So all mappings of an address that perf may look up are kept, and perf gets the same
// result.

// KeepReferenced drops the functions that the recording does not refer to: with sampled those of all dumps,
// otherwise only those of large ones. If the references are unknown, it keeps everything and adds a note with
// the reason. called calls its function for the references of a call trace. Errors are ctx's or those of
// reading the recording.
func (f *Functions) KeepReferenced(ctx context.Context, called calls.Each, large func(*model.Dump) bool, sampled bool) error {
	if len(f.Mappings) == 0 {
		return nil
	}
	ref := newReferenced(f.rec, &f.Functions)
	err := samplerefs.Each(ctx, f.rec, ref.bounds, ref.reference)
	var why samplerefs.Unknowable
	if errors.As(err, &why) {
		f.found(allKept, f.rec.In.Path, why)
		return nil
	}
	if err != nil {
		return recording.Error(f.rec.In.Path, err)
	}
	jitted := func(pid uint32) bool { return ref.spaces.Get(pid) != nil }
	if err := called(ctx, jitted, ref.reference); err != nil {
		return err
	}
	if err := f.referenceTargets(ctx, ref); err != nil {
		return err
	}
	ref.finish()
	f.Functions, _ = f.keep(ref, large)
	if sampled {
		all := f.Functions
		if f.Shared && !f.rec.CopiesStacks() {
			f.absent = make(map[*model.Dump][]addrs.Range)
		}
		f.Functions, f.isKept = f.keep(ref, func(*model.Dump) bool { return true })
		if f.rec.CopiesStacks() {
			f.inRegions = &all
		}
	}
	return nil
}

// keep returns the functions without the mappings of some dumps that are not referenced, and without the
// functions that lose all mappings. isKept has those of f that stay.
func (f *Functions) keep(ref *referenced, of func(*model.Dump) bool) (kept model.Functions, isKept []bool) {
	isKept = make([]bool, len(f.List))
	stays := func(m *model.Mapping) bool { return !of(f.List[m.Object].Dump) || ref.isReferenced(m) }
	left := 0
	for i := range f.Mappings {
		if m := &f.Mappings[i]; stays(m) {
			left++
			isKept[m.Object] = true
		}
	}
	moved := make([]int32, len(f.List)) // by function: its new index
	for i := range f.List {
		if of := &f.List[i]; isKept[i] {
			moved[i] = int32(len(kept.List))
			kept.List = append(kept.List, *of)
		} else {
			f.Lines[of.Dump.Number].Unreferenced++
		}
	}
	kept.Mappings = make([]model.Mapping, 0, left)
	for i := range f.Mappings {
		m := f.Mappings[i]
		if d := f.List[m.Object].Dump; stays(&m) {
			m.Object = moved[m.Object]
			kept.Mappings = append(kept.Mappings, m)
		} else if f.absent != nil && !m.Clear {
			f.absent[d] = append(f.absent[d], addrs.Range{Lo: m.Addr, Hi: m.Addr + m.Len})
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

func newReferenced(rec *recording.Recording, p *model.Functions) *referenced {
	ref := &referenced{rec: rec, code: make(map[uint32]*pieces)}
	ref.spaces = recording.Descent[*addressSpace]{Tree: &rec.ProcessTree, Own: func(pid uint32) bool { return ref.code[pid] != nil }, Of: ref.addressSpaceOf}
	var last *model.Dump
	for i := range p.List {
		d := p.List[i].Dump
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
		r := ref.addresses(m)
		of.starts = append(of.starts, r.Lo, r.Hi)
	}
	for _, of := range ref.code {
		slices.Sort(of.starts)
		of.starts = slices.Compact(of.starts)
		of.referenced = make([]bool, len(of.starts))
	}
	return ref
}

// addresses returns the addresses of a mapping. The first address after code counts as part of it: the last
// instruction may be a call that never returns.
func (ref *referenced) addresses(m *model.Mapping) addrs.Range {
	lo := m.Addr &^ ref.ignore
	return addrs.Range{Lo: lo, Hi: lo + min(m.Len+1, math.MaxUint64-lo)}
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
func (ref *referenced) isReferenced(m *model.Mapping) bool {
	of, r := ref.code[m.PID].finished, ref.addresses(m)
	i, _ := slices.BinarySearchFunc(of, r.Lo, func(s addrs.Range, lo uint64) int { return cmp.Compare(s.Lo, lo) })
	return i < len(of) && of[i].Lo < r.Hi
}
