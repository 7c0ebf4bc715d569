package inject

import "slices"

// isNarrow reports whether a process is known to have addresses of 32 bits: all of its
// executable mappings lie below 4 GiB.
func (rec *recording) isNarrow(pid uint32) bool {
	p := rec.processes[pid]
	return p != nil && len(p.fileMaps) > 0 && !slices.ContainsFunc(p.fileMaps, func(m fileMap) bool { return m.hi > 1<<32 })
}
