package inject

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/jitobj"
)

// A plan says which objects there will be and which mappings tell of them.
// Building objects and writing records follow it and decide nothing.
type plan struct {
	objects  []object
	mappings []mapping // in the order of their times
}

// An object is the file that a function goes into.
type object struct {
	dump     *dump
	function int // of the dump's source
	pid      uint32
	index    uint64
	repeat   int // counts objects that would have the same name; 0 for the first

	// Filled when the object is made.
	buildID [jitobj.BuildIDSize]byte
	made    bool
}

// appendName appends the object's file name. It is perf's for the first function
// of an index; perf lets a second one overwrite the first.
func (o *object) appendName(b []byte) []byte {
	b = append(b, "jitted-"...)
	b = strconv.AppendUint(b, uint64(o.pid), 10)
	b = append(b, '-')
	b = strconv.AppendUint(b, o.index, 10)
	if o.repeat > 0 {
		b = append(b, '-')
		b = strconv.AppendInt(b, int64(o.repeat)+1, 10)
	}
	return append(b, ".so"...)
}

// appendPath appends the object's absolute path.
func (o *object) appendPath(b []byte) []byte {
	b = append(b, o.dump.objects...)
	if len(b) == 0 || b[len(b)-1] != '/' {
		b = append(b, '/')
	}
	return o.appendName(b)
}

// A mapping is a record to be put into the recording: from its time on, an
// object's code is at an address of a process, or nothing is known about it.
type mapping struct {
	time      uint64
	pid, tid  uint32
	addr, len uint64
	object    int // of the plan, or clearMapping
}

// clearMapping in place of an object takes away what was known of the range.
const clearMapping = -1

// makePlan makes the plan of one object for each function.
func makePlan(rec *recording, dumps []*dump, opts *Options, sum *Summary) (*plan, error) {
	p := &plan{}
	names := make(map[objectName]int)
	for i, d := range dumps {
		d.number = i
		var err error
		if d.objects, err = opts.objectDir(d); err != nil {
			return nil, err
		}
		ds := DumpSummary{PID: d.pid, Path: d.path, Cut: d.source.Cut}
		p.addDump(rec, d, names, &ds)
		for _, q := range d.source.Problems {
			sum.Problems = append(sum.Problems, Problem{d.path, q.Offset, q.Text})
		}
		if n := d.source.Dropped; n > 0 {
			sum.Problems = append(sum.Problems, Problem{d.path, -1, fmt.Sprintf("%d more problems like these", n)})
		}
		sum.Dumps = append(sum.Dumps, ds)
	}
	slices.SortStableFunc(p.mappings, func(a, b mapping) int { return cmp.Compare(a.time, b.time) })
	return p, nil
}

// objectName is what must be different from object to object.
type objectName struct {
	dir   string
	pid   uint32
	index uint64
}

// objectDir returns the directory for the objects of a dump, absolute: the name
// of a mapped file means nothing without.
func (o *Options) objectDir(d *dump) (string, error) {
	if o.Objects != "" {
		return filepath.Abs(o.Objects)
	}
	return filepath.Abs(filepath.Dir(d.path))
}

func (p *plan) addDump(rec *recording, d *dump, names map[objectName]int, ds *DumpSummary) {
	objectOf := make([]int, d.source.NumFunctions()) // by function; -1 for an empty one
	neighbours := newNeighbours(d.source.Events)
	p.objects = slices.Grow(p.objects, d.source.NumFunctions())
	p.mappings = slices.Grow(p.mappings, len(d.source.Events))
	moves := slices.ContainsFunc(d.source.Events, func(e jitcode.Event) bool { return e.Kind == jitcode.Move })
	places := make(map[uint32]occupancy) // by process, if code moves
	for i := range d.source.Events {
		e := &d.source.Events[i]
		pid, tid := d.process(rec, e)
		if e.Kind == jitcode.Load {
			ds.Functions++
			objectOf[e.Function] = -1
			if e.Size == 0 {
				ds.Empty++
				continue
			}
			name := objectName{d.objects, e.PID, e.Index}
			objectOf[e.Function] = len(p.objects)
			p.objects = append(p.objects, object{dump: d, function: e.Function, pid: e.PID, index: e.Index, repeat: names[name]})
			names[name]++
		}
		m := mapping{time: d.clock(e.Time), pid: pid, tid: tid, addr: e.Addr, len: e.Size, object: objectOf[e.Function]}
		if e.Tables > 0 {
			m.len = neighbours.withTables(e)
		}
		if m.object < 0 {
			continue // moved, but empty
		}
		if moves {
			o := places[pid]
			if o == nil {
				o = make(occupancy)
				places[pid] = o
			}
			if e.Kind == jitcode.Move {
				ds.Moved++
				p.leave(m, o.owned(e.OldAddr, e.OldAddr+e.Size, e.Function))
			}
			o.place(e.Addr, e.Addr+e.Size, e.Function)
		}
		p.mappings = append(p.mappings, m)
	}
}

// neighbours are the addresses at which code of a dump begins, in order. They are
// collected only if functions have unwind tables in memory.
type neighbours []uint64

func newNeighbours(events []jitcode.Event) neighbours {
	if !slices.ContainsFunc(events, func(e jitcode.Event) bool { return e.Tables > 0 }) {
		return nil
	}
	n := make(neighbours, len(events))
	for i := range events {
		n[i] = events[i].Addr
	}
	slices.Sort(n)
	return n
}

// withTables returns the length of a mapping that covers a function's code and
// the unwind tables behind it, where libunwind looks for them. It ends before the
// next function: CPython's trampolines claim tables but lie closer together.
func (n neighbours) withTables(e *jitcode.Event) uint64 {
	want := (e.Size+7)&^7 + e.Tables
	i, _ := slices.BinarySearch(n, e.Addr+e.Size)
	if i < len(n) && n[i]-e.Addr < want {
		want = n[i] - e.Addr
	}
	return want
}

// leave adds mappings that take m's function away from where it was, except
// where it will be again.
func (p *plan) leave(m mapping, parts []tenancy) {
	m.object = clearMapping
	lo, hi := m.addr, m.addr+m.len
	for _, t := range parts {
		for _, part := range [][2]uint64{{t.lo, min(t.hi, lo)}, {max(t.lo, hi), t.hi}} {
			if part[0] < part[1] {
				m.addr, m.len = part[0], part[1]-part[0]
				p.mappings = append(p.mappings, m)
			}
		}
	}
}

// process returns the process and thread of an event in the recording. The
// process that mapped the dump is the one that the dump is about, whatever
// number it has in its own pid namespace. A child that was forked from it may
// write into the same dump, with its own pid.
func (d *dump) process(rec *recording, e *jitcode.Event) (pid, tid uint32) {
	own := d.source.Header.PID
	switch {
	case e.PID == 0:
		return d.pid, d.pid
	case e.PID == d.pid, e.PID != own && (own == d.pid || rec.isDescendant(e.PID, d.pid)):
		return e.PID, e.TID
	}
	return d.pid, d.pid
}
