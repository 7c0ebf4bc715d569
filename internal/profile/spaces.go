package profile

import (
	"cmp"
	"math"
	"sort"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/perfdata"
)

// spaces are the mappings of files in processes. They tell which texts of perf script are names of
// files, and convert between addresses and places in files: perf 5.18 to 6.2 print an address only for
// samples without callers, and a place only for callers.
type spaces struct {
	names map[string]bool
	of    map[uint32]*space // by pid
}

// A space has the mappings of one process, by file. Those of the process that it was forked from count
// as well: files do not move, except those of jitted code.
type space struct {
	parent uint32
	files  map[string]*fileMaps
}

// A mapping is a part of a file in memory.
type mapping struct {
	time, addr, size uint64
	offset           uint64 // in the file
}

// fileMaps are the mappings of a file in a process. An object of many functions may have thousands.
type fileMaps struct {
	maps []mapping // in the order of their times if they are indexed
	// by has the ranges of maps by place in the file and by address, false and true; nil before the first search.
	by map[bool]*addrs.Timeline
}

// last returns the latest mapping not later than time whose addresses, or whose part of the file, have a point.
func (f *fileMaps) last(time uint64, byAddr bool, point uint64) *mapping {
	if f.by == nil {
		sorting.Stable(f.maps, func(a, b mapping) int { return cmp.Compare(a.time, b.time) })
		f.by = map[bool]*addrs.Timeline{false: {}, true: {}}
		for _, m := range f.maps {
			f.by[false].Add(rangeAt(m.offset, m.size))
			f.by[true].Add(rangeAt(m.addr, m.size))
		}
	}
	n := sort.Search(len(f.maps), func(i int) bool { return f.maps[i].time > time })
	if i := f.by[byAddr].Last(rangeAt(point, 1), 0, n); i >= 0 {
		return &f.maps[i]
	}
	return nil
}

func rangeAt(lo, size uint64) addrs.Range {
	return addrs.Range{Lo: lo, Hi: lo + min(size, math.MaxUint64-lo)}
}

// space returns the space of a process, and makes it if there is none.
func (s *spaces) space(pid uint32) *space {
	if s.of == nil {
		s.of, s.names = make(map[uint32]*space), make(map[string]bool)
	}
	if s.of[pid] == nil {
		s.of[pid] = &space{parent: pid, files: make(map[string]*fileMaps)}
	}
	return s.of[pid]
}

func (s *spaces) add(m *perfdata.Mmap, time uint64) {
	sp := s.space(m.PID)
	name := string(m.Filename)
	s.names[name] = true
	if sp.files[name] == nil {
		sp.files[name] = new(fileMaps)
	}
	f := sp.files[name]
	f.maps, f.by = append(f.maps, mapping{time, m.Addr, m.Len, m.PgOff}), nil
}

func (s *spaces) fork(pid, parent uint32) { s.space(pid).parent = parent }

// find returns what [fileMaps.last] finds for a process, or for the nearest ancestor with such a mapping.
func (s *spaces) find(pid uint32, time uint64, file string, byAddr bool, point uint64) *mapping {
	for range maxAncestors {
		sp := s.of[pid]
		if sp == nil {
			break
		}
		if f := sp.files[file]; f != nil {
			if m := f.last(time, byAddr, point); m != nil {
				return m
			}
		}
		if sp.parent == pid {
			break
		}
		pid = sp.parent
	}
	return nil
}

// offset returns the place in a file of an address in a process.
func (s *spaces) offset(pid uint32, time uint64, file string, addr uint64) (offset uint64, ok bool) {
	if m := s.find(pid, time, file, true, addr); m != nil {
		return addr - m.addr + m.offset, true
	}
	return 0, false
}

// addr returns the address in a process of a place in a file.
func (s *spaces) addr(pid uint32, time uint64, file string, offset uint64) (addr uint64, ok bool) {
	if m := s.find(pid, time, file, false, offset); m != nil {
		return offset - m.offset + m.addr, true
	}
	return 0, false
}

// threadNames are the names that threads had. perf script prints names, too, but a name may contain a
// newline or look like the rest of the line.
type threadNames struct {
	named map[threadID][]threadName
	forks map[threadID]threadFork
}

// A threadName is a name since a time. Its record may come late: each processor has a buffer.
type threadName struct {
	time uint64
	name string
}

// A threadFork says from which thread another one comes. It has that one's name until it has its own.
type threadFork struct {
	parent threadID
	time   uint64
}

func (n *threadNames) name(id threadID, time uint64, name string) {
	if n.named == nil {
		n.named = make(map[threadID][]threadName)
	}
	n.named[id] = append(n.named[id], threadName{time, name})
}

func (n *threadNames) fork(id, parent threadID, time uint64) {
	if n.forks == nil {
		n.forks = make(map[threadID]threadFork)
	}
	if f, ok := n.forks[id]; !ok || f.time <= time {
		n.forks[id] = threadFork{parent, time}
	}
}

// maxAncestors bounds walks from child to parent: ids are used again, so they may go in circles.
const maxAncestors = 64

// at returns the name that a thread had at a time, or "".
func (n *threadNames) at(id threadID, time uint64) string {
	for range maxAncestors {
		found := threadName{}
		ok := false
		for _, c := range n.named[id] {
			if c.time <= time && (!ok || c.time >= found.time) {
				found, ok = c, true
			}
		}
		fork, forked := n.forks[id]
		if ok || !forked || fork.parent == id {
			return found.name
		}
		id, time = fork.parent, min(time, fork.time)
	}
	return ""
}
