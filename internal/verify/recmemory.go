package verify

import (
	"cmp"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/perfdata"
)

// Where jitted mappings lie among the others.

// A memoryEvent is a change of what a process has in memory.
type memoryEvent struct {
	pid       uint32
	exec      bool // a new program: all of it
	time      uint64
	at        int64
	addr, len uint64
	pgoff     uint64
	object    *mappedObject // of jitted functions, or nil
	file      string        // another file, or ""
}

func (e *memoryEvent) end() uint64 { return max(e.addr, e.addr+e.len) }

// isAnonymous reports whether a name stands for memory without a file.
func isAnonymous(name string) bool {
	for _, prefix := range []string{"//anon", "[", "/memfd:", "/dev/zero", "/SYSV", "/anon_hugepage", "/dev/shm/"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// overlaps checks the jitted mappings of each process, in the order of time. Only perf
// that unwinds copies of stacks minds.
func (c *recordingCheck) overlaps() {
	unwinds := func(a perfdata.Attr) bool { return a.SampleType()&perfdata.FieldStackUser != 0 }
	if len(c.objects) == 0 || !slices.ContainsFunc(c.rec.attrs, unwinds) {
		return
	}
	slices.SortStableFunc(c.memory, func(a, b memoryEvent) int {
		return cmp.Or(cmp.Compare(a.pid, b.pid), cmp.Compare(a.time, b.time))
	})
	var files []memoryEvent // that are there
	for i := range c.memory {
		e := &c.memory[i]
		if i > 0 && c.memory[i-1].pid != e.pid || e.exec {
			files = files[:0]
		}
		if e.exec || e.len == 0 {
			continue
		}
		meets := func(f memoryEvent) bool { return f.addr < e.end() && e.addr < f.end() }
		if e.object == nil {
			// perf cuts what is mapped over.
			files = slices.DeleteFunc(files, func(f memoryEvent) bool { return f.addr >= e.addr && f.end() <= e.end() })
			if e.file != "" {
				files = append(files, *e)
			}
			continue
		}
		if j := slices.IndexFunc(files, meets); j >= 0 {
			c.broken("recording/over-file", e.at, "%s is mapped at %#x to %#x, in %s at %#x to %#x", quoted(e.object.path), e.addr, e.end(), quoted(files[j].file), files[j].addr, files[j].end())
		}
	}
}
