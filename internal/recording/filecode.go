package recording

import (
	"slices"

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
	Pos     int64                 // of its record in the stream
	Name    string                // path of the file; empty for memory
	File    perfdata.FileIdentity // zero if the recording does not say
	BuildID string                // empty if the recording does not say
	Shared  bool                  // MAP_SHARED, as far as the recording says

	backing  backing // of memory
	writable bool    // PROT_WRITE, as far as the recording says
}

func (m FileMap) at() uint64 { return m.Time }

// file returns what mappings of one file have in common.
func (m *FileMap) file() fileID { return fileID{m.Name, m.File, m.BuildID} }

// A fileID identifies a mapped file.
type fileID struct {
	name    string
	file    perfdata.FileIdentity
	buildID string
}

// Same reports whether two mappings are of one file.
func (m *FileMap) Same(o *FileMap) bool { return m.file() == o.file() }

// MaxFileMaps bounds how many mappings of a process are kept.
const MaxFileMaps = 1 << 16

// FileMapsOf returns the executable mappings of the program that a process runs at a time, in the
// order of their times. It has all mappings of the program's whole life. Unless there was an exec
// since the fork, it begins with those that the parent had then, unless these are too many for so many processes.
// The caller must not change it.
func (r *Recording) FileMapsOf(pid uint32, time uint64) (maps []FileMap) {
	l := r.inherited()
	layers := slices.Collect(l.histories.layers(pid, time))
	for i, of := range slices.Backward(layers) {
		if i == 0 || l.affords(of.to-of.from) {
			part := of.maps[of.from:max(of.from, of.to)]
			if len(maps) == 0 {
				maps = slices.Clip(part) // most programs have no other
			} else {
				maps = append(maps, part...)
			}
		}
	}
	return maps
}

// HasFile reports whether m maps length bytes of its file, from offset off on.
func (m *FileMap) HasFile(off, length uint64) bool {
	return off >= m.Off && off-m.Off <= m.Hi-m.Lo && length <= m.Hi-m.Lo-(off-m.Off)
}
