package checkrecording

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/verify"
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
	tables    bool          // of that, the unwind tables, which have a place of their own
	file      string        // another file, or ""
}

func (e *memoryEvent) end() uint64 { return max(e.addr, e.addr+e.len) }

// copiesStacks reports whether samples have copies of stacks. Only unwinding these minds
// what lies in what, so only then it is kept.
func (c *checker) copiesStacks() bool {
	return slices.ContainsFunc(c.rec.Attrs, func(a perfdata.Attr) bool { return a.SampleType()&perfdata.FieldStackUser != 0 })
}

// overlaps checks the jitted mappings of each process, in the order of time.
func (c *checker) overlaps() {
	if len(c.objects) == 0 {
		return
	}
	slices.SortStableFunc(c.memory, func(a, b memoryEvent) int {
		return cmp.Or(cmp.Compare(a.pid, b.pid), cmp.Compare(a.time, b.time))
	})
	var files, all []memoryEvent // that are there, and that were
	for i := range c.memory {
		e := &c.memory[i]
		if i > 0 && c.memory[i-1].pid != e.pid || e.exec {
			files, all = files[:0], all[:0]
		}
		if e.exec || e.len == 0 {
			continue
		}
		meets := func(f memoryEvent) bool { return f.addr < e.end() && e.addr < f.end() }
		if e.object == nil {
			// perf cuts what is mapped over.
			files = slices.DeleteFunc(files, func(f memoryEvent) bool { return f.addr >= e.addr && f.end() <= e.end() })
			if e.file != "" {
				files, all = append(files, *e), append(all, *e)
			}
			continue
		}
		// A skeleton of a file is the same module as the file.
		isSame := func(f memoryEvent) bool { return f.addr-f.pgoff == e.addr-e.pgoff }
		if j := slices.IndexFunc(files, meets); j >= 0 && !isSame(files[j]) && !isCopy(&files[j], all) {
			c.Violation("recording/over-file", e.at, "%s is mapped at %#x to %#x, in %s at %#x to %#x", verify.Quoted(e.object.path), e.addr, e.end(), verify.Quoted(files[j].file), files[j].addr, files[j].end())
		}
	}
}

// isCopy reports whether a file's part was mapped elsewhere before. V8 maps its embedded
// builtins again, near its other code. perf with libdw cannot place that copy, so the
// jitted functions are welcome there.
func isCopy(f *memoryEvent, all []memoryEvent) bool {
	return slices.ContainsFunc(all, func(o memoryEvent) bool {
		return o.file == f.file && o.addr-o.pgoff != f.addr-f.pgoff && o.at < f.at && o.pgoff < f.pgoff+f.len && f.pgoff < o.pgoff+o.len
	})
}

// tablePlaces checks that nothing else is where unwind tables are mapped: unwinders
// would read the one for the other. It goes from address to address of each process.
func (c *checker) tablePlaces() {
	for i := range c.memory {
		e := &c.memory[i]
		e.tables = e.object != nil && e.object.tables != 0 && e.pgoff == e.object.tables
	}
	if !slices.ContainsFunc(c.memory, func(e memoryEvent) bool { return e.tables }) {
		return
	}
	slices.SortFunc(c.memory, func(a, b memoryEvent) int {
		return cmp.Or(cmp.Compare(a.pid, b.pid), cmp.Compare(a.addr, b.addr), cmp.Compare(a.at, b.at))
	})
	var tables, other *memoryEvent // that reach farthest so far
	for i := range c.memory {
		e := &c.memory[i]
		if i > 0 && c.memory[i-1].pid != e.pid {
			tables, other = nil, nil
		}
		if e.exec || e.len == 0 {
			continue
		}
		in := tables
		if e.tables && (in == nil || in.object == e.object || in.end() <= e.addr) {
			in = other
		}
		if in != nil && in.end() > e.addr {
			t := e
			if !t.tables {
				t = in
			}
			c.Violation("recording/tables-over", t.at, "the unwind tables of %s are mapped at %#x to %#x, where something else is, too", verify.Quoted(t.object.path), t.addr, t.end())
		}
		far := &other
		if e.tables {
			far = &tables
		}
		if *far == nil || (*far).end() < e.end() {
			*far = e
		}
	}
}
