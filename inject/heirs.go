package inject

import (
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// An heir is a process that was forked before the recording began from one that
// had the dump mapped. perf record tells of the mapping in both, as of something
// that was so before, but not when the fork was. What the one had loaded until
// then the other has as well, under the same addresses.
type heir struct {
	pid   uint32
	until uint64 // when it is known to have been on its own
}

// findHeirs finds the heirs of the dump's processes: the kernel puts two mappings
// at one address by chance hardly ever, so a marker at the same address is
// inherited. Who has inherited it from whom is said by the genealogy; where that
// says nothing, everyone has it from the process whose dump it is.
func (a *attribution) findHeirs() {
	lead := &a.d.markers[0]
	var heirs []heir
	for _, m := range a.d.markers {
		inherited := m.time == 0 && lead.time == 0 && m.pos >= 0 && m.addr == lead.addr && m.len == lead.len
		if inherited && !slices.ContainsFunc(heirs, func(h heir) bool { return h.pid == m.pid }) {
			heirs = append(heirs, heir{m.pid, a.rec.began})
		}
	}
	if len(heirs) < 2 {
		return
	}
	// What a process has loaded itself is from after the fork, and so is what it
	// may have loaded.
	seen := make(map[uint32]bool)
	for i := range a.d.source.Scanned().Events {
		e := &a.d.source.Scanned().Events[i]
		if seen[e.PID] {
			continue
		}
		seen[e.PID] = true
		pid, _, ok := a.resolve(e)
		for j := range heirs {
			if h := &heirs[j]; !ok || pid == h.pid && pid != a.d.pid {
				h.until = min(h.until, a.d.clock(e.Time))
			}
		}
	}
	a.heirs = heirs
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
	time := a.d.clock(e.Time)
	for _, h := range a.heirs {
		if h.pid == pid || time >= h.until || !a.has(h.pid, e.Addr) {
			continue
		}
		if pid == a.d.pid || a.genealogy.descends(h.pid, 0, func(p uint32) bool { return p == pid }) {
			f(h.pid, h.pid)
		}
	}
}

// has reports whether a process may have code at an address.
func (a *attribution) has(pid uint32, addr uint64) bool {
	p := a.rec.processes[pid]
	return p != nil && (p.memory.hold(addr) || p.files.hold(addr))
}
