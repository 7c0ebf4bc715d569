package checkdump

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/jitted"
	"github.com/jitinject/jitinject/internal/verify/recorded"
	"github.com/jitinject/jitinject/perfdata"
)

// A codeMap is where a process has executable files and other executable memory, as far
// as the recording says it.
type codeMap struct{ files, memory []recorded.Range }

const (
	// nearCode is how far code may be from executable memory that the recording has, in
	// bytes: memory that was made executable later is in no record.
	nearCode = 2 << 20

	// manyOutside is how many samples in no file are no chance: programs begin in memory that
	// perf does not know yet.
	manyOutside = 20
)

// wrongPlace reports a dump with all functions at places where its process has no
// code, and reports whether it did. Samples prove it, or else the memory that the process
// made executable.
func (c *checker) wrongPlace(ctx context.Context, recording string, w *dumpWitness) (bool, error) {
	if w.object || len(c.functions) == 0 {
		return false, nil
	}
	maps, lost, err := codeMaps(ctx, recording)
	if err != nil {
		return false, err
	}
	m := maps[w.pid]
	if m == nil || len(m.files) == 0 {
		return false, nil
	}
	placed := newPlacedFunctions(c.functions)
	inside, stray, at := 0, 0, uint64(0)
	_, err = recorded.Walk(ctx, recording, func(rec *recorded.File, r perfdata.Record) {
		if r.Type != perfdata.RecordSample || r.Misc&recorded.CPUMode != recorded.CPUModeUser {
			return
		}
		s, ok := rec.TimedSample(r)
		switch {
		case !ok || s.PID != w.pid || s.Time < w.since:
		case placed.has(s.IP):
			inside++
		case !nearRange(m.files, s.IP, 0):
			if stray++; at == 0 {
				at = s.IP
			}
		}
	})
	if err != nil || inside > 0 {
		return false, err
	}
	f := &c.functions[0]
	if stray >= manyOutside {
		c.Violation("dump/recording-place", f.Offset, "none of the %d samples of process %d in no file is in one of the %s: the first of them is at %#x, the first function at %#x", stray, w.pid, verify.Counted(c.loads, "function"), at, f.Addr)
		return true, nil
	}
	if lost || len(m.memory) == 0 {
		return false, nil
	}
	outside := false
	for i := range c.functions {
		f := &c.functions[i]
		if nearRange(m.memory, f.Addr, nearCode) {
			return false, nil
		}
		outside = outside || !nearRange(m.files, f.Addr, 0)
	}
	if outside {
		c.Violation("dump/recording-place", f.Offset, "none of the %s lies where process %d had executable memory, such as %#x to %#x; the first is at %#x", verify.Counted(c.loads, "function"), w.pid, m.memory[0].Addr, m.memory[0].End, f.Addr)
	}
	return outside, nil
}

// codeMaps returns what processes have executable, and whether records were lost. A child
// begins with what its parent had at the end of the recording, or before.
func codeMaps(ctx context.Context, recording string) (maps map[uint32]*codeMap, lost bool, err error) {
	maps = make(map[uint32]*codeMap)
	ranges := 0
	_, err = recorded.Walk(ctx, recording, func(rec *recorded.File, r perfdata.Record) {
		switch r.Type {
		case perfdata.RecordLost:
			lost = true
		case perfdata.RecordFork:
			if e, err := rec.Task(r); err == nil && e.PID != e.ParentPID && maps[e.PID] == nil && maps[e.ParentPID] != nil {
				p := maps[e.ParentPID]
				maps[e.PID] = &codeMap{slices.Clip(p.files), slices.Clip(p.memory)}
			}
		case perfdata.RecordComm:
			if e, err := rec.Comm(r); err == nil && e.Exec {
				delete(maps, e.PID)
			}
		case perfdata.RecordMmap, perfdata.RecordMmap2:
			m, err := rec.Mmap(r)
			if err != nil || r.Type == perfdata.RecordMmap2 && m.Prot&recorded.ProtExec == 0 || r.Type == perfdata.RecordMmap && r.Misc&recorded.MmapData != 0 ||
				m.Addr+m.Len <= m.Addr || ranges == recorded.MaxExecutable {
				return
			}
			ranges++
			of := maps[m.PID]
			if of == nil {
				of = new(codeMap)
				maps[m.PID] = of
			}
			made := recorded.Range{Addr: m.Addr, End: m.Addr + m.Len}
			if name := string(m.Filename); recorded.IsAnonymous(name) && (!strings.HasPrefix(name, "[") || strings.HasPrefix(name, "[anon")) {
				of.memory = append(of.memory, made)
			} else {
				of.files = append(of.files, made)
			}
		}
	})
	for _, m := range maps {
		m.files, m.memory = recorded.JoinRanges(slices.Clone(m.files)), recorded.JoinRanges(slices.Clone(m.memory))
	}
	return maps, lost, err
}

// nearRange reports whether an address is in one of the ranges, or no more than near bytes
// away from one.
func nearRange(list []recorded.Range, addr, near uint64) bool {
	n, _ := slices.BinarySearchFunc(list, addr+min(near, math.MaxUint64-addr), func(r recorded.Range, addr uint64) int {
		if r.Addr <= addr {
			return -1
		}
		return 1
	})
	return n > 0 && list[n-1].End > addr-min(addr, near)
}

// placedFunctions are functions by address.
type placedFunctions struct {
	list []jitted.Function
	ends []uint64 // the highest end up to each
}

func newPlacedFunctions(functions []jitted.Function) placedFunctions {
	p := placedFunctions{list: slices.Clone(functions)}
	slices.SortFunc(p.list, func(a, b jitted.Function) int { return cmp.Compare(a.Addr, b.Addr) })
	high := uint64(0)
	for i := range p.list {
		high = max(high, p.list[i].Addr+p.list[i].Size)
		p.ends = append(p.ends, high)
	}
	return p
}

// has reports whether some function is at an address, whenever it was there.
func (p *placedFunctions) has(addr uint64) bool {
	n, _ := slices.BinarySearchFunc(p.list, addr, func(f jitted.Function, addr uint64) int {
		if f.Addr <= addr {
			return -1
		}
		return 1
	})
	return n > 0 && p.ends[n-1] > addr
}
