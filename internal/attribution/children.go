package attribution

import (
	"math"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// A forkedChild is a process that was forked before the recording began, from one that had the
// dump mapped. For both, perf record reports the mapping without a time, and it does not report
// the time of the fork. The child inherits, at the same addresses, all code its parent had loaded
// before the fork.
type forkedChild struct {
	pid   uint32
	until uint64 // the earliest time at which the fork is known to have happened
}

// findForkedChildren finds the forked children of the dump's processes. The kernel hardly ever
// puts two mappings at one address by chance, so a marker at the same address is inherited. The
// process tree says from which process. Without an entry there, it is the dump's own process.
func (a *Attribution) findForkedChildren() {
	a.until = 0
	lead := &a.d.Markers[0]
	var forkedChildren []forkedChild
	known := make(map[uint32]bool)
	for _, m := range a.d.Markers {
		inherited := m.Time == 0 && lead.Time == 0 && m.Pos >= 0 && m.Addr == lead.Addr && m.Len == lead.Len
		if inherited && !known[m.PID] {
			known[m.PID] = true
			forkedChildren = append(forkedChildren, forkedChild{m.PID, a.rec.Began})
		}
	}
	if len(forkedChildren) < 2 {
		return
	}
	// A process loads its own code after the fork. An event that cannot be attributed may be
	// of any child.
	all := uint64(math.MaxUint64)
	own := make(map[uint32]uint64)
	for _, e := range a.first {
		time := a.d.Clock(e.Time)
		if pid, _, ok := a.Resolve(e); !ok {
			all = min(all, time)
		} else if t, known := own[pid]; pid != a.d.PID && (!known || time < t) {
			own[pid] = time
		}
	}
	for i := range forkedChildren {
		child := &forkedChildren[i]
		child.until = min(child.until, all)
		if t, known := own[child.pid]; known {
			child.until = min(child.until, t)
		}
		a.until = max(a.until, child.until)
	}
	a.forkedChildren = forkedChildren
}

// Share calls f for every process that has the code of an event, with the time from which it has it, in
// nanoseconds: the event's own process with its thread, and those that share the memory, or the forked
// children of that process. Events should come in the order of their times. It does nothing for an event
// that cannot be attributed.
//
// perf itself gives a child that is forked during the recording what its parent had.
func (a *Attribution) Share(e *jitcode.Event, f func(pid, tid uint32, time uint64)) {
	pid, tid, ok := a.Of(e)
	if !ok {
		return
	}
	time := a.d.Clock(e.Time)
	f(pid, tid, time)
	if file, ok := a.sharedFile(pid, e); ok {
		a.shareMemory(file, pid, e, f)
		return
	}
	if time >= a.until {
		return
	}
	for _, child := range a.forkedChildren {
		if child.pid == pid || time >= child.until || !a.has(child.pid, e.Addr) {
			continue
		}
		if pid == a.d.PID || a.tree.Descends(child.pid, 0, pid) {
			f(child.pid, child.pid, time)
		}
	}
}

// has reports whether a process may have code at an address.
func (a *Attribution) has(pid uint32, addr uint64) bool {
	p := a.rec.Processes[pid]
	return p != nil && (p.Memory.Hold(addr) || p.Files.Hold(addr))
}
