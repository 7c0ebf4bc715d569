package recording

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/perfdata"
)

// Functions of a dump may lie in a file. V8 describes its builtins, which are part of its own
// binary, at their home there. It also maps that part of the binary a second time, near its other
// code, and runs them at either place.
//
// This matters only where perf unwinds. The functions belong at the copy as well. And if the
// binary's own symbols cover them, they stay unnamed at home. The unwinder of elfutils (perf 7)
// loses a file that another one is mapped into, and every frame in it.

// A FileMap is an executable mapping, of a file or of memory.
type FileMap struct {
	// Lo and Hi are the bounds of its addresses; Hi is excluded.
	Lo, Hi uint64
	Off    uint64 // in the file, of Lo, in bytes
	// Time is that of its record, in nanoseconds; 0 for a mapping from before the recording.
	Time    uint64
	Name    string                // path of the file; empty for memory
	File    perfdata.FileIdentity // zero if the recording does not say
	BuildID string                // empty if the recording does not say
}

// Same reports whether two mappings are of one file.
func (m *FileMap) Same(o *FileMap) bool {
	return m.Name == o.Name && m.File == o.File && m.BuildID == o.BuildID
}

// MaxFileMaps bounds how many mappings of a process are kept.
const MaxFileMaps = 1 << 16

// FileMapsOf returns the executable mappings of the program that a process runs at a time, in the
// order of their times. It has all mappings of the program's whole life. Unless there was an exec
// since the fork, it begins with those that the parent had then.
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

// MapsOver reports whether a process made an executable mapping over a part of r after a time, up
// to another one. Times are those of the recording.
func (rec *Recording) MapsOver(pid uint32, r addrs.Range, after, until uint64) bool {
	p := rec.Processes[pid]
	return p != nil && slices.ContainsFunc(p.FileMaps, func(m FileMap) bool {
		return m.Lo < r.Hi && m.Hi > r.Lo && m.Time > after && m.Time <= until
	})
}

// InForce returns the index of the mapping that covers [lo, hi) at a time. It is the latest one
// that overlaps the range. The result is false if that one is of memory, or lacks a part of the
// range.
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

// HomeOf returns the index of the loader's mapping of a part of a file. It precedes all mappings
// that the program makes of that part. elfutils finds a program's file only there.
func HomeOf(maps []FileMap, in int, off, length uint64) int {
	for i := range maps {
		if maps[i].Same(&maps[in]) && maps[i].HasFile(off, length) {
			return i
		}
	}
	return in
}
