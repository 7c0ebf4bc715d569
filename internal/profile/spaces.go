package profile

import "github.com/jitinject/jitinject/perfdata"

// spaces are the mappings of files in processes. They tell which texts of perf script are names of
// files, and convert between addresses and places in files: perf 5.18 to 6.2 print an address only for
// samples without callers, and a place only for callers.
type spaces struct {
	names map[string]bool
	of    map[uint32]*space // by pid

	compared int // mappings so far
}

// maxCompared bounds how often mappings are compared. Then only the last of a file are.
const maxCompared = 1 << 19

// A space has the mappings of one process, by file. Those of the process that it was forked from count
// as well: files do not move, except those of jitted code.
type space struct {
	parent uint32
	files  map[string][]mapping
}

// A mapping is a part of a file in memory.
type mapping struct {
	time, addr, size uint64
	offset           uint64 // in the file
}

// space returns the space of a process, and makes it if there is none.
func (s *spaces) space(pid uint32) *space {
	if s.of == nil {
		s.of, s.names = make(map[uint32]*space), make(map[string]bool)
	}
	if s.of[pid] == nil {
		s.of[pid] = &space{parent: pid, files: make(map[string][]mapping)}
	}
	return s.of[pid]
}

func (s *spaces) add(m *perfdata.Mmap, time uint64) {
	sp := s.space(m.PID)
	name := string(m.Filename)
	s.names[name] = true
	sp.files[name] = append(sp.files[name], mapping{time, m.Addr, m.Len, m.PgOff})
}

func (s *spaces) fork(pid, parent uint32) { s.space(pid).parent = parent }

// find returns the latest mapping of a file that is not later than time and satisfies a condition.
func (s *spaces) find(pid uint32, time uint64, file string, fits func(m *mapping) bool) (found mapping, ok bool) {
	for range maxAncestors {
		sp := s.of[pid]
		if sp == nil {
			return found, false
		}
		maps := sp.files[file]
		if s.compared += len(maps); s.compared > maxCompared {
			maps = maps[max(0, len(maps)-64):]
		}
		for i := range maps {
			m := &maps[i]
			if m.time <= time && (!ok || m.time >= found.time) && fits(m) {
				found, ok = *m, true
			}
		}
		if ok || sp.parent == pid {
			return found, ok
		}
		pid = sp.parent
	}
	return found, false
}

// offset returns the place in a file of an address in a process.
func (s *spaces) offset(pid uint32, time uint64, file string, addr uint64) (offset uint64, ok bool) {
	m, ok := s.find(pid, time, file, func(m *mapping) bool { return addr-m.addr < m.size })
	return addr - m.addr + m.offset, ok
}

// addr returns the address in a process of a place in a file.
func (s *spaces) addr(pid uint32, time uint64, file string, offset uint64) (addr uint64, ok bool) {
	m, ok := s.find(pid, time, file, func(m *mapping) bool { return offset-m.offset < m.size })
	return offset - m.offset + m.addr, ok
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
