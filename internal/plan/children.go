package plan

import (
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// An heir is a process that was forked before the recording began from one that
// had the dump mapped. perf record tells of the mapping in both, as of something
// that was so before, but not when the fork was. What the one had loaded until
// then the other has as well, under the same addresses.
type forkedChild struct {
	pid   uint32
	until uint64 // when it is known to have been on its own
}

// findForkedChildren finds the heirs of the dump's processes: the kernel puts two mappings
// at one address by chance hardly ever, so a marker at the same address is
// inherited. Who has inherited it from whom is said by the genealogy; where that
// says nothing, everyone has it from the process whose dump it is.
func (a *attribution) findForkedChildren() {
	lead := &a.d.Markers[0]
	var forkedChildren []forkedChild
	for _, m := range a.d.Markers {
		inherited := m.Time == 0 && lead.Time == 0 && m.Pos >= 0 && m.Addr == lead.Addr && m.Len == lead.Len
		if inherited && !slices.ContainsFunc(forkedChildren, func(h forkedChild) bool { return h.pid == m.PID }) {
			forkedChildren = append(forkedChildren, forkedChild{m.PID, a.rec.Began})
		}
	}
	if len(forkedChildren) < 2 {
		return
	}
	// What a process has loaded itself is from after the fork, and so is what it
	// may have loaded.
	seen := make(map[uint32]bool)
	for i := range a.d.Source.Scanned().Events {
		e := &a.d.Source.Scanned().Events[i]
		if seen[e.PID] {
			continue
		}
		seen[e.PID] = true
		pid, _, ok := a.resolve(e)
		for j := range forkedChildren {
			if h := &forkedChildren[j]; !ok || pid == h.pid && pid != a.d.PID {
				h.until = min(h.until, a.d.Clock(e.Time))
			}
		}
	}
	a.forkedChildren = forkedChildren
}

// share calls f for every process that has the code of an event, and with the
// thread that it is of: the one whose event it is, and its heirs. An event that
// cannot be attributed is nobody's.
func (a *attribution) share(e *jitcode.Event, f func(pid, tid uint32)) {
	pid, tid, ok := a.of(e)
	if !ok {
		return
	}
	f(pid, tid)
	time := a.d.Clock(e.Time)
	for _, h := range a.forkedChildren {
		if h.pid == pid || time >= h.until || !a.has(h.pid, e.Addr) {
			continue
		}
		if pid == a.d.PID || a.tree.Descends(h.pid, 0, func(p uint32) bool { return p == pid }) {
			f(h.pid, h.pid)
		}
	}
}

// has reports whether a process may have code at an address.
func (a *attribution) has(pid uint32, addr uint64) bool {
	p := a.rec.Processes[pid]
	return p != nil && (p.Memory.Hold(addr) || p.Files.Hold(addr))
}
