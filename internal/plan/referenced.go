package plan

import (
	"context"
	"debug/elf"
	"errors"
	"math"

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
// All mappings of an address that perf may look up are kept (samplerefs.Ranges), so perf gets the same result.

// KeepReferenced drops the functions that the recording does not refer to: with sampled those of all dumps,
// otherwise only those of large ones. If the references are unknown, it keeps everything and adds a note with
// the reason. called calls its function for the references of a call trace. Errors are ctx's or those of
// reading the recording.
func (f *Functions) KeepReferenced(ctx context.Context, called calls.Each, large func(*model.Dump) bool, sampled bool) error {
	if len(f.Mappings) == 0 {
		return nil
	}
	ref := newReferenced(f.rec, &f.Functions)
	err := ref.Find(ctx)
	var why samplerefs.Unknowable
	if errors.As(err, &why) {
		f.found(allKept, f.rec.In.Path, why)
		return nil
	}
	if err != nil {
		return recording.Error(f.rec.In.Path, err)
	}
	if err := called(ctx, ref.Has, func(pid uint32, _, addr uint64) { ref.Reference(pid, addr) }); err != nil {
		return err
	}
	if err := f.referenceTargets(ctx, ref); err != nil {
		return err
	}
	ref.Finish()
	if !sampled || f.rec.CopiesStacks() {
		f.Functions, _ = f.keep(ref, large)
	}
	if sampled {
		if f.rec.CopiesStacks() {
			all := f.Functions
			f.inRegions = &all
		} else if f.Shared {
			f.absent = make(map[*model.Dump][]addrs.Range)
		}
		f.Functions, f.isKept = f.keep(ref, func(*model.Dump) bool { return true })
	}
	return nil
}

// keep returns the functions without the mappings of some dumps that are not referenced, and without the
// functions that lose all mappings. isKept has those of f that stay.
func (f *Functions) keep(ref *samplerefs.Ranges, of func(*model.Dump) bool) (kept model.Functions, isKept []bool) {
	isKept = make([]bool, len(f.List))
	stays := func(m *model.Mapping) bool { return !of(f.List[m.Object].Dump) || ref.IsReferenced(m.PID, rangeOf(m)) }
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

// newReferenced returns the mappings of functions, as ranges that may be referenced.
func newReferenced(rec *recording.Recording, p *model.Functions) *samplerefs.Ranges {
	ignore := uint64(0)
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
			ignore |= 0xffff << 48
		case elf.EM_ARM:
			ignore |= 1 // bit 0 selects the instruction set
		}
	}
	return samplerefs.NewRanges(rec, ignore, func(yield func(uint32, addrs.Range) bool) {
		for i := range p.Mappings {
			if m := &p.Mappings[i]; !yield(m.PID, rangeOf(m)) {
				return
			}
		}
	})
}

// rangeOf returns the addresses of a mapping.
func rangeOf(m *model.Mapping) addrs.Range {
	return addrs.Range{Lo: m.Addr, Hi: m.Addr + min(m.Len, math.MaxUint64-m.Addr)}
}
