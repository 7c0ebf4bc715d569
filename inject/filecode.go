package inject

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/perfdata"
)

// Functions of a dump that lie in a file. V8 tells of its builtins, which are part
// of its own binary, at their home there; and it maps that part of the binary a
// second time, near its other code, and runs them at either place.
//
// Two things follow where perf unwinds; elsewhere nothing is lost by it. The functions
// belong at the copy, too. And where the binary's own symbols tell of them, they stay
// its own at home: an unwinder of elfutils (perf 7) loses a file that another one is
// mapped into, and every frame with it.

// A fileMap is an executable mapping, of a file or of memory.
type fileMap struct {
	lo, hi  uint64
	off     uint64 // in the file, of lo
	time    uint64
	name    string                // empty for memory
	file    perfdata.FileIdentity // zero where the recording does not say
	buildID string                // likewise
}

// same reports whether two mappings are of one file.
func (m *fileMap) same(o *fileMap) bool {
	return m.name == o.name && m.file == o.file && m.buildID == o.buildID
}

// maxFileMaps bounds how many mappings are kept of a process.
const maxFileMaps = 1 << 16

// fileMapsOf returns the executable mappings that the program which a process runs at a
// time ever has, in the order of their times. It begins with those that its parent
// had when it was forked, unless there was an exec since.
func (rec *recording) fileMapsOf(pid uint32, time uint64) (maps []fileMap) {
	end := rec.genealogy.lifeEnd(pid, time)
	for range maxGenerations {
		since := rec.genealogy.lastExec(pid, time)
		b, born := rec.genealogy.birth(pid, time)
		inherits := born && b.time > since
		if inherits {
			since = b.time
		}
		if p := rec.processes[pid]; p != nil {
			for i := range p.fileMaps {
				if m := &p.fileMaps[i]; m.time >= since && m.time <= end {
					maps = append(maps, *m)
				}
			}
		}
		if !inherits || !b.clones {
			break
		}
		pid, time, end = b.parent, b.time, b.time
	}
	slices.SortStableFunc(maps, func(a, b fileMap) int { return cmp.Compare(a.time, b.time) })
	return maps
}

// fileMapCount returns how many executable mappings of a process are known.
func (rec *recording) fileMapCount(pid uint32) int {
	if p := rec.processes[pid]; p != nil {
		return len(p.fileMaps)
	}
	return 0
}

// mapsOver reports whether a process made an executable mapping over a part of r after a
// time, up to another one. Times are those of the recording.
func (rec *recording) mapsOver(pid uint32, r addrRange, after, until uint64) bool {
	p := rec.processes[pid]
	return p != nil && slices.ContainsFunc(p.fileMaps, func(m fileMap) bool {
		return m.lo < r.hi && m.hi > r.lo && m.time > after && m.time <= until
	})
}

// inForce returns the mapping that [lo, hi) is of at a time: the latest one that has
// anything there, if it has all of it.
func inForce(maps []fileMap, lo, hi, time uint64) (int, bool) {
	n, _ := slices.BinarySearchFunc(maps, time, func(m fileMap, time uint64) int {
		if m.time <= time {
			return -1
		}
		return 1
	})
	for i := n - 1; i >= 0; i-- {
		if m := &maps[i]; m.lo < hi && m.hi > lo {
			return i, m.lo <= lo && hi <= m.hi && m.name != ""
		}
	}
	return 0, false
}

// A fileCode answers for the files of a recording where functions of dumps belong.
type fileCode struct {
	rec     *recording
	of      map[program]*programFiles
	symbols map[string]*fileSymbols
}

// A program is what a process is from its birth, or an exec, on.
type program struct {
	pid   uint32
	since uint64
}

// programFiles are the mappings of files that a program has, and where they lie, roughly.
type programFiles struct {
	maps   []fileMap
	extent ranges
	known  int // mappings of the process that there were; in a stream, more come
}

func newFileCode(rec *recording) *fileCode {
	return &fileCode{rec: rec, of: make(map[program]*programFiles), symbols: make(map[string]*fileSymbols)}
}

// files returns the files of the program that a process runs at a time.
func (f *fileCode) files(pid uint32, time uint64) *programFiles {
	key := program{pid, max(f.rec.genealogy.lastExec(pid, time), f.rec.genealogy.born(pid, time))}
	known := f.rec.fileMapCount(pid)
	files := f.of[key]
	if files == nil || files.known != known {
		files = &programFiles{maps: f.rec.fileMapsOf(pid, time), known: known}
		for i := range files.maps {
			if files.maps[i].name != "" {
				files.extent.add(files.maps[i].lo, files.maps[i].hi)
			}
		}
		f.of[key] = files
	}
	return files
}

// holds reports whether a function lies in a file at a time.
func (f *fileCode) holds(pid uint32, time, addr, size uint64) bool {
	files := f.files(pid, time)
	if !files.extent.hold(addr) {
		return false
	}
	_, ok := inForce(files.maps, addr, addr+size, time)
	return ok
}

// spread appends m. For a function in a file, it appends a mapping for each copy of that
// part of the file, from the copy's time on. The function's home is one of them only if the
// file has no symbol for it.
func (f *fileCode) spread(spread []mapping, m mapping) []mapping {
	if !f.rec.copiesStacks() {
		return append(spread, m) // nothing will be unwound
	}
	files := f.files(m.pid, m.time)
	if !files.extent.hold(m.addr) {
		return append(spread, m)
	}
	maps := files.maps
	in, ok := inForce(maps, m.addr, m.addr+m.len, m.time)
	if !ok {
		return append(spread, m)
	}
	off := m.addr - maps[in].lo + maps[in].off
	home := homeOf(maps, in, off, m.len)
	for i := range maps {
		c := &maps[i]
		if !c.same(&maps[in]) || !c.hasFile(off, m.len) {
			continue
		}
		at := m
		at.addr = off - c.off + c.lo
		if i == home {
			if !f.serves(c, m.pid, off) {
				spread = append(spread, at)
			}
			continue
		}
		at.time = c.time + 1 // after the record of the copy, which takes effect first
		if c.hi-c.lo <= maxStretch {
			at.copied = addrRange{c.lo, c.hi}
		}
		if in, ok := inForce(maps, at.addr, at.addr+m.len, max(m.time, at.time)); ok && in == i {
			spread = append(spread, at)
		}
	}
	return spread
}

// homeAddr returns the address at which the loader mapped the code that is at addr. It
// returns false for code of no file.
func (f *fileCode) homeAddr(pid uint32, time, addr, size uint64) (uint64, bool) {
	files := f.files(pid, time)
	if !files.extent.hold(addr) {
		return 0, false
	}
	in, ok := inForce(files.maps, addr, addr+size, time)
	if !ok {
		return 0, false
	}
	off := addr - files.maps[in].lo + files.maps[in].off
	home := &files.maps[homeOf(files.maps, in, off, size)]
	return off - home.off + home.lo, true
}

// hasFile reports whether m maps length bytes of its file, from offset off on.
func (m *fileMap) hasFile(off, length uint64) bool {
	return off >= m.off && off-m.off <= m.hi-m.lo && length <= m.hi-m.lo-(off-m.off)
}

// homeOf returns the loader's mapping of a part of a file: it precedes all mappings that
// the program makes of that part. elfutils finds a program's file only there.
func homeOf(maps []fileMap, in int, off, length uint64) int {
	for i := range maps {
		if maps[i].same(&maps[in]) && maps[i].hasFile(off, length) {
			return i
		}
	}
	return in
}

// serves reports whether perf finds a symbol of the file itself for the code at an
// offset in it.
func (f *fileCode) serves(m *fileMap, pid uint32, off uint64) bool {
	if f.rec.inContainer(pid) {
		return false
	}
	key := m.name + "\x00" + m.buildID
	s, ok := f.symbols[key]
	if !ok {
		s = readSymbols(f.rec, m)
		f.symbols[key] = s
	}
	return s.cover(off)
}
