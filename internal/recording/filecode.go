package recording

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
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

// A FileMap is an executable mapping, of a file or of memory.
type FileMap struct {
	Lo, Hi  uint64
	Off     uint64 // in the file, of lo
	Time    uint64
	Name    string                // empty for memory
	File    perfdata.FileIdentity // zero where the recording does not say
	BuildID string                // likewise
}

// Same reports whether two mappings are of one file.
func (m *FileMap) Same(o *FileMap) bool {
	return m.Name == o.Name && m.File == o.File && m.BuildID == o.BuildID
}

// MaxFileMaps bounds how many mappings are kept of a process.
const MaxFileMaps = 1 << 16

// FileMapsOf returns the executable mappings that the program which a process runs at a
// time ever has, in the order of their times. It begins with those that its parent
// had when it was forked, unless there was an exec since.
func (rec *Recording) FileMapsOf(pid uint32, time uint64) (maps []FileMap) {
	end := rec.ProcessTree.LifeEnd(pid, time)
	for range MaxGenerations {
		since := rec.ProcessTree.LastExec(pid, time)
		b, born := rec.ProcessTree.Fork(pid, time)
		inherits := born && b.Time > since
		if inherits {
			since = b.Time
		}
		if p := rec.Processes[pid]; p != nil {
			for i := range p.FileMaps {
				if m := &p.FileMaps[i]; m.Time >= since && m.Time <= end {
					maps = append(maps, *m)
				}
			}
		}
		if !inherits || !b.Clones {
			break
		}
		pid, time, end = b.Parent, b.Time, b.Time
	}
	slices.SortStableFunc(maps, func(a, b FileMap) int { return cmp.Compare(a.Time, b.Time) })
	return maps
}

// FileMapCount returns how many executable mappings of a process are known.
func (rec *Recording) FileMapCount(pid uint32) int {
	if p := rec.Processes[pid]; p != nil {
		return len(p.FileMaps)
	}
	return 0
}

// MapsOver reports whether a process made an executable mapping over a part of r after a
// time, up to another one. Times are those of the recording.
func (rec *Recording) MapsOver(pid uint32, r addrs.Range, after, until uint64) bool {
	p := rec.Processes[pid]
	return p != nil && slices.ContainsFunc(p.FileMaps, func(m FileMap) bool {
		return m.Lo < r.Hi && m.Hi > r.Lo && m.Time > after && m.Time <= until
	})
}

// InForce returns the mapping that [lo, hi) is of at a time: the latest one that has
// anything there, if it has all of it.
func InForce(maps []FileMap, lo, hi, time uint64) (int, bool) {
	n, _ := slices.BinarySearchFunc(maps, time, func(m FileMap, time uint64) int {
		if m.Time <= time {
			return -1
		}
		return 1
	})
	for i := n - 1; i >= 0; i-- {
		if m := &maps[i]; m.Lo < hi && m.Hi > lo {
			return i, m.Lo <= lo && hi <= m.Hi && m.Name != ""
		}
	}
	return 0, false
}

// HasFile reports whether m maps length bytes of its file, from offset off on.
func (m *FileMap) HasFile(off, length uint64) bool {
	return off >= m.Off && off-m.Off <= m.Hi-m.Lo && length <= m.Hi-m.Lo-(off-m.Off)
}

// HomeOf returns the loader's mapping of a part of a file: it precedes all mappings that
// the program makes of that part. elfutils finds a program's file only there.
func HomeOf(maps []FileMap, in int, off, length uint64) int {
	for i := range maps {
		if maps[i].Same(&maps[in]) && maps[i].HasFile(off, length) {
			return i
		}
	}
	return in
}
