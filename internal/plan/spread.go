package plan

import (
	"maps"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
)

// A fileCode finds the functions of dumps that lie in files of a recording.
type fileCode struct {
	rec       *recording.Recording
	histories *recording.FileHistories
	of        map[recording.Program]*recording.ProgramMaps
	last      *recording.ProgramMaps // the latest result of files, for the program in lastOf
	lastOf    recording.Program
	// The keys of symbols are a file's name and build id.
	symbols map[string]*recording.FileSymbols
	latest  uint64 // time of the last mapping of all processes
	most    int    // of mappings at copies
	copied  int    // number of them
	visited int    // number of mappings that may be at copies

	unnamed map[string]int // numbers of functions that lie in a file and stay without a name, by the file's name
	absent  map[string]int // numbers of functions in files that are not there, likewise
}

func newFileCode(rec *recording.Recording, histories *recording.FileHistories, dumps []*model.Dump) *fileCode {
	bytes := int64(0)
	for _, d := range dumps {
		bytes += d.Bytes()
	}
	latest := uint64(0)
	for _, p := range rec.Processes {
		for i := range p.FileMaps {
			latest = max(latest, p.FileMaps[i].Time)
		}
	}
	return &fileCode{latest: latest, most: int(min(fewCopied+bytes/bytesOfCopied, maxCopied)), rec: rec, histories: histories, of: make(map[recording.Program]*recording.ProgramMaps), symbols: make(map[string]*recording.FileSymbols), unnamed: make(map[string]int), absent: make(map[string]int)}
}

// files returns the mappings of the program that a process runs at a time.
func (f *fileCode) files(pid uint32, time uint64) *recording.ProgramMaps {
	key := f.rec.ProcessTree.Program(pid, time)
	if f.last == nil || key != f.lastOf {
		if f.last, f.lastOf = f.of[key], key; f.last == nil {
			f.last = f.histories.Program(pid, time)
			f.of[key] = f.last
		}
	}
	return f.last
}

// holds reports whether a function lies in a file at a time.
func (f *fileCode) holds(pid uint32, time, addr, size uint64) bool {
	_, ok := f.files(pid, time).InForce(addr, addr+size, time)
	return ok
}

// Every function of V8's program is at every copy of it, and there may be a hundred copies. fewCopied and bytesOfCopied
// bound the mappings at copies of files, by the bytes of the dumps, and maxCopied does in any case. Of those that may be
// at copies, visitedPerCopied times as many are looked at.
const (
	fewCopied        = 1 << 16
	bytesOfCopied    = 8
	maxCopied        = 1 << 20
	visitedPerCopied = 16
)

// overflows reports whether mappings at copies were left out.
func (f *fileCode) overflows() bool { return f.copied > f.most || f.visited > visitedPerCopied*f.most }

// spread appends m and returns the result. For a function in a file, it instead appends a mapping
// for each copy of that part of the file, from the copy's time on. At home, the file keeps its
// place: the function is mapped there only if perf has no use for the file, or from a skeleton of it.
func (f *fileCode) spread(spread []model.Mapping, m model.Mapping) []model.Mapping {
	if !f.rec.CopiesStacks() {
		return append(spread, m) // perf will unwind nothing
	}
	files := f.files(m.PID, m.Time)
	in, ok := files.InForce(m.Addr, m.Addr+m.Len, m.Time)
	if !ok {
		return append(spread, m)
	}
	off := m.Addr - in.Lo + in.Off
	home := true
	files.Each(in, off, m.Len, func(c *recording.FileMap) bool {
		at := m
		at.Addr = off - c.Off + c.Lo
		if home {
			home = false
			s := f.symbolsOf(c)
			switch state := s.State(off, m.Len); {
			case s.Cover(off): // the file names it
			case state == recording.FileUseless, state == recording.FileAbsent:
				if state == recording.FileAbsent {
					f.absent[c.Name]++
				}
				spread = append(spread, at)
			case state == recording.FileRecorded:
				at.Home = true
				spread = append(spread, at)
			default:
				f.unnamed[c.Name]++
			}
			return true
		}
		at.Time = c.Time + 1 // after the record of the copy, which takes effect first
		if c.Hi-c.Lo <= maxSpan {
			at.Excerpt = &model.Excerpt{Copied: addrs.Range{Lo: c.Lo, Hi: c.Hi}}
		}
		if now, ok := files.InForce(at.Addr, at.Addr+m.Len, max(m.Time, at.Time)); ok && now == c {
			if f.copied++; f.copied <= f.most {
				spread = append(spread, at)
			}
		}
		f.visited++
		return !f.overflows()
	})
	return spread
}

// homeAddr returns the address at which the loader mapped the code that is at addr. It returns
// false for code that lies in no file.
func (f *fileCode) homeAddr(pid uint32, time, addr, size uint64) (home uint64, ok bool) {
	files := f.files(pid, time)
	in, ok := files.InForce(addr, addr+size, time)
	if !ok {
		return 0, false
	}
	off := addr - in.Lo + in.Off
	files.Each(in, off, size, func(c *recording.FileMap) bool {
		home = off - c.Off + c.Lo
		return false
	})
	return home, true
}

// symbolsOf returns the symbols that perf finds in a file.
func (f *fileCode) symbolsOf(m *recording.FileMap) *recording.FileSymbols {
	key := m.Name + "\x00" + m.BuildID
	s, ok := f.symbols[key]
	if !ok {
		s = recording.ReadSymbols(f.rec, m)
		f.symbols[key] = s
	}
	return s
}

// addFiles adds what is missing of functions in files.
func (p *placer) addFiles() {
	f := p.files
	if f.overflows() {
		p.found(manyCopies, "", f.most)
	}
	for _, name := range slices.Sorted(maps.Keys(f.unnamed)) {
		p.found(fileUnnamed, name, f.unnamed[name])
	}
	for _, name := range slices.Sorted(maps.Keys(f.absent)) {
		p.found(fileAbsent, name, f.absent[name])
	}
}
