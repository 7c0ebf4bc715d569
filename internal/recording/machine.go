package recording

import (
	"slices"
)

// IsNarrow reports whether a process is known to have addresses of 32 bits: all of its executable
// mappings lie below 4 GiB.
func (r *Recording) IsNarrow(pid uint32) bool {
	p := r.Processes[pid]
	return p != nil && len(p.FileMaps) > 0 && !slices.ContainsFunc(p.FileMaps, func(m FileMap) bool { return m.Hi > 1<<32 })
}
