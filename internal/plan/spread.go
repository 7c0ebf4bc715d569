package plan

import (
	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
)

// A fileCode finds the functions of dumps that lie in files of a recording.
type fileCode struct {
	rec *recording.Recording
	// The keys of symbols are a file's name and build id.
	of      map[program]*programFiles
	symbols map[string]*recording.FileSymbols
}

// A program is a process from its fork, or an exec, on.
type program struct {
	pid   uint32
	since uint64
}

// programFiles are the executable mappings of a program, and roughly the addresses of those of
// files.
type programFiles struct {
	maps   []recording.FileMap
	extent recording.Ranges
	known  int // FileMapCount of the process then; in a stream, it grows
}

func newFileCode(rec *recording.Recording) *fileCode {
	return &fileCode{rec: rec, of: make(map[program]*programFiles), symbols: make(map[string]*recording.FileSymbols)}
}

// files returns the mappings of the program that a process runs at a time.
func (f *fileCode) files(pid uint32, time uint64) *programFiles {
	key := program{pid, max(f.rec.ProcessTree.LastExec(pid, time), f.rec.ProcessTree.Born(pid, time))}
	known := f.rec.FileMapCount(pid)
	files := f.of[key]
	if files == nil || files.known != known {
		files = &programFiles{maps: f.rec.FileMapsOf(pid, time), known: known}
		for i := range files.maps {
			if files.maps[i].Name != "" {
				files.extent.Add(files.maps[i].Lo, files.maps[i].Hi)
			}
		}
		f.of[key] = files
	}
	return files
}

// holds reports whether a function lies in a file at a time.
func (f *fileCode) holds(pid uint32, time, addr, size uint64) bool {
	files := f.files(pid, time)
	if !files.extent.Hold(addr) {
		return false
	}
	_, ok := recording.InForce(files.maps, addr, addr+size, time)
	return ok
}

// spread appends m and returns the result. For a function in a file, it instead appends a mapping
// for each copy of that part of the file, from the copy's time on. The function's home is one of
// them only if the file has no symbol for it.
func (f *fileCode) spread(spread []model.Mapping, m model.Mapping) []model.Mapping {
	if !f.rec.CopiesStacks() {
		return append(spread, m) // perf will unwind nothing
	}
	files := f.files(m.PID, m.Time)
	if !files.extent.Hold(m.Addr) {
		return append(spread, m)
	}
	maps := files.maps
	in, ok := recording.InForce(maps, m.Addr, m.Addr+m.Len, m.Time)
	if !ok {
		return append(spread, m)
	}
	off := m.Addr - maps[in].Lo + maps[in].Off
	home := recording.HomeOf(maps, in, off, m.Len)
	for i := range maps {
		c := &maps[i]
		if !c.Same(&maps[in]) || !c.HasFile(off, m.Len) {
			continue
		}
		at := m
		at.Addr = off - c.Off + c.Lo
		if i == home {
			if !f.serves(c, m.PID, off) {
				spread = append(spread, at)
			}
			continue
		}
		at.Time = c.Time + 1 // after the record of the copy, which takes effect first
		if c.Hi-c.Lo <= maxSpan {
			at.Copied = addrs.Range{Lo: c.Lo, Hi: c.Hi}
		}
		if in, ok := recording.InForce(maps, at.Addr, at.Addr+m.Len, max(m.Time, at.Time)); ok && in == i {
			spread = append(spread, at)
		}
	}
	return spread
}

// homeAddr returns the address at which the loader mapped the code that is at addr. It returns
// false for code that lies in no file.
func (f *fileCode) homeAddr(pid uint32, time, addr, size uint64) (uint64, bool) {
	files := f.files(pid, time)
	if !files.extent.Hold(addr) {
		return 0, false
	}
	in, ok := recording.InForce(files.maps, addr, addr+size, time)
	if !ok {
		return 0, false
	}
	off := addr - files.maps[in].Lo + files.maps[in].Off
	home := &files.maps[recording.HomeOf(files.maps, in, off, size)]
	return off - home.Off + home.Lo, true
}

// serves reports whether perf finds a symbol of the file itself for the code at an offset in it.
func (f *fileCode) serves(m *recording.FileMap, pid uint32, off uint64) bool {
	if f.rec.InContainer(pid) {
		return false
	}
	key := m.Name + "\x00" + m.BuildID
	s, ok := f.symbols[key]
	if !ok {
		s = recording.ReadSymbols(f.rec, m)
		f.symbols[key] = s
	}
	return s.Cover(off)
}
