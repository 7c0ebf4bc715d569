package inject

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

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

// name returns the object's file name. It is perf's for the first function of an
// index; perf lets a second one overwrite the first.
func (o *object) name() string {
	if o.repeat == 0 {
		return fmt.Sprintf("jitted-%d-%d.so", o.pid, o.index)
	}
	return fmt.Sprintf("jitted-%d-%d-%d.so", o.pid, o.index, o.repeat+1)
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
		ds := DumpSummary{PID: d.pid, Path: d.path}
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
	case e.PID == d.pid, e.PID != own && (own == d.pid || rec.isDescendant(e.PID, d.pid)):
		return e.PID, e.TID
	}
	return d.pid, d.pid
}
