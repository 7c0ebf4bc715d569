package recording

import (
	"bytes"
	"cmp"
	"slices"
	"sort"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/perfdata"
)

// A Process is the state of a process as the recording shows it, without its place in the process
// tree. It is enough to decide whether code at an address can belong to the process. With address
// space layout randomization, that tells apart dumps with equal names and pids, such as the
// jit-1.dump of two containers.
//
// All times are those of the recording, in nanoseconds.
type Process struct {
	Since uint64 // time of its earliest record
	Comm  string // its latest name; empty if unknown
	named uint64 // when it got that name
	// Exited is when its first thread ended; 0 if the recording does not show that.
	Exited uint64
	// Mount is its mount namespace, in which its paths count. It is zero if the recording
	// does not say.
	Mount perfdata.Namespace

	mounted uint64 // when Mount was recorded

	Memory Ranges    // executable memory in which code may have been made
	latest uint64    // when it last got a part of Memory
	Files  Ranges    // executable parts of files
	Used   addrs.Set // all addresses that the recording shows as mapped

	// MemFile is the name of the first memory file with code that it maps, such as
	// "/memfd:doublemapper (deleted)"; "" for none.
	MemFile string
	// Truffle says that a thread has the name of Truffle's compiler in a native image of GraalVM.
	Truffle  bool
	FileMaps []FileMap // executable mappings, in the order of their records
	// Others are data, as far as it was recorded, and parts of deleted files.
	Others []FileMap
}

// Processes are the processes of a recording, by pid.
type Processes map[uint32]*Process

// Seen returns the state of pid, creating it if needed, and notes that a record mentioned it at
// time.
func (ps *Processes) Seen(pid uint32, time uint64) *Process {
	if *ps == nil {
		*ps = make(Processes)
	}
	p := (*ps)[pid]
	if p == nil {
		p = &Process{Since: time}
		(*ps)[pid] = p
	}
	p.Since = min(p.Since, time)
	return p
}

// mapped adds a mapping, whose record is at a position in the stream. It never removes one: what matters is
// where code can never have been.
func (ps *Processes) mapped(rec perfdata.Record, m *perfdata.Mmap, time uint64, pos int64) {
	p := ps.Seen(m.PID, time)
	executable := rec.Misc&perfdata.MiscMmapData == 0
	if rec.Type == perfdata.RecordMmap2 {
		executable = m.Prot&unix.PROT_EXEC != 0
	}
	hi := m.Addr + m.Len
	if hi > m.Addr {
		p.Used.Add(m.Addr, hi)
	}
	added := FileMap{Lo: m.Addr, Hi: hi, Off: m.PgOff, Time: time, Pos: pos, File: m.File, Shared: isShared(m.Flags), backing: backingOf(m), writable: m.Prot&unix.PROT_WRITE != 0}
	switch {
	case hi <= m.Addr:
	case !executable:
		p.addOther(m, time)
	case IsAnonymous(m.Filename) || bytes.HasSuffix(m.Filename, []byte(DeletedSuffix)):
		p.addOther(m, time)
		p.Memory.Add(m.Addr, hi)
		if p.MemFile == "" && bytes.HasPrefix(m.Filename, []byte(memFile)) {
			p.MemFile = string(m.Filename)
		}
		p.addMap(added)
		p.latest = max(p.latest, time)
	default:
		p.Files.Add(m.Addr, hi)
		added.Name, added.BuildID = string(m.Filename), string(m.BuildID)
		p.addMap(added)
	}
}

func (p *Process) addOther(m *perfdata.Mmap, time uint64) {
	if len(p.Others) < MaxFileMaps && !IsAnonymous(m.Filename) {
		p.Others = append(p.Others, FileMap{Lo: m.Addr, Hi: m.Addr + m.Len, Time: time})
	}
}

func (p *Process) addMap(m FileMap) {
	if len(p.FileMaps) < MaxFileMaps {
		p.FileMaps = append(p.FileMaps, m)
	}
}

// InContainer reports whether a process was in another mount namespace than ours, so that its
// paths may mean other files. The answer is only good for messages: on another machine, all
// namespaces differ.
func (r *Recording) InContainer(pid uint32) bool {
	var own unix.Stat_t
	p := r.Processes[pid]
	return p != nil && p.Mount.Inode != 0 && sys.Fstatat(unix.AT_FDCWD, "/proc/self/ns/mnt", &own, 0) == nil && p.Mount.Inode != own.Ino
}

// Ranges are an approximate set of addresses, in order and disjoint. Ranges closer than
// nearRanges are joined, and there are at most maxRanges. That is exact enough, because the
// address spaces of two processes differ by much more.
type Ranges []addrs.Range

const (
	nearRanges = 2 << 20
	maxRanges  = 64
)

// Add adds [lo, hi).
func (rs *Ranges) Add(lo, hi uint64) {
	r := *rs
	// The near ranges reach from the first that does not end far below, to the first that
	// begins far above.
	i := sort.Search(len(r), func(i int) bool { return r[i].Hi >= lo || lo-r[i].Hi <= nearRanges })
	j := i
	for ; j < len(r) && (r[j].Lo <= hi || r[j].Lo-hi <= nearRanges); j++ {
		lo, hi = min(lo, r[j].Lo), max(hi, r[j].Hi)
	}
	r = slices.Replace(r, i, j, addrs.Range{Lo: lo, Hi: hi})
	if len(r) > maxRanges {
		r = r.closeGap()
	}
	*rs = r
}

// closeGap joins the two ranges that are nearest to each other.
func (rs Ranges) closeGap() Ranges {
	best := 1
	for i := 1; i < len(rs); i++ {
		if rs[i].Lo-rs[i-1].Hi < rs[best].Lo-rs[best-1].Hi {
			best = i
		}
	}
	rs[best-1].Hi = rs[best].Hi
	return slices.Delete(rs, best, best+1)
}

// Hold reports whether an address is in one of the ranges.
func (rs Ranges) Hold(addr uint64) bool {
	i := sort.Search(len(rs), func(i int) bool { return rs[i].Hi > addr })
	return i < len(rs) && rs[i].Lo <= addr
}

// Overlap reports whether one of the ranges overlaps [lo, hi).
func (rs Ranges) Overlap(lo, hi uint64) bool {
	i := sort.Search(len(rs), func(i int) bool { return rs[i].Hi > lo })
	return i < len(rs) && rs[i].Lo < hi
}

// MemoryOf returns the executable memory of several processes, without parts of files.
func MemoryOf(processes []*Process) (all Ranges) {
	for _, p := range processes {
		all = append(all, p.Memory...)
	}
	return all.Joined()
}

// MapsOf returns the executable mappings of Related. all is false if some are not known, or are too many
// for so many memories.
func (r *Recording) MapsOf(markers []Marker) (maps []FileMap, all bool) {
	n := 0
	related := r.Related(markers)
	for _, p := range related {
		if n += len(p.FileMaps); len(p.FileMaps) >= MaxFileMaps {
			return nil, false
		}
	}
	if len(related) > 1 && !r.inherited().affords(n) {
		return nil, false
	}
	for _, p := range related {
		maps = append(maps, p.FileMaps...)
	}
	return maps, true
}

// FilesOf returns the executable parts of files of several processes.
func FilesOf(processes []*Process) (all Ranges) {
	for _, p := range processes {
		all = append(all, p.Files...)
	}
	return all.Joined()
}

// ExecutableOf returns the executable memory and the executable parts of files of several
// processes.
func ExecutableOf(processes []*Process) Ranges {
	return append(MemoryOf(processes), FilesOf(processes)...).Joined()
}

// Joined sorts ranges and joins those that overlap or meet, in place.
func (rs Ranges) Joined() Ranges {
	sorting.By(rs, func(a, b addrs.Range) int { return cmp.Compare(a.Lo, b.Lo) })
	n := 0
	for _, r := range rs {
		if n > 0 && r.Lo <= rs[n-1].Hi {
			rs[n-1].Hi = max(rs[n-1].Hi, r.Hi)
			continue
		}
		rs[n] = r
		n++
	}
	return rs[:n]
}

// ExactRanges returns the addresses of the maps for which keep is true. Its ranges neither
// overlap nor meet.
func ExactRanges(maps []FileMap, keep func(*FileMap) bool) (rs Ranges) {
	for i := range maps {
		if m := &maps[i]; m.Hi > m.Lo && keep(m) {
			rs = append(rs, addrs.Range{Lo: m.Lo, Hi: m.Hi})
		}
	}
	return rs.Joined()
}

// Confidence is how sure it is that a file is the dump of some processes.
type Confidence int

const (
	Refuted   Confidence = iota // its code lies outside of all their executable memory
	Unlikely                    // only its times refute it, which may be of another clock
	Possible                    // nothing confirms or refutes it
	Confirmed                   // its code lies in their memory
	Certain                     // the user or the process itself says so
)

// MaxProbes bounds how many functions of a dump are compared with memory.
const MaxProbes = 4096

// KnowsMemory reports whether the recording shows the executable memory of a process that mapped
// a dump. Memory from before an exec does not count.
func (r *Recording) KnowsMemory(m Marker) bool {
	p := r.Processes[m.PID]
	return !r.Lost && p != nil && len(p.Memory) > 0 && p.latest >= r.ProcessTree.LastExec(m.PID, m.Time)
}
