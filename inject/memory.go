package inject

import (
	"bytes"
	"cmp"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/perfdata"
)

// A process is what the recording tells of a process beside its relations: enough
// to see whether code at some address can be its own. With address space layout
// randomization that tells apart what names and numbers do not, such as the
// jit-1.dump of one container from that of another.
type process struct {
	since  uint64             // its earliest record
	comm   string             // its name, the latest that it has
	named  uint64             // when it got that
	exited uint64             // when its first thread ended; 0 for not, as far as the recording tells
	mount  perfdata.Namespace // where its paths count; zero if the recording does not say

	mounted uint64 // when it was that

	memory ranges  // executable memory that code may have been made in
	latest uint64  // when it was last given some
	files  ranges  // executable parts of files
	used   addrSet // all that it has mapped, as far as the recording shows

	fileMaps []fileMap // executable mappings, as they came
	others   []fileMap // data, as far as the recording tells, and parts of deleted files
}

type processes map[uint32]*process

// seen returns the process pid, of which there is a record of a time.
func (ps *processes) seen(pid uint32, time uint64) *process {
	if *ps == nil {
		*ps = make(processes)
	}
	p := (*ps)[pid]
	if p == nil {
		p = &process{since: time}
		(*ps)[pid] = p
	}
	p.since = min(p.since, time)
	return p
}

// mapped notes a mapping. Those that are gone again stay: it is enough to know
// where code can never have been.
func (ps *processes) mapped(rec perfdata.Record, m *perfdata.Mmap, time uint64) {
	p := ps.seen(m.PID, time)
	executable := rec.Misc&perfdata.MiscMmapData == 0
	if rec.Type == perfdata.RecordMmap2 {
		executable = m.Prot&unix.PROT_EXEC != 0
	}
	hi := m.Addr + m.Len
	if hi > m.Addr {
		p.used.add(m.Addr, hi)
	}
	switch {
	case hi <= m.Addr:
	case !executable:
		p.addOther(m, time)
	case isAnonymous(m.Filename) || bytes.HasSuffix(m.Filename, []byte(deletedSuffix)):
		p.addOther(m, time)
		p.memory.add(m.Addr, hi)
		p.addMap(fileMap{lo: m.Addr, hi: hi, time: time})
		p.latest = max(p.latest, time)
	default:
		p.files.add(m.Addr, hi)
		p.addMap(fileMap{m.Addr, hi, m.PgOff, time, string(m.Filename), m.File, string(m.BuildID)})
	}
}

func (p *process) addOther(m *perfdata.Mmap, time uint64) {
	if len(p.others) < maxFileMaps && !isAnonymous(m.Filename) {
		p.others = append(p.others, fileMap{lo: m.Addr, hi: m.Addr + m.Len, time: time})
	}
}

func (p *process) addMap(m fileMap) {
	if len(p.fileMaps) < maxFileMaps {
		p.fileMaps = append(p.fileMaps, m)
	}
}

// inContainer reports whether a process had other paths than we have: whether it
// was in another mount namespace. The answer is for words only; on another machine
// all namespaces are other ones.
func (rec *recording) inContainer(pid uint32) bool {
	var own unix.Stat_t
	p := rec.processes[pid]
	return p != nil && p.mount.Inode != 0 && unix.Stat("/proc/self/ns/mnt", &own) == nil && p.mount.Inode != own.Ino
}

// ranges are stretches of addresses, in order and apart. Near ones are taken for
// one, and there are never many: address spaces of two processes differ by much
// more.
type ranges []addrRange

type addrRange struct{ lo, hi uint64 }

const (
	nearRanges = 2 << 20
	maxRanges  = 64
)

func (rs *ranges) add(lo, hi uint64) {
	r := *rs
	// Those that are near: the first that does not end far below, up to the first
	// that begins far above.
	i, _ := slices.BinarySearchFunc(r, lo, func(x addrRange, lo uint64) int {
		if x.hi < lo && lo-x.hi > nearRanges {
			return -1
		}
		return 1
	})
	j := i
	for ; j < len(r) && (r[j].lo <= hi || r[j].lo-hi <= nearRanges); j++ {
		lo, hi = min(lo, r[j].lo), max(hi, r[j].hi)
	}
	r = slices.Replace(r, i, j, addrRange{lo, hi})
	if len(r) > maxRanges {
		r = r.closeGap()
	}
	*rs = r
}

// closeGap makes one of the two ranges that are nearest to each other.
func (rs ranges) closeGap() ranges {
	best := 1
	for i := 1; i < len(rs); i++ {
		if rs[i].lo-rs[i-1].hi < rs[best].lo-rs[best-1].hi {
			best = i
		}
	}
	rs[best-1].hi = rs[best].hi
	return slices.Delete(rs, best, best+1)
}

func (rs ranges) hold(addr uint64) bool {
	_, ok := slices.BinarySearchFunc(rs, addr, func(x addrRange, addr uint64) int {
		switch {
		case x.hi <= addr:
			return -1
		case x.lo > addr:
			return 1
		}
		return 0
	})
	return ok
}

// exactRanges returns what those of maps take up for which keep is true, no two of them
// touching each other.
func exactRanges(maps []fileMap, keep func(*fileMap) bool) (rs ranges) {
	for i := range maps {
		if m := &maps[i]; m.hi > m.lo && keep(m) {
			rs = append(rs, addrRange{m.lo, m.hi})
		}
	}
	slices.SortFunc(rs, func(a, b addrRange) int { return cmp.Compare(a.lo, b.lo) })
	n := 0
	for _, r := range rs {
		if n > 0 && r.lo <= rs[n-1].hi {
			rs[n-1].hi = max(rs[n-1].hi, r.hi)
			continue
		}
		rs[n] = r
		n++
	}
	return rs[:n]
}

// confidence says how sure it is that a file is the dump of some processes.
type confidence int

const (
	refuted   confidence = iota // its code was never where they had any
	possible                    // nothing speaks for it or against it
	confirmed                   // its code lies in memory of theirs
	certain                     // the user says so, or the process itself
)

// maxEvidence bounds how many functions of a dump are asked.
const maxEvidence = 4096

// fits compares the addresses of a dump with where the processes that mapped it,
// and those related to them, had executable memory. Code in files counts for
// nothing: V8 describes its builtins, which lie at one place in every process. Where
// records were lost, nothing is refuted.
func (d *dump) fits(rec *recording) confidence {
	family := rec.family(d.markers)
	known, inside, outside := false, 0, 0
	for _, m := range d.markers {
		known = known || rec.knowsMemory(m)
	}
	events := d.source.Scanned().Events
	for i := 0; i < len(events); i += 1 + len(events)/maxEvidence {
		addr := events[i].Addr
		switch {
		case slices.ContainsFunc(family, func(p *process) bool { return p.memory.hold(addr) }):
			inside++
		case !slices.ContainsFunc(family, func(p *process) bool { return p.files.hold(addr) }):
			outside++
		}
	}
	switch {
	case known && inside == 0 && outside > 0:
		return refuted
	case inside > outside:
		return confirmed
	}
	return possible
}

// knowsMemory reports whether the recording tells in which executable memory a
// process that mapped a dump has its code. What was there before an exec is gone.
func (rec *recording) knowsMemory(m marker) bool {
	p, execs := rec.processes[m.pid], rec.genealogy.execs[m.pid]
	i, _ := slices.BinarySearch(execs, m.time+1)
	return !rec.lost && p != nil && len(p.memory) > 0 && (i == 0 || p.latest >= execs[i-1])
}

// family returns what is known of the processes of the markers, of those whose
// memory they began with, and of those that began with theirs. A process that has
// become another program since has nothing of it left.
func (rec *recording) family(markers []marker) (family []*process) {
	g := &rec.genealogy
	in := make(map[uint32]bool)
	var parents []uint32
	for _, m := range markers {
		if !in[m.pid] {
			in[m.pid] = true
			parents = append(parents, m.pid)
		}
	}
	for len(parents) > 0 {
		parent := parents[0]
		parents = parents[1:]
		for _, b := range g.by[parent] {
			if b.clones && !in[b.pid] && len(g.execs[b.pid]) == 0 {
				in[b.pid] = true
				parents = append(parents, b.pid)
			}
		}
	}
	for _, m := range markers {
		pid, time := m.pid, m.time
		for range maxGenerations {
			b, ok := g.birth(pid, time)
			if !ok || !b.clones || g.lifeEnd(pid, b.time) <= time {
				break
			}
			pid, time = b.parent, b.time
			in[pid] = true
		}
	}
	for pid := range in {
		if p := rec.processes[pid]; p != nil {
			family = append(family, p)
		}
	}
	return family
}
