package xray

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/sorting"
)

// XRay's runtime does nothing at a fork. The child has copies of all of its parent's buffers. Its
// only thread goes on in the current one, which names the parent, and writes all buffers into its
// own trace. Its further buffers name the child. So each trace belongs to one process, its owner:
// that of its newest buffer, or a child that was forked after that buffer was begun. The end times
// of processes decide. Of a buffer that names another process, its owner wrote what comes after the
// fork. The fork takes much longer than times are inexact.

// A fork is the start of a process with the memory of another one.
type fork struct {
	PID  uint32
	Time uint64 // in the recording
}

// A world has the recorded data about the processes of traces.
type world struct {
	Forks func(pid uint32) []fork // from a process, in the order of time
	Exit  func(pid uint32) uint64 // end of a process; math.MaxUint64 if unknown
}

// A problem is a fault in one of several traces.
type problem struct {
	X *Log
	calls.Problem
	Note bool // nothing is known to be missing
}

// A shared trace is a trace while its owner is searched.
type shared struct {
	*Log
	newest *piece
	owner  fork   // Time is 0 if the newest buffer names it, and that of the first possible fork if open
	last   uint64 // time of its last call
	may    []fork // possible owners, if there are several
	open   bool   // the owner is one of them
}

// A bufferKey identifies a buffer. Its copies have the same key.
type bufferKey struct {
	pid, tid uint32
	tsc      uint64
	wall     int64
}

func (p *piece) key() bufferKey { return bufferKey{p.PID, p.TID, p.TSC, p.WallTime()} }

// Share assigns the contents of traces to the processes that wrote them. It must be called once.
func Share(logs []*Log, w *world) (problems []problem, err error) {
	traces := make([]*shared, len(logs))
	forks := make(map[uint32][]fork)   // by the parent
	births := make(map[[2]uint32]fork) // the first fork of each child, by the parent and the child
	for i, x := range logs {
		newest := &x.pieces[0]
		for j := range x.pieces {
			if p := &x.pieces[j]; p.WallTime() > newest.WallTime() {
				newest = p
			}
		}
		traces[i] = &shared{Log: x, newest: newest, owner: fork{PID: newest.PID}}
		for _, p := range x.Processes {
			if _, known := forks[p.PID]; !known {
				forks[p.PID] = w.Forks(p.PID)
				for _, f := range slices.Backward(forks[p.PID]) {
					births[[2]uint32{p.PID, f.PID}] = f
				}
			}
		}
	}
	// The result must not depend on the order in which the traces were named.
	sorting.Stable(traces, func(a, b *shared) int {
		return cmp.Or(cmp.Compare(len(b.pieces), len(a.pieces)), cmp.Compare(b.newest.end(), a.newest.end()))
	})
	most := max(2, maxOwners/len(logs))
	groups := make(map[bufferKey][]*shared) // traces with the same newest buffer, of which some are a child's
	owned := make(map[uint32]bool)          // owners of other traces
	for _, x := range traces {
		if err := x.findOwners(forks[x.owner.PID], w, most); err != nil {
			return nil, err
		}
		if x.open {
			groups[x.newest.key()] = append(groups[x.newest.key()], x)
			continue
		}
		owned[x.owner.PID] = true
		for _, p := range x.Processes {
			if f, ok := births[[2]uint32{p.PID, x.owner.PID}]; ok {
				x.owner = f
			}
		}
	}
	settled := make(map[bufferKey]bool) // newest buffers of groups that the process itself has in another trace
	for _, x := range traces {
		for i := range x.pieces {
			if key := x.pieces[i].key(); !x.open && key.pid == x.owner.PID && groups[key] != nil {
				settled[key] = true
			}
		}
	}
	for _, x := range traces {
		if group := groups[x.newest.key()]; len(group) > 0 && group[0] == x {
			problems = append(problems, decide(group, most, func(f fork) bool {
				return f.Time == 0 && settled[x.newest.key()] || f.Time != 0 && owned[f.PID]
			})...)
		}
	}
	return problems, divide(traces)
}

// maxOwners bounds the possible owners of all traces of a program that forks often.
const maxOwners = 1 << 18

// findOwners finds the possible owners of a trace if the process of its newest buffer forked. If
// there are more than most, it does not find all.
func (x *shared) findOwners(forks []fork, w *world, most int) (err error) {
	slack := uint64(x.Clock.Error)
	began := x.Time(x.newest.TSC)
	first, _ := slices.BinarySearchFunc(forks, began-min(slack, began), func(f fork, time uint64) int { return cmp.Compare(f.Time, time) })
	if first == len(forks) {
		return nil
	}
	if x.last, err = x.lastCall(); err != nil {
		return err
	}
	add := func(f fork) {
		if end := w.Exit(f.PID); end == math.MaxUint64 || x.last <= end+slack {
			x.may = append(x.may, f)
		}
	}
	add(x.owner)
	for _, f := range forks[first:] {
		if f.Time > x.last+slack || len(x.may) > most {
			break
		}
		x.open = true
		add(f)
	}
	return nil
}

// decide finds the owners of traces with the same newest buffer. Each process has one of them.
func decide(traces []*shared, most int, excluded func(fork) bool) []problem {
	of := make(map[uint32][]*shared)
	for _, x := range traces {
		if len(x.may) > most {
			continue
		}
		x.may = slices.DeleteFunc(x.may, excluded)
		for _, f := range x.may {
			of[f.PID] = append(of[f.PID], x)
		}
	}
	for next := slices.Clone(traces); len(next) > 0; next = next[1:] {
		x := next[0]
		if !x.open || len(x.may) != 1 {
			continue
		}
		x.owner, x.open = x.may[0], false
		for _, other := range of[x.owner.PID] {
			if other.open {
				other.may = slices.DeleteFunc(other.may, func(f fork) bool { return f.PID == x.owner.PID })
				next = append(next, other)
			}
		}
	}
	for _, x := range traces {
		for _, f := range x.may {
			if x.open && f.Time != 0 && (x.owner.Time == 0 || f.Time < x.owner.Time) {
				x.owner.Time = f.Time
			}
		}
	}
	pid, first := traces[0].newest.PID, traces[0].Log
	switch {
	case !slices.ContainsFunc(traces, func(x *shared) bool { return x.open }):
		return nil
	case len(traces) == 1:
		traces[0].open, traces[0].owner.Time = false, 0
		return []problem{{X: first, Note: true, Problem: calls.Problem{
			Offset: -1, Text: fmt.Sprintf("process %d forked while it logged; this trace may be its own or its child's, and is used as its own", pid),
			Advice: "name the traces of both with " + report.MentionedFile(Kind, "", ""),
		}}}
	}
	return []problem{{X: first, Problem: calls.Problem{
		Offset: -1, Text: fmt.Sprintf("it and %d more traces share buffers of process %d, which forked while it logged; the trace of each process is unknown, so the calls after the fork are left out", len(traces)-1, pid),
		Advice: "record a run in which the processes end one after the other",
	}}}
}

// divide gives each process its buffers, once, and each owner the ends of those that name another
// process.
func divide(traces []*shared) error {
	kept := make(map[bufferKey]bool)
	pieces := make(map[*shared][]piece)
	for _, x := range traces {
		for i := range x.pieces {
			if p := &x.pieces[i]; !x.open && p.PID == x.owner.PID && !kept[p.key()] {
				kept[p.key()] = true
				pieces[x] = append(pieces[x], *p)
			}
		}
	}
	// Of copies without the process's own one, the latest has the most calls before the fork.
	sorting.Stable(traces, func(a, b *shared) int { return cmp.Compare(b.owner.Time, a.owner.Time) })
	for _, x := range traces {
		for i := range x.pieces {
			p := x.pieces[i]
			if p.PID == x.owner.PID && !x.open {
				continue
			}
			whole := p
			if i+1 == len(x.pieces) || x.pieces[i+1].PID != p.PID || x.pieces[i+1].TID != p.TID { // the thread's current buffer at the fork
				at, err := p.splitAt(cmp.Or(x.owner.Time, math.MaxUint64))
				if err != nil {
					return err
				}
				p.Size = at - p.Offset
			}
			if !kept[p.key()] {
				kept[p.key()] = true
				pieces[x] = append(pieces[x], p)
			}
			if p.end() < whole.end() && !x.open {
				whole.from, whole.PID, whole.TID = p.end(), x.owner.PID, x.owner.PID
				pieces[x] = append(pieces[x], whole)
			}
		}
	}
	for _, x := range traces {
		x.pieces = pieces[x]
		x.arrange()
	}
	return nil
}

// lastCall returns the time of the last call of a trace.
func (x *Log) lastCall() (last uint64, err error) {
	for i := range x.Processes {
		for _, t := range x.Processes[i].Threads {
			err = t.pieces[len(t.pieces)-1].eachCall(func(_ int64, time uint64) bool {
				last = max(last, time)
				return true
			})
			if err != nil {
				return 0, err
			}
		}
	}
	return last, nil
}

// splitAt returns the offset of the first call in a buffer at or after a time, or its end.
func (p *piece) splitAt(time uint64) (at int64, err error) {
	at = p.end()
	err = p.eachCall(func(offset int64, when uint64) bool {
		if when >= time {
			at = offset
		}
		return when < time
	})
	return at, err
}

// eachCall calls visit for the offset and time of each call's record in a buffer, until visit
// returns false. It also ends at damage.
func (p *piece) eachCall(visit func(offset int64, time uint64) bool) error {
	var r pieceReader
	r.open(p)
	for {
		rec, err := r.next()
		if err == io.EOF || isDamage(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if rec.Kind.IsFunction() && !visit(rec.Offset, p.x.Time(rec.TSC)) {
			return nil
		}
	}
}
