package recording

import (
	"cmp"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/sorting"
)

// Processes may run code in memory that they share (MAP_SHARED). PHP's server maps such memory before it
// forks its workers: what one of them compiles, all of them run. The kernel keeps shared memory in a file,
// whose device and inode are in the mappings (MMAP2) of all processes.

// A SharedFile is a file, or shared memory, mapped at certain addresses. Code at an address is in all
// processes that map the same one over it.
type SharedFile struct {
	major, minor uint32
	inode        uint64
	start        uint64 // the address of its first byte, if all of it were mapped
}

// shared returns what a mapping shares with other processes. It returns false for private mappings, and
// if the recording does not say which file is mapped. The generation of the inode does not count:
// perf record does not know it of mappings from before the recording.
func (m *FileMap) shared() (f SharedFile, ok bool) {
	return m.place(), m.Shared && m.File.Inode != 0
}

// isOf reports whether a mapping is of a shared file, at its address.
func (f SharedFile) isOf(m *FileMap) bool { return m.Shared && m.File.Inode != 0 && m.place() == f }

// place returns the file of a mapping, at its address.
func (m *FileMap) place() SharedFile {
	return SharedFile{m.File.Major, m.File.Minor, m.File.Inode, m.Lo - m.Off}
}

// isShared reports whether the flags of a mapping say that writes to it reach the file. (MAP_SHARED_VALIDATE
// does not occur: the kernel derives the flags from the memory's state.)
func isShared(flags uint32) bool { return flags&unix.MAP_TYPE == unix.MAP_SHARED }

// SharedMemory finds the processes that share executable memory. It takes no two calls at once.
type SharedMemory struct {
	rec       *Recording
	histories *FileHistories
	mapped    map[SharedFile][]sharedMap
	sharers   map[SharedFile]*Sharers

	steps  int // number of mappings and processes that were looked at
	listed int // number of sharers of all files
}

// A recording may have thousands of processes with thousands of shared files each. maxSharedSteps bounds the
// steps of all searches, and maxSharers the lists of all files.
const (
	maxSharedSteps = 1 << 26
	maxSharers     = 1 << 22
)

// Exhausted reports whether searching has taken too long: some sharers may be missing.
func (s *SharedMemory) Exhausted() bool { return s.steps > maxSharedSteps || s.listed > maxSharers }

// A sharedMap is a mapping by a process itself.
type sharedMap struct {
	pid uint32
	*FileMap
	number int // in the history of its process
}

// NewSharedMemory returns the shared memory of the recording of histories.
func NewSharedMemory(histories *FileHistories) *SharedMemory {
	s := &SharedMemory{rec: histories.rec, histories: histories, mapped: make(map[SharedFile][]sharedMap), sharers: make(map[SharedFile]*Sharers)}
	for _, pid := range s.rec.PIDs() {
		for i, m := range histories.those(pid, func(m *FileMap) bool { _, ok := m.shared(); return ok }) {
			f, _ := m.shared()
			s.mapped[f] = append(s.mapped[f], sharedMap{pid, m, i})
		}
	}
	return s
}

// IsEmpty reports whether no process shares any.
func (s *SharedMemory) IsEmpty() bool { return len(s.mapped) == 0 }

// At returns what a process shares at an address at a time. Before any mapping there, the first one counts:
// perf records memory when it becomes executable, and code may have been written before. ok is false if the
// process shares nothing there.
func (s *SharedMemory) At(pid uint32, addr, time uint64) (f SharedFile, ok bool) {
	here := addrs.Range{Lo: addr, Hi: addr + 1}
	var first *FileMap
	for l := range s.histories.layers(pid, time) {
		s.steps++
		if m := l.latest(here, time); m != nil {
			return m.shared()
		}
		if i := l.line.First(here, l.from, l.to); i >= 0 { // of the process itself
			first = &l.maps[i]
		}
	}
	if first == nil {
		return f, false
	}
	return first.shared()
}

// Sharers are the programs that share a file, for as long as they may have it mapped.
type Sharers struct {
	memory *SharedMemory
	file   SharedFile

	maps     []sharedMap // of the file, in the order of their times
	nextMap  int         // index of the first one after those that the list considers
	nextFork int         // likewise, of the recording's forks
	list     []Sharer    // in the order of Since
	known    map[Program]bool

	// pieces are what programs map that did not have it just before, in the order of the times: memory
	// that is made writable and executable in turns is mapped each time, for the recording.
	pieces []sharedPiece
	places addrs.Timeline // of pieces
}

// A Sharer is a program that has a part of a file since a time: it mapped it, or inherited it by a fork.
// Until is when the program ends; times are in nanoseconds. A process ends with its first thread.
type Sharer struct {
	PID          uint32
	Since, Until uint64
}

type sharedPiece struct {
	pid  uint32
	time uint64
}

func (p sharedPiece) at() uint64 { return p.time }

// SharersOf returns the programs that share a file. The result belongs to s.
func (s *SharedMemory) SharersOf(f SharedFile) *Sharers {
	sharers := s.sharers[f]
	if sharers == nil {
		sharers = s.newSharers(f)
		s.sharers[f] = sharers
	}
	return sharers
}

func (s *SharedMemory) newSharers(f SharedFile) *Sharers {
	of := &Sharers{memory: s, file: f, maps: s.mapped[f], known: make(map[Program]bool)}
	sorting.Stable(of.maps, func(a, b sharedMap) int { return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.pid, b.pid)) })
	of.nextFork = upTo(s.rec.ProcessTree.Forks(), max(of.maps[0].Time, 1)-1) // none at time 0 clones memory
	for i := 0; i < len(of.maps) && !s.Exhausted(); i++ {
		m := &of.maps[i]
		s.steps++
		for _, part := range s.histories.fresh(m.pid, m.number, f.isOf, &s.steps) {
			of.pieces = append(of.pieces, sharedPiece{m.pid, m.Time})
			of.places.Add(part)
		}
	}
	return of
}

// UpTo returns the programs that have a part of the file since some time up to the given one, in the order of
// these times. The list only grows.
func (of *Sharers) UpTo(time uint64) []Sharer {
	s, forks := of.memory, of.memory.rec.ProcessTree.Forks()
	for !s.Exhausted() {
		isMap := of.nextMap < len(of.maps) && of.maps[of.nextMap].Time <= time
		isFork := of.nextFork < len(forks) && forks[of.nextFork].Time <= time
		switch {
		case isMap && !(isFork && forks[of.nextFork].Time < of.maps[of.nextMap].Time):
			of.add(of.maps[of.nextMap].pid, of.maps[of.nextMap].Time)
			of.nextMap++
		case isFork:
			if b := &forks[of.nextFork]; b.Clones && of.known[s.rec.ProcessTree.Program(b.Parent, b.Time)] {
				of.add(b.PID, b.Time)
			}
			of.nextFork++
			s.steps++
		default:
			return of.list
		}
	}
	return of.list
}

// add adds the program that a process runs at a time, unless it is there.
func (of *Sharers) add(pid uint32, time uint64) {
	s := of.memory
	s.steps++
	if key := s.rec.ProcessTree.Program(pid, time); !of.known[key] {
		of.known[key] = true
		of.list = append(of.list, Sharer{pid, time, s.end(pid, time)})
		s.listed++
	}
}

// end returns when the program that a process runs at a time ends.
func (s *SharedMemory) end(pid uint32, time uint64) uint64 {
	end := s.rec.ProcessTree.LifeEnd(pid, time)
	if p := s.rec.Processes[pid]; p != nil && p.Exited > time {
		end = min(end, p.Exited)
	}
	return end
}

// Has reports whether a sharer has the file at an address, at a time of its life.
func (of *Sharers) Has(sharer *Sharer, addr, time uint64) bool {
	for l := range of.memory.histories.layers(sharer.PID, time) {
		of.memory.steps++
		if m := l.latest(addrs.Range{Lo: addr, Hi: addr + 1}, time); m != nil {
			f, ok := m.shared()
			return ok && f == of.file
		}
	}
	return false
}

// Later calls f for the processes that map the file over an address after a time, and did not have it
// there just before, with the time of that, until f returns false.
func (of *Sharers) Later(addr, time uint64, f func(pid uint32, at uint64) bool) {
	here := addrs.Range{Lo: addr, Hi: addr + 1}
	for i := of.places.First(here, upTo(of.pieces, time), len(of.pieces)); i >= 0; i = of.places.First(here, i+1, len(of.pieces)) {
		if !f(of.pieces[i].pid, of.pieces[i].time) {
			return
		}
	}
}
